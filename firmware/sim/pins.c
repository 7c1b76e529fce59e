/* What the chip's pins do: servo pulses and pixels, told in the trace; and its button. */
#include "rig.h"

#include <string.h>

#include <simavr/avr_ioport.h>

#define SERVOS 5
#define PIXELS 16
#define BUTTON_BIT 2
/* A WS2812 shows what it got after so much silence. */
#define LATCH_CYCLES (50u * 16u)

static avr_cycle_count_t servo_up[SERVOS], pixel_up, pixel_down;
static uint8_t bits[PIXELS * 3];
static unsigned bit_count, bad_bits;
static bool button_is_down;

void pins_latch(void)
{
    if (bit_count == 0 || avr->cycle - pixel_down <= LATCH_CYCLES)
        return;
    fprintf(trace, "P %llu ", ns(pixel_down));
    for (unsigned i = 0; i < (bit_count + 7) / 8 && i < sizeof bits; i++)
        fprintf(trace, "%02x", bits[i]);
    fprintf(trace, " %u\n", bad_bits + (bit_count != PIXELS * 24));
    bit_count = bad_bits = 0;
    memset(bits, 0, sizeof bits);
}

static void on_servo(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    unsigned joint = (unsigned)(uintptr_t)param;
    if (value) {
        servo_up[joint] = avr->cycle;
    } else if (servo_up[joint]) {
        fprintf(trace, "S %llu %u %llu\n", ns(avr->cycle), joint, ns(avr->cycle - servo_up[joint]));
        servo_up[joint] = 0;
    }
}

static void on_pixel(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    if (value) {
        pins_latch();
        pixel_up = avr->cycle;
        return;
    }
    if (pixel_up == 0)
        return; /* the pin became an output and was low already */
    unsigned long long high = ns(avr->cycle - pixel_up);
    pixel_up = 0;
    pixel_down = avr->cycle;
    bool is_one = high > 525;
    /* What a WS2812B takes: 0 is 220 to 380 ns, 1 is 580 to 1000 ns. */
    if (is_one ? high < 580 || high > 1000 : high < 220 || high > 380)
        bad_bits++;
    if (is_one && bit_count < PIXELS * 24)
        bits[bit_count / 8] |= (uint8_t)(0x80u >> (bit_count & 7));
    bit_count++;
}

static avr_irq_t *pin(char port, unsigned bit)
{
    return avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), (int)bit);
}

void pins_press(bool is_down)
{
    /* A level from outside, or each write to the port would pull the pin up again. */
    avr_ioport_external_t level = {.name = 'D', .mask = 1u << BUTTON_BIT, .value = is_down ? 0 : 1u << BUTTON_BIT};
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('D'), &level);
    /* A reset clears the pin and not what is known of it, and what does not change is not passed on. */
    avr_raise_irq(pin('D', BUTTON_BIT), is_down);
    avr_raise_irq(pin('D', BUTTON_BIT), !is_down);
    button_is_down = is_down;
}

void pins_connect(void)
{
    for (unsigned joint = 0; joint < SERVOS; joint++)
        avr_irq_register_notify(pin('B', joint), on_servo, (void *)(uintptr_t)joint);
    avr_irq_register_notify(pin('D', 6), on_pixel, NULL);
}

void pins_reset(void)
{
    memset(servo_up, 0, sizeof servo_up);
    pixel_up = 0;
    pins_press(button_is_down);
}

unsigned pins_high(void)
{
    unsigned high = 0;
    for (unsigned joint = 0; joint < SERVOS; joint++)
        high |= (servo_up[joint] ? 1u : 0u) << joint;
    return high;
}
