#include "pixels.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "pins.h"
#include "servos.h"
#include "uart.h"

/* How long sending takes: 24 bits of 1.25 us for each pixel, 1 us between two bytes, and some room. */
#define SEND_US (PIXEL_COUNT * 33u + 20u)

/* 20 cycles a bit at 16 MHz: high for 5 (312 ns) or 12 (750 ns), then low. Any low shorter than 9 us is inside WS2812
 * limits, so what happens between two bytes does not matter. */
static inline void send_byte(uint8_t byte)
{
    uint8_t port_high = PIXEL_PORT | _BV(PIXEL_BIT), port_low = PIXEL_PORT & (uint8_t)~_BV(PIXEL_BIT), bits = 8;
    __asm__ volatile(
        "1: out %[port], %[high]\n" /* 1: high */
        "   nop\n   nop\n"          /* 2 */
        "   sbrs %[byte], 7\n"      /* 1, 2 when it skips */
        "   out %[port], %[low]\n"  /* 1: low after 5 for a 0 */
        "   lsl %[byte]\n"          /* 1 */
        "   nop\n   nop\n   nop\n   nop\n   nop\n"
        "   out %[port], %[low]\n"  /* low after 12 for a 1 */
        "   nop\n   nop\n   nop\n"
        "   dec %[bits]\n"
        "   brne 1b\n"
        : [byte] "+r"(byte), [bits] "+r"(bits)
        : [port] "I"(_SFR_IO_ADDR(PIXEL_PORT)), [high] "r"(port_high), [low] "r"(port_low));
}

void pixels_start(void)
{
    PIXEL_PORT &= (uint8_t)~_BV(PIXEL_BIT);
    PIXEL_DDR |= _BV(PIXEL_BIT);
}

void pixels_send(ring colours, uint8_t cap)
{
    uint8_t bytes[PIXEL_COUNT * 3], at = 0;
    for (uint8_t index = 0; index < PIXEL_COUNT; index++) {
        bytes[at++] = light_output(colours[index][1], cap);
        bytes[at++] = light_output(colours[index][0], cap);
        bytes[at++] = light_output(colours[index][2], cap);
    }
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        if (servos_gap_lasts(SEND_US))
            for (uint8_t i = 0; i < sizeof bytes; i++) {
                send_byte(bytes[i]);
                /* The chip keeps two bytes that came; with interrupts off for 0.5 ms more would be lost. */
                uart_poll();
            }
    }
}
