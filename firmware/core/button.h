/* The board's own button: talk (short), mute (twice), stop (long). It never approves anything. */
#ifndef FACE_BUTTON_H
#define FACE_BUTTON_H

#include <stdbool.h>
#include <stdint.h>

struct button {
    uint16_t age_ms;  /* since it went down or up */
    uint16_t held_ms; /* of the last press */
    uint8_t unsteady_ticks;
    uint8_t presses;
    bool is_down;
    bool is_used; /* this press has had its effect */
};

/* A button that is already down then (stuck, or leaned on) does nothing before it was let go. */
void button_start(struct button *button, bool is_down);

/* What the pin says, to be called every `ms`; a button_action when one is complete, else 0. `held_ms`, set with it, is
 * how long it was held. */
uint8_t button_tick(struct button *button, bool is_down, uint8_t ms, uint16_t *held_ms);

#endif
