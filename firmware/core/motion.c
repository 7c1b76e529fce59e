#include "motion.h"

#include <string.h>

#include "waves.h"

/* Degrees: brows, lid, mouth, neck; the same as in appliance/face/motion.py. */
static const int8_t LOWEST[JOINT_COUNT] = {-25, -25, 0, -20, -15};
static const int8_t HIGHEST[JOINT_COUNT] = {25, 25, 60, 20, 15};
/* Degrees a second. */
static const uint16_t SPEED[JOINT_COUNT] = {300, 300, 300, 400, 90};

static int16_t clamp(int32_t value, int32_t lowest, int32_t highest)
{
    return (int16_t)(value < lowest ? lowest : value > highest ? highest : value);
}

void motion_place(struct motion *motion, const int16_t now[JOINT_COUNT])
{
    memset(motion, 0, sizeof *motion);
    memcpy(motion->now, now, sizeof motion->now);
    memcpy(motion->from, now, sizeof motion->from);
    memcpy(motion->to, now, sizeof motion->to);
    memcpy(motion->pose, now, sizeof motion->pose);
}

void motion_start(struct motion *motion, const int16_t to[JOINT_COUNT], uint16_t length_ms)
{
    memcpy(motion->from, motion->pose, sizeof motion->from);
    memcpy(motion->to, to, sizeof motion->to);
    motion->elapsed_ms = 0;
    motion->length_ms = length_ms;
}

void motion_pose(struct motion *motion, uint16_t ms)
{
    uint32_t elapsed = (uint32_t)motion->elapsed_ms + ms;
    uint16_t share = 1024;
    if (elapsed < motion->length_ms)
        share = eased((uint16_t)(elapsed * 1024u / motion->length_ms));
    motion->elapsed_ms = (uint16_t)(elapsed < motion->length_ms ? elapsed : motion->length_ms);
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        int32_t way = (int32_t)motion->to[joint] - motion->from[joint];
        motion->pose[joint] = (int16_t)(motion->from[joint] + way * share / 1024);
    }
}

void motion_limit(struct motion *motion, const int16_t wanted[JOINT_COUNT], uint16_t ms)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        int16_t aim = clamp(wanted[joint], LOWEST[joint] * DEGREE, HIGHEST[joint] * DEGREE);
        int32_t most = (int32_t)SPEED[joint] * DEGREE * ms / 1000;
        motion->now[joint] = clamp(aim, motion->now[joint] - most, motion->now[joint] + most);
    }
}

uint16_t motion_pulse_us(const struct joint_config *joint, int16_t angle)
{
    int32_t shift = (int32_t)angle * joint->us_per_degree_x100 / (100 * DEGREE);
    int32_t pulse = joint->neutral_us + (joint->is_reversed ? -shift : shift);
    pulse = clamp(pulse, joint->min_us, joint->max_us);
    return (uint16_t)clamp(pulse, PULSE_MIN_US, PULSE_MAX_US);
}

int16_t motion_angle(const struct joint_config *joint, uint16_t pulse_us)
{
    int32_t shift = (int32_t)pulse_us - joint->neutral_us;
    if (joint->is_reversed)
        shift = -shift;
    return clamp(shift * 100 * DEGREE / joint->us_per_degree_x100, -90 * DEGREE, 90 * DEGREE);
}
