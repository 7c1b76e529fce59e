/* The face on an ATmega328P at 16 MHz: everything happens in the gap of the servos' frame. */
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <stdbool.h>

#include "../core/board.h"
#include "../core/device.h"
#include "../core/resets.h"
#include "pins.h"
#include "pixels.h"
#include "servos.h"
#include "start.h"
#include "supply.h"
#include "uart.h"

/* Kept over resets. */
static struct resets resets __attribute__((section(".noinit")));

static struct device device;

void board_send(const uint8_t *bytes, uint8_t count)
{
    uart_send(bytes, count);
}

static void button_pin_start(void)
{
    BUTTON_DDR &= (uint8_t)~_BV(BUTTON_BIT);
    BUTTON_PORT |= _BV(BUTTON_BIT); /* pulled up */
}

static bool button_is_down(void)
{
    return !(BUTTON_PIN & _BV(BUTTON_BIT));
}

static void take_bytes(void)
{
    uint8_t byte;
    while (uart_take(&byte))
        device_take(&device, byte);
}

static void live(uint8_t frames)
{
    for (uint8_t i = 0; i < frames; i++)
        resets_tick(&resets);
    device_button(&device, button_is_down());
    device_tick(&device, (uint16_t)(frames * TICK_MS));
    servos_set(device.servo_us);
    pixels_send(device.pixels, device.config.brightness_cap);
}

/* Until an interrupt brings news; what came a moment ago is not slept over. */
static void sleep_until_news(void)
{
    cli();
    if (!servos_frames_wait() && !uart_waits()) {
        sleep_enable();
        sei(); /* the instruction behind it runs before any interrupt */
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

int main(void)
{
    uint8_t cause = start_cause();
    wdt_enable(WDTO_1S);
    bool is_lights_only = resets_note(&resets, cause);
    pixels_start();
    button_pin_start();
    supply_start();
    uart_start();
    device_start(&device, cause, is_lights_only, button_is_down());
    servos_start();
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    for (;;) {
        take_bytes();
        uint8_t frames = servos_frames();
        if (frames) {
            live(frames);
            wdt_reset();
        }
        sleep_until_news();
    }
}
