/* Why the chip has started. */
#ifndef FACE_START_H
#define FACE_START_H

#include <stdint.h>

/* Bits of enum reset_cause; 0 when a bootloader has not passed it on. */
uint8_t start_cause(void);

#endif
