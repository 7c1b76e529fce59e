/* Whether the servos are to blame for resets: three by the watchdog or a low supply within a minute. */
#ifndef FACE_RESETS_H
#define FACE_RESETS_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_RESETS 3u
#define FAULT_WINDOW_TICKS 3000u /* 60 s of 20 ms */

/* Reset causes, as in HELLO's reply and BOOT. */
enum reset_cause { RESET_POWER = 1, RESET_EXTERNAL = 2, RESET_BROWN_OUT = 4, RESET_WATCHDOG = 8 };

/* Kept where a reset does not clear it, so its content may be anything at power-up. */
struct resets {
    uint16_t mark;
    /* How long ago the last faults were, the latest first. */
    uint16_t ages[FAULT_RESETS];
};

/* The chip has started; whether only lights may work. A reset that is no fault (the host opened the port) changes
 * nothing; without one for a minute the servos get another chance. */
bool resets_note(struct resets *resets, uint8_t cause);

/* 20 ms have passed. */
void resets_tick(struct resets *resets);

#endif
