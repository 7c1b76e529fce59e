#include "show.h"

#include <string.h>

#include "board.h"
#include "emotions.h"
#include "figure.h"

/* Degrees in the order of enum joint. At rest the eyes are half closed and the head a little down, where it falls by
 * itself; without a host it looks ahead. */
static const int8_t REST[JOINT_COUNT] = {0, 0, 20, 0, -8};
static const int8_t CALM[JOINT_COUNT] = {0, 0, 20, 0, 0};
#define BACK_TO_NEUTRAL_MS 400u
/* A pose that joints cannot reach faster is reached when the head is parked. */
#define PARK_EASE_MS (PARK_MS - 100u)

static void begin(struct device *device, uint8_t phase)
{
    device->phase = phase;
    device->phase_age_ms = 0;
    device->hold_ms = 0;
}

static void be_still(struct device *device)
{
    device->is_driven = false;
    memset(device->servo_us, 0, sizeof device->servo_us);
}

static void be_dark(struct device *device)
{
    memset(device->pixels, 0, sizeof device->pixels);
}

static void go_to(struct device *device, const int8_t degrees[JOINT_COUNT], uint8_t intensity, uint16_t ms)
{
    struct emotion_row calm;
    int16_t pose[JOINT_COUNT];
    read_row(&calm, EMOTIONS, 0);
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        int16_t way = (int16_t)((degrees[joint] - calm.degrees[joint]) * DEGREE);
        pose[joint] = (int16_t)(calm.degrees[joint] * DEGREE + (int32_t)way * intensity / 255);
    }
    motion_start(&device->motion, pose, ms);
}

void show_start(struct device *device)
{
    struct parked parked;
    int16_t now[JOINT_COUNT];
    board_load_parked(&parked);
    bool is_known = parked_is_sound(&parked);
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        const struct joint_config *config = &device->config.joints[joint];
        now[joint] = motion_angle(config, is_known ? parked.us[joint] : config->neutral_us);
        device->pose_us[joint] = motion_pulse_us(config, now[joint]);
    }
    motion_place(&device->motion, now);
}

void show_ready(struct device *device)
{
    be_still(device);
    be_dark(device);
    /* Where the joints were left, gestures and overlays included. */
    motion_place(&device->motion, device->motion.now);
    begin(device, PHASE_READY);
}

void show_face(struct device *device, uint8_t emotion, uint8_t intensity, uint16_t transition_ms, uint16_t hold_ms)
{
    bool is_first = device->phase != PHASE_SHOWING;
    struct emotion_row row;
    read_row(&row, EMOTIONS, device->emotion);
    if (is_first)
        begin(device, PHASE_SHOWING);
    if (is_first || emotion != device->emotion) {
        memcpy(device->from_rgb, row.light.rgb, 3);
        if (is_first)
            memset(device->from_rgb, 0, 3);
        device->mood_age_ms = 0;
        device->mood_phase = 0;
        device->transition_ms = transition_ms;
    }
    read_row(&row, EMOTIONS, emotion);
    device->is_driven = true;
    device->emotion = emotion;
    device->intensity = intensity;
    device->hold_ms = hold_ms;
    go_to(device, row.degrees, intensity, transition_ms);
}

void show_state(struct device *device, uint8_t state)
{
    if (state == device->state)
        return;
    device->state = state;
    device->state_age_ms = 0;
    device->state_phase = 0;
}

void show_mouth(struct device *device, uint8_t level)
{
    device->mouth = level;
    device->mouth_age_ms = 0;
}

void show_calibration(struct device *device, bool is_on)
{
    if (is_on == (device->phase == PHASE_CALIBRATING))
        return;
    show_ready(device);
    if (is_on)
        begin(device, PHASE_CALIBRATING);
}

uint16_t show_pose(struct device *device, uint8_t joint, uint16_t pulse_us)
{
    const struct joint_config *config = &device->config.joints[joint];
    device->motion.now[joint] = motion_angle(config, pulse_us);
    motion_place(&device->motion, device->motion.now);
    if (device->is_lights_only)
        return 0;
    uint16_t least = config->min_us, most = config->max_us;
    uint16_t applied = pulse_us > most ? most : pulse_us < least ? least : pulse_us;
    device->is_driven = device->has_moved = true;
    device->servo_us[joint] = device->pose_us[joint] = applied;
    return applied;
}

void show_park(struct device *device)
{
    begin(device, PHASE_PARKING);
    /* Never moved since the start: they are where they were parked, or nobody knows where; moving would be a jerk. */
    if (!device->has_moved) {
        device->phase_age_ms = PARK_MS;
        return;
    }
    device->is_driven = true;
    go_to(device, REST, 255, PARK_EASE_MS);
}

void show_parked(struct device *device)
{
    struct parked parked;
    be_still(device);
    be_dark(device);
    begin(device, PHASE_PARKED);
    if (!device->has_moved || device->is_lights_only)
        return;
    memcpy(parked.us, device->pose_us, sizeof parked.us);
    parked_seal(&parked);
    board_store_parked(&parked);
}

void show_safe(struct device *device)
{
    if (device->is_driven)
        go_to(device, CALM, 255, SAFE_EASE_MS);
    device->state_phase = 0;
    begin(device, PHASE_SAFE);
}

/* ------------------------------------------------------------------------------------------- each 20 ms */

static void count_down(struct device *device, uint16_t ms)
{
    if (device->hold_ms == 0)
        return;
    if (device->hold_ms > ms)
        device->hold_ms = (uint16_t)(device->hold_ms - ms);
    else
        show_face(device, 0, 255, BACK_TO_NEUTRAL_MS, 0);
}

void show_tick(struct device *device, uint16_t ms)
{
    switch (device->phase) {
    case PHASE_SHOWING:
        count_down(device, ms);
        break;
    case PHASE_SAFE:
        if (device->phase_age_ms >= SAFE_RELEASE_MS)
            be_still(device);
        break;
    case PHASE_PARKING:
        break;
    default:
        return;
    }
    figure_tick(device, ms);
}
