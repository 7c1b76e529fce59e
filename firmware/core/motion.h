/* The joints: from pose to pose softly, never faster than a small servo may, never further than it can.
 * Angles are in sixteenths of a degree. */
#ifndef FACE_MOTION_H
#define FACE_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

#define DEGREE 16

struct motion {
    /* The pose of the mood, on its way; gestures and overlays come on top of it and are not part of it. */
    int16_t from[JOINT_COUNT];
    int16_t to[JOINT_COUNT];
    int16_t pose[JOINT_COUNT];
    uint16_t elapsed_ms;
    uint16_t length_ms;
    /* Where the joints are. */
    int16_t now[JOINT_COUNT];
};

/* The joints are at `now`, and nothing moves. */
void motion_place(struct motion *motion, const int16_t now[JOINT_COUNT]);

/* Start towards `to` from wherever the pose is. */
void motion_start(struct motion *motion, const int16_t to[JOINT_COUNT], uint16_t length_ms);

/* Move the pose by `ms`. */
void motion_pose(struct motion *motion, uint16_t ms);

/* Move the joints towards `wanted` as far as they may in `ms`. */
void motion_limit(struct motion *motion, const int16_t wanted[JOINT_COUNT], uint16_t ms);

/* Pulse length for an angle, inside every limit. */
uint16_t motion_pulse_us(const struct joint_config *joint, int16_t angle);

/* The angle at which a pulse length puts the joint. */
int16_t motion_angle(const struct joint_config *joint, uint16_t pulse_us);

#endif
