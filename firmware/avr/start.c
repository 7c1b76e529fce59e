/* What has to happen before C's own start-up code: the watchdog that has reset the chip still runs, with its shortest
 * time, and why the chip was reset must be read before it is cleared. */
#include <avr/io.h>
#include <avr/wdt.h>

#include "start.h"

static uint8_t cause_register __attribute__((section(".noinit")));
static uint8_t from_bootloader __attribute__((section(".noinit")));

void start_early(void) __attribute__((naked, used, section(".init3")));
void start_early(void)
{
    /* A bootloader has read and cleared the cause before us; Optiboot since 4.6 leaves it in r2. */
    __asm__ volatile("sts %0, r2" : "=m"(from_bootloader));
    cause_register = MCUSR;
    MCUSR = 0;
    wdt_disable(); /* a new time alone would do on the chip, but simavr 1.6 goes on with the old one */
}

uint8_t start_cause(void)
{
    uint8_t cause = cause_register & 0x0F;
    if (cause)
        return cause;
    /* An older bootloader leaves anything there; what can be no cause is none. */
    return from_bootloader <= 0x0F ? from_bootloader : 0;
}
