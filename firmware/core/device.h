/* The device: what frames mean, what the head does, and what happens when nobody says anything.
 *
 * One `struct device`. The board calls device_take for each byte, then every 20 ms device_button and device_tick, and
 * shows `servo_us` (0: no pulses) and `pixels`. There is no clock in here: device_tick is told how much time passed,
 * and what lasts is counted in ages that stop at their highest value, so that nothing happens when a counter wraps. */
#ifndef FACE_DEVICE_H
#define FACE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "button.h"
#include "config.h"
#include "gestures.h"
#include "lights.h"
#include "link.h"
#include "motion.h"

#define FIRMWARE_MAJOR 1
#define FIRMWARE_MINOR 0
#define TICK_MS 20u

/* The longest answer: HELLO's. */
#define REPLY_MAX 17

enum phase {
    PHASE_WAITING,     /* no host yet: dark, no pulse */
    PHASE_READY,       /* HELLO, but nothing to show yet: dark, no pulse */
    PHASE_SHOWING,
    PHASE_CALIBRATING, /* the host moves single joints */
    PHASE_PARKING,
    PHASE_PARKED,      /* dark, no pulse */
    PHASE_SAFE         /* the host is lost */
};

/* The last command and what was answered: the same one again gets the same answer and is not acted on twice. */
struct answered {
    uint16_t crc;
    uint8_t seq; /* 0: nothing yet */
    uint8_t type; /* 0: not answered yet */
    uint8_t count;
    uint8_t payload[REPLY_MAX];
};

struct device {
    struct link link;
    struct config config;
    struct motion motion;
    struct blinker blinker;
    struct button button;
    struct answered answered;

    uint32_t uptime_ms;
    uint16_t heard_age_ms; /* since the last command of the host */
    uint16_t phase_age_ms;
    uint16_t mood_age_ms;
    uint16_t state_age_ms;
    uint16_t mouth_age_ms;
    uint16_t rest_age_ms[JOINT_COUNT]; /* since a joint has moved */
    uint16_t hold_ms;                  /* until the mood is over; 0: it stays */
    uint16_t transition_ms;
    uint32_t mood_phase, state_phase;  /* of their lights */

    uint16_t servo_us[JOINT_COUNT];
    uint16_t pose_us[JOINT_COUNT];     /* where the joints are, whether pulses hold them there or not */
    ring pixels;

    uint16_t boot_id;
    uint8_t reset_cause;
    uint8_t event_seq;
    uint8_t phase;
    uint8_t emotion;
    uint8_t intensity;
    uint8_t state;
    uint8_t mouth;
    uint8_t from_rgb[3];
    bool has_hello;
    bool has_moved; /* since the start: only then it is sure where the joints are */
    bool is_driven; /* joints may get pulses */
    bool is_lights_only;
};

/* `lights_only` after resets that the servos may have caused. Sends BOOT, and FAULT when something is wrong. */
void device_start(struct device *device, uint8_t reset_cause, bool lights_only, bool button_is_down);

void device_take(struct device *device, uint8_t byte);

/* What the board's button is now; to be called before each tick. */
void device_button(struct device *device, bool is_down);

/* So many milliseconds have passed since the last tick; at a servo frame's boundary. */
void device_tick(struct device *device, uint16_t ms);

#endif
