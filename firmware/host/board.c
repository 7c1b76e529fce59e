#include "board.h"

#include <stddef.h>
#include <string.h>

#include "../core/board.h"
#include "../core/device.h"
#include "../core/emotions.h"
#include "../core/resets.h"

static struct device device;
static struct resets resets;
static struct config stored_config;
static struct parked stored_parked;
static unsigned stores[2];
static uint16_t boot_id;
static uint8_t sent[4096];
static unsigned sent_count;

void board_send(const uint8_t *bytes, uint8_t count)
{
    if (sent_count + count > sizeof sent)
        return;
    memcpy(sent + sent_count, bytes, count);
    sent_count += count;
}

void board_load_config(struct config *config)
{
    *config = stored_config;
}

void board_load_parked(struct parked *parked)
{
    *parked = stored_parked;
}

void board_store_config(const struct config *config)
{
    stored_config = *config;
    stores[0]++;
}

void board_store_parked(const struct parked *parked)
{
    stored_parked = *parked;
    stores[1]++;
}

uint16_t board_supply_mv(void)
{
    return 5000;
}

uint16_t board_boot_id(void)
{
    return boot_id++;
}

void host_new(void)
{
    memset(&stored_config, 0xFF, sizeof stored_config);
    memset(&stored_parked, 0xFF, sizeof stored_parked);
    memset(&resets, 0xA5, sizeof resets);
    memset(stores, 0, sizeof stores);
    boot_id = 0;
    sent_count = 0;
}

void host_start(uint8_t reset_cause, bool button_is_down)
{
    device_start(&device, reset_cause, resets_note(&resets, reset_cause), button_is_down);
}

void host_take(const uint8_t *bytes, unsigned count)
{
    while (count--)
        device_take(&device, *bytes++);
}

void host_tick(bool button_is_down)
{
    resets_tick(&resets);
    device_button(&device, button_is_down);
    device_tick(&device, TICK_MS);
}

unsigned host_sent(uint8_t *bytes, unsigned room)
{
    unsigned count = sent_count < room ? sent_count : room;
    memcpy(bytes, sent, count);
    sent_count = 0;
    return count;
}

void host_shown(uint16_t servo_us[5], uint8_t pixels[48])
{
    memcpy(servo_us, device.servo_us, sizeof device.servo_us);
    memcpy(pixels, device.pixels, sizeof device.pixels);
}

void host_pose(uint16_t pose_us[5])
{
    memcpy(pose_us, device.pose_us, sizeof device.pose_us);
}

void host_stores(unsigned counts[2])
{
    memcpy(counts, stores, sizeof stores);
}

void host_damage(unsigned which, unsigned at)
{
    if (which == 0)
        ((uint8_t *)&stored_config)[at % sizeof stored_config] ^= 0x10;
    else
        ((uint8_t *)&stored_parked)[at % sizeof stored_parked] ^= 0x10;
}

void host_mood_light(uint8_t emotion, uint32_t phase, uint16_t ms, uint8_t pixels[48])
{
    const struct light_row *light = &EMOTIONS[emotion].light;
    light_pixels(light, light->rgb, phase, ms, (uint8_t(*)[3])pixels);
}

void host_state_light(uint8_t state, const uint8_t rgb[3], uint32_t phase, uint16_t ms, uint8_t pixels[48])
{
    light_pixels(&OVERLAYS[state].light, rgb, phase, ms, (uint8_t(*)[3])pixels);
}

unsigned host_frames(const uint8_t *bytes, unsigned count, uint8_t *out, unsigned *damaged)
{
    struct link link = {.count = 0};
    struct frame frame;
    unsigned length = 0;
    *damaged = 0;
    while (count--) {
        enum link_result result = link_take(&link, *bytes++, &frame);
        if (result == LINK_DAMAGED)
            ++*damaged;
        if (result != LINK_FRAME)
            continue;
        out[length++] = frame.type;
        out[length++] = frame.seq;
        out[length++] = frame.count;
        memcpy(out + length, frame.payload, frame.count);
        length += frame.count;
    }
    return length;
}

unsigned host_packed(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t count, uint8_t *wire)
{
    return link_pack(type, seq, payload, count, wire);
}

const char *host_complaint(void)
{
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++) {
        uint16_t us = device.servo_us[joint];
        if (us && (us < PULSE_MIN_US || us > PULSE_MAX_US))
            return "a pulse that no servo may get";
        if (us && us != device.pose_us[joint])
            return "a pulse that is not the pose";
        if (us && (device.is_lights_only || !device.is_driven))
            return "a pulse where none may be";
    }
    if (device.phase > PHASE_SAFE || device.emotion >= EMOTION_COUNT || device.state >= STATE_COUNT)
        return "a state that does not exist";
    if (!device.has_hello && (device.phase == PHASE_READY || device.phase == PHASE_SHOWING))
        return "it shows a face to nobody";
    return NULL;
}
