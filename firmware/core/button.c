#include "button.h"

#include "protocol.h"

/* Contacts bounce for less than the 40 ms of two ticks. */
#define BOUNCE_TICKS 2u
#define LONG_MS 1200u
#define TWICE_MS 350u

void button_start(struct button *button, bool is_down)
{
    *button = (struct button){.is_down = is_down, .is_used = true};
}

static void change(struct button *button)
{
    button->is_down = !button->is_down;
    if (button->is_down) {
        button->is_used = false;
    } else if (!button->is_used) {
        button->presses++;
        button->held_ms = button->age_ms;
    }
    button->age_ms = 0;
}

static bool is_settled(struct button *button, bool is_down)
{
    if (is_down == button->is_down) {
        button->unsteady_ticks = 0;
        return false;
    }
    if (++button->unsteady_ticks < BOUNCE_TICKS)
        return false;
    button->unsteady_ticks = 0;
    return true;
}

uint8_t button_tick(struct button *button, bool is_down, uint8_t ms, uint16_t *held_ms)
{
    button->age_ms = button->age_ms > UINT16_MAX - ms ? UINT16_MAX : (uint16_t)(button->age_ms + ms);
    if (is_settled(button, is_down))
        change(button);
    uint8_t action = 0;
    if (button->is_down) {
        if (!button->is_used && button->age_ms >= LONG_MS) {
            action = BUTTON_STOP;
            button->is_used = true;
            button->held_ms = button->age_ms;
        }
    } else if (button->presses > 1) {
        action = BUTTON_MUTE;
    } else if (button->presses == 1 && button->age_ms >= TWICE_MS) {
        action = BUTTON_TALK;
    }
    if (action) {
        button->presses = 0;
        *held_ms = button->held_ms;
    }
    return action;
}
