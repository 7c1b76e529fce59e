/* What is stored on the board: how each servo is built in, how bright the lights may be, where the head was parked. */
#ifndef FACE_CONFIG_H
#define FACE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct joint_config {
    uint16_t neutral_us;
    uint16_t us_per_degree_x100;
    uint16_t min_us;
    uint16_t max_us;
    uint8_t is_reversed;
    /* Keeps its pulses at rest, because it bears a weight. */
    uint8_t holds;
};

struct config {
    uint8_t version;
    uint8_t brightness_cap;
    struct joint_config joints[JOINT_COUNT];
    uint16_t crc;
};

/* Where the head was parked, in pulse lengths: where the servos are at the next start. Stored apart from the rest, so
 * that a power cut while it is written costs no calibration. */
struct parked {
    uint16_t us[JOINT_COUNT];
    uint16_t crc;
};

#define CONFIG_VERSION 1
/* No servo may be told less or more, whatever is configured. */
#define PULSE_MIN_US 500u
#define PULSE_MAX_US 2500u

void config_defaults(struct config *config);

/* Whether nothing was ever stored: the memory is as the factory left it. */
bool config_is_blank(const struct config *config);

/* Whether what was read from the store is ours and whole. */
bool config_is_sound(const struct config *config);

/* Compute the CRC before storing. */
void config_seal(struct config *config);

/* Whether it may be stored: no joint has its lowest pulse above its highest. */
bool config_fits(const struct config *config);

/* CRC over what the host may set: it compares this with its own. */
uint16_t config_crc(const struct config *config);

/* False when there is no such key or the value is out of range; nothing is changed then. */
bool config_set(struct config *config, uint8_t key, uint16_t value);
bool config_get(const struct config *config, uint8_t key, uint16_t *value);

bool parked_is_sound(const struct parked *parked);
void parked_seal(struct parked *parked);

#endif
