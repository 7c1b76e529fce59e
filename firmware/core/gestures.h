/* What the head does when a mood begins, and the blink: added to the pose. */
#ifndef FACE_GESTURES_H
#define FACE_GESTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

/* Add what the gesture is after `ms` to the pose. */
void gesture_add(uint8_t gesture, uint16_t ms, int16_t pose[JOINT_COUNT]);

struct blinker {
    uint16_t random;
    /* Until the next blink; 0: the lids are moving, since `since_ms`. */
    uint16_t wait_ms;
    uint16_t since_ms;
};

void blink_start(struct blinker *blinker, uint16_t seed);

/* How far the lid is open after `ms` more, 0 shut to 255; it multiplies `lid`, in sixteenths of a degree. */
uint8_t blink_share(struct blinker *blinker, uint16_t ms, uint8_t per_minute, bool is_long, int16_t lid);

#endif
