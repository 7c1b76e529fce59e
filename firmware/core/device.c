#include "device.h"

#include <string.h>

#include "board.h"
#include "messages.h"
#include "show.h"

void device_start(struct device *device, uint8_t reset_cause, bool lights_only, bool button_is_down)
{
    memset(device, 0, sizeof *device);
    device->reset_cause = reset_cause;
    device->is_lights_only = lights_only;
    device->boot_id = board_boot_id();
    blink_start(&device->blinker, device->boot_id);
    button_start(&device->button, button_is_down);
    board_load_config(&device->config);
    bool was_lost = !config_is_blank(&device->config) && !config_is_sound(&device->config);
    if (!config_is_sound(&device->config))
        config_defaults(&device->config);
    show_start(device);
    messages_boot(device);
    if (was_lost)
        messages_fault(device, FAULT_CONFIG_LOST);
    if (lights_only)
        messages_fault(device, FAULT_LIGHTS_ONLY);
}

void device_take(struct device *device, uint8_t byte)
{
    struct frame frame;
    switch (link_take(&device->link, byte, &frame)) {
    case LINK_FRAME:
        messages_take(device, &frame);
        break;
    case LINK_DAMAGED:
        messages_damaged();
        break;
    case LINK_NOTHING:
        break;
    }
}

void device_button(struct device *device, bool is_down)
{
    uint16_t held_ms;
    uint8_t action = button_tick(&device->button, is_down, TICK_MS, &held_ms);
    if (action)
        messages_button(device, action, held_ms);
}

static void grow(uint16_t *age_ms, uint16_t ms)
{
    *age_ms = *age_ms > UINT16_MAX - ms ? UINT16_MAX : (uint16_t)(*age_ms + ms);
}

static void grow_older(struct device *device, uint16_t ms)
{
    device->uptime_ms += ms;
    grow(&device->heard_age_ms, ms);
    grow(&device->phase_age_ms, ms);
    grow(&device->state_age_ms, ms);
    grow(&device->mouth_age_ms, ms);
    for (uint8_t joint = 0; joint < JOINT_COUNT; joint++)
        grow(&device->rest_age_ms[joint], ms);
    /* It never stops, since some gestures never do: from 60 s it goes back to 10 s, when all others are over. */
    grow(&device->mood_age_ms, ms);
    if (device->mood_age_ms >= 60000u)
        device->mood_age_ms -= 50000u;
}

static void lose_host(struct device *device)
{
    if (!device->has_hello || device->phase == PHASE_PARKING || device->heard_age_ms < HOST_LOST_MS)
        return;
    device->has_hello = false;
    device->answered.seq = 0; /* what was obeyed then would not be obeyed now */
    /* A host that has parked the head may go: it stays dark and still. */
    if (device->phase == PHASE_PARKED)
        return;
    show_safe(device);
    messages_safe(device, SAFE_HOST_LOST);
}

void device_tick(struct device *device, uint16_t ms)
{
    grow_older(device, ms);
    lose_host(device);
    show_tick(device, ms);
    if (device->phase == PHASE_PARKING && device->phase_age_ms >= PARK_MS) {
        show_parked(device);
        messages_parked(device);
    }
}
