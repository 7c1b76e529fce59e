/* What the portable core needs of a board. */
#ifndef FACE_BOARD_H
#define FACE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* Queue bytes for the wire; returns at once. There is room for two frames; what finds none is lost as a whole. */
void board_send(const uint8_t *bytes, uint8_t count);

/* What is stored, whole or not: whoever loads it looks at the check sums. */
void board_load_config(struct config *config);
void board_load_parked(struct parked *parked);

/* Store it, and only the bytes that changed: the memory wears out. May take a while, but less than the watchdog. */
void board_store_config(const struct config *config);
void board_store_parked(const struct parked *parked);

/* Supply voltage in millivolts, 0 when it cannot be measured. */
uint16_t board_supply_mv(void);

/* A different number for each start. */
uint16_t board_boot_id(void);

#endif
