/* The rig's parts: the chip (rig.c), its pins, its wire. */
#ifndef FACE_RIG_H
#define FACE_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <simavr/sim_avr.h>

#define INBOX_BYTES 4096

extern avr_t *avr;
extern FILE *trace;

/* The trace's time. */
static inline unsigned long long ns(avr_cycle_count_t cycles)
{
    return cycles * 125 / 2;
}

void pins_connect(void);
void pins_press(bool is_down);

/* The chip has started anew: no pin is an output any more. */
void pins_reset(void);

/* Tell the pixels that have been shown by now. */
void pins_latch(void);

/* Servo pins that are high, a bit each. */
unsigned pins_high(void);

/* Of the next bytes to the chip; and of each 10000 bytes in both directions. */
struct wire_faults {
    unsigned drop_next, corrupt_next, drop_rate, corrupt_rate;
};
extern struct wire_faults wire_faults;

/* With a terminal whose name is linked at `tty`; false when the chip has no wire. */
bool wire_connect(const char *tty);
void wire_plug(void);
void wire_unplug(void);
void wire_reset(void);

/* Start the next byte to the chip on its way, if there is one. */
void wire_feed(void);

/* Bytes (hex) for the chip, behind those that are waiting; false when there is no room for so many. */
bool wire_send(const char *hex);
void wire_seed(uint32_t seed);
uint32_t wire_random(void);

#endif
