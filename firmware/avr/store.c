/* What board.h wants to keep, in the EEPROM. A cell takes 3.4 ms to write and bears that 100000 times, so only cells
 * that change are written; all of the configuration takes 0.2 s, less than the watchdog waits. */
#include <avr/eeprom.h>

#include "../core/board.h"

/* One struct at address 0, so that another build finds everything where it was. */
static struct store {
    struct config config;
    struct parked parked;
    uint16_t boot_id;
} stored EEMEM;

void board_load_config(struct config *config)
{
    eeprom_read_block(config, &stored.config, sizeof *config);
}

void board_load_parked(struct parked *parked)
{
    eeprom_read_block(parked, &stored.parked, sizeof *parked);
}

void board_store_config(const struct config *config)
{
    eeprom_update_block(config, &stored.config, sizeof *config);
}

void board_store_parked(const struct parked *parked)
{
    eeprom_update_block(parked, &stored.parked, sizeof *parked);
}

uint16_t board_boot_id(void)
{
    uint16_t id = (uint16_t)(eeprom_read_word(&stored.boot_id) + 1);
    eeprom_update_word(&stored.boot_id, id);
    return id;
}
