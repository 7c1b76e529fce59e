#include "config.h"

#include <stddef.h>
#include <string.h>

#include "crc16.h"

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    config->version = CONFIG_VERSION;
    config->brightness_cap = 64; /* a quarter: enough in a dark room, little enough for a USB port */
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        struct joint_config *j = &config->joints[joint];
        j->neutral_us = 1500;
        j->us_per_degree_x100 = 1000; /* 10 us a degree: 1 ms over 100 degrees, a usual small servo */
        j->min_us = 1000;
        j->max_us = 2000;
    }
    config_seal(config);
}

static uint16_t seal_of(const struct config *config)
{
    return crc16((const uint8_t *)config, offsetof(struct config, crc));
}

bool config_is_blank(const struct config *config)
{
    return config->version == 0xFF;
}

bool config_is_sound(const struct config *config)
{
    return config->version == CONFIG_VERSION && seal_of(config) == config->crc;
}

void config_seal(struct config *config)
{
    config->crc = seal_of(config);
}

bool config_fits(const struct config *config)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++)
        if (config->joints[joint].min_us > config->joints[joint].max_us)
            return false;
    return true;
}

uint16_t config_crc(const struct config *config)
{
    /* Written out, so that no compiler's padding gets into it. */
    uint8_t bytes[1 + 10 * JOINT_COUNT], count = 0;
    bytes[count++] = config->brightness_cap;
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        const struct joint_config *j = &config->joints[joint];
        const uint16_t values[4] = {j->neutral_us, j->us_per_degree_x100, j->min_us, j->max_us};
        for (uint8_t i = 0; i < 4; i++) {
            bytes[count++] = (uint8_t)values[i];
            bytes[count++] = (uint8_t)(values[i] >> 8);
        }
        bytes[count++] = j->is_reversed;
        bytes[count++] = j->holds;
    }
    return crc16(bytes, count);
}

static bool is_pulse(uint16_t us)
{
    return us >= PULSE_MIN_US && us <= PULSE_MAX_US;
}

static bool set_joint(struct joint_config *joint, uint8_t field, uint16_t value)
{
    switch (field) {
    case FIELD_NEUTRAL_US:
        if (!is_pulse(value))
            return false;
        joint->neutral_us = value;
        return true;
    case FIELD_US_PER_DEGREE_X100:
        if (value == 0 || value > 5000)
            return false;
        joint->us_per_degree_x100 = value;
        return true;
    case FIELD_MIN_US:
        if (!is_pulse(value))
            return false;
        joint->min_us = value;
        return true;
    case FIELD_MAX_US:
        if (!is_pulse(value))
            return false;
        joint->max_us = value;
        return true;
    case FIELD_REVERSED:
    case FIELD_HOLDS:
        if (value > 1)
            return false;
        if (field == FIELD_REVERSED)
            joint->is_reversed = (uint8_t)value;
        else
            joint->holds = (uint8_t)value;
        return true;
    default:
        return false;
    }
}

bool config_set(struct config *config, uint8_t key, uint16_t value)
{
    if (key == KEY_BRIGHTNESS_CAP) {
        if (value > 255)
            return false;
        config->brightness_cap = (uint8_t)value;
        return true;
    }
    if (key < KEY_JOINT || key >= KEY_JOINT + 8 * JOINT_COUNT)
        return false;
    uint8_t at = (uint8_t)(key - KEY_JOINT);
    return set_joint(&config->joints[at / 8], at % 8, value);
}

bool config_get(const struct config *config, uint8_t key, uint16_t *value)
{
    if (key == KEY_BRIGHTNESS_CAP) {
        *value = config->brightness_cap;
        return true;
    }
    if (key < KEY_JOINT || key >= KEY_JOINT + 8 * JOINT_COUNT || (key - KEY_JOINT) % 8 >= FIELD_COUNT)
        return false;
    const struct joint_config *j = &config->joints[(key - KEY_JOINT) / 8];
    const uint16_t values[FIELD_COUNT] = {j->neutral_us, j->us_per_degree_x100, j->min_us,
                                          j->max_us,     j->is_reversed,        j->holds};
    *value = values[(key - KEY_JOINT) % 8];
    return true;
}

static uint16_t parked_seal_of(const struct parked *parked)
{
    return crc16((const uint8_t *)parked, offsetof(struct parked, crc));
}

bool parked_is_sound(const struct parked *parked)
{
    return parked_seal_of(parked) == parked->crc;
}

void parked_seal(struct parked *parked)
{
    parked->crc = parked_seal_of(parked);
}
