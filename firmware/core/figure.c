#include "figure.h"

#include <string.h>

#include "emotions.h"
#include "waves.h"

#define OPEN_MOUTH_DEGREES 10
/* When something held the board up, the head goes on from where it was instead of jumping after. */
#define LONGEST_STEP_MS (2 * TICK_MS)
#define ATTACH_MS (JOINT_COUNT * ATTACH_GAP_MS)

/* White at a few percent: dim, and it says "no host" by being no mood's colour. */
static const struct light_row SAFE_LIGHT = {{255, 255, 255}, LIGHT_BREATHE, 12, 20, 90};

static int16_t share_of(int16_t whole, uint8_t share)
{
    return (int16_t)((int32_t)whole * share / 255);
}

static uint8_t mouth_now(const struct device *device, const struct emotion_row *row)
{
    uint8_t mood = (uint8_t)share_of(row->mouth_open, device->intensity), level = 0;
    if (device->mouth_age_ms < MOUTH_DECAY_MS)
        level = (uint8_t)(device->mouth * (uint32_t)(MOUTH_DECAY_MS - device->mouth_age_ms) / MOUTH_DECAY_MS);
    return level > mood ? level : mood;
}

static void overlay_add(const struct overlay_row *overlay, int16_t pose[JOINT_COUNT])
{
    int16_t least = (int16_t)(overlay->least_lid * DEGREE), most = (int16_t)(overlay->most_lid * DEGREE);
    pose[JOINT_BROW_LEFT] += (int16_t)(overlay->brow * DEGREE);
    pose[JOINT_BROW_RIGHT] += (int16_t)(overlay->brow * DEGREE);
    pose[JOINT_NECK] += (int16_t)(overlay->neck * DEGREE);
    if (pose[JOINT_LID] < least)
        pose[JOINT_LID] = least;
    if (pose[JOINT_LID] > most)
        pose[JOINT_LID] = most;
}

static void set_pulses(struct device *device, uint8_t lid_share)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        int16_t angle = device->motion.now[joint];
        if (joint == JOINT_LID)
            angle = share_of(angle, lid_share);
        uint16_t pulse_us = motion_pulse_us(&device->config.joints[joint], angle);
        if (pulse_us != device->pose_us[joint])
            device->rest_age_ms[joint] = 0;
        device->pose_us[joint] = pulse_us;
    }
}

static void move_joints(struct device *device, const struct emotion_row *row, const struct overlay_row *overlay,
                        uint8_t ms)
{
    int16_t pose[JOINT_COUNT];
    uint8_t lid_share = 255;
    motion_pose(&device->motion, ms);
    memcpy(pose, device->motion.pose, sizeof pose);
    if (device->phase == PHASE_SHOWING) {
        gesture_add(row->gesture, device->mood_age_ms, pose);
        overlay_add(overlay, pose);
        pose[JOINT_MOUTH] -= share_of(OPEN_MOUTH_DEGREES * DEGREE, mouth_now(device, row));
        lid_share = blink_share(&device->blinker, ms, row->blinks_per_minute, row->blinks_long, pose[JOINT_LID]);
    }
    motion_limit(&device->motion, pose, ms);
    set_pulses(device, lid_share);
}

/* At the start of a show the servos come up one after the other where they are, and only then something moves: where
 * they are is not sure, and all at once they would draw the current of all. */
static bool is_attaching(const struct device *device)
{
    return device->phase == PHASE_SHOWING && device->phase_age_ms < ATTACH_MS;
}

static void attach(struct device *device)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        bool waits = device->phase_age_ms < (uint16_t)(joint * ATTACH_GAP_MS);
        device->servo_us[joint] = waits ? 0 : device->pose_us[joint];
        device->rest_age_ms[joint] = 0;
    }
    device->has_moved = true;
}

/* Pulses only for what moves, moved a moment ago, or bears a weight. */
static void drive(struct device *device)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        bool rests = device->rest_age_ms[joint] >= REST_RELEASE_MS && !device->config.joints[joint].holds;
        device->servo_us[joint] = rests ? 0 : device->pose_us[joint];
    }
}

static uint8_t root(uint16_t square)
{
    uint8_t value = 0;
    for (uint8_t bit = 0x80; bit; bit >>= 1) {
        uint8_t more = value | bit;
        if ((uint16_t)((uint16_t)more * more) <= square)
            value = more;
    }
    return value;
}

/* A colour on its way, mixed in linear light as on the other faces: in between nothing gets dark or grey. */
static void mix(const uint8_t from[3], const uint8_t to[3], uint16_t elapsed, uint16_t length, uint8_t out[3])
{
    uint16_t share = elapsed >= length ? 1024 : eased((uint16_t)(elapsed * 1024ul / length));
    for (uint8_t part = 0; part < 3; part++) {
        uint32_t start = (uint16_t)((uint16_t)from[part] * from[part]), end = (uint16_t)((uint16_t)to[part] * to[part]);
        out[part] = share == 1024 ? to[part] : root((uint16_t)((start * (1024u - share) + end * share) >> 10));
    }
}

static void light_up(struct device *device, const struct emotion_row *row, const struct overlay_row *overlay,
                     uint8_t ms)
{
    uint8_t rgb[3];
    device->mood_phase += light_step(&row->light, ms);
    device->state_phase += light_step(&overlay->light, ms);
    if (overlay->has_rgb)
        memcpy(rgb, overlay->light.rgb, 3);
    else
        mix(device->from_rgb, row->light.rgb, device->mood_age_ms, device->transition_ms, rgb);
    if (!overlay->has_light) {
        light_pixels(&row->light, rgb, device->mood_phase, device->mood_age_ms, device->pixels);
        return;
    }
    light_pixels(&overlay->light, rgb, device->state_phase, device->state_age_ms, device->pixels);
    for (uint8_t index = 0; index < PIXEL_COUNT; index++)
        if (!(overlay->lit >> index & 1))
            memset(device->pixels[index], 0, 3);
}

void figure_tick(struct device *device, uint16_t passed_ms)
{
    uint8_t ms = (uint8_t)(passed_ms > LONGEST_STEP_MS ? LONGEST_STEP_MS : passed_ms);
    struct emotion_row row;
    struct overlay_row overlay;
    read_row(&row, EMOTIONS, device->emotion);
    read_row(&overlay, OVERLAYS, device->state);
    if (device->is_driven && !device->is_lights_only) {
        if (is_attaching(device)) {
            attach(device);
        } else {
            move_joints(device, &row, &overlay, ms);
            drive(device);
        }
    }
    if (device->phase == PHASE_SAFE) {
        device->state_phase += light_step(&SAFE_LIGHT, ms);
        light_pixels(&SAFE_LIGHT, SAFE_LIGHT.rgb, device->state_phase, 0, device->pixels);
    } else {
        light_up(device, &row, &overlay, ms);
    }
}
