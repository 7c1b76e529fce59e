#include "lights.h"

#include "waves.h"

#define FLASH_MS 350u
/* Shares of a turn, 65536: a running spot's tail 0.35, a light's width while it circles 1.5 of 16, a drop's 0.2. */
#define TAIL 22938u
#define ORBIT_WIDTH 6144u
#define DROP_WIDTH 13107u
/* A heartbeat: its two beats, the second one weaker, come at 0.16 and 0.44 of its period. */
#define BEAT_WIDTH 10486u
#define FIRST_BEAT 10486u
#define SECOND_BEAT 28836u

uint16_t light_step(const struct light_row *row, uint8_t ms)
{
    /* At most 255 * 255 * 65536, which 32 bits just hold. */
    return (uint16_t)((uint32_t)ms * row->hertz_x100 * 65536u / 100000u);
}

/* Two waves that never meet twice the same way. */
static uint8_t shimmer(uint32_t phase)
{
    int16_t slow = sine((uint16_t)phase), fast = sine((uint16_t)(phase * 1657u >> 10));
    return (uint8_t)(128 + (slow + fast) / 2);
}

static uint8_t heartbeat(uint16_t phase)
{
    uint8_t first = bump((int16_t)(phase - FIRST_BEAT), BEAT_WIDTH);
    uint8_t second = (uint8_t)(bump((int16_t)(phase - SECOND_BEAT), BEAT_WIDTH) * 3u / 5u);
    return first > second ? first : second;
}

/* What one light makes of the pattern, 0 dimmest to 255 brightest. */
static uint8_t single(uint8_t pattern, uint32_t phase, uint16_t ms)
{
    switch (pattern) {
    case LIGHT_STEADY:
        return 255;
    case LIGHT_FLASH:
        return ms >= FLASH_MS ? 0 : (uint8_t)(255 - (uint32_t)ms * 255 / FLASH_MS);
    case LIGHT_HEARTBEAT:
        return heartbeat((uint16_t)phase);
    case LIGHT_SHIMMER:
        return shimmer(phase);
    default:
        return swell((uint16_t)phase);
    }
}

static uint8_t drip(uint16_t phase, uint8_t index)
{
    /* 0 at the top to 65536 at the bottom, on both sides. */
    uint8_t from_top = index <= PIXEL_COUNT / 2 ? index : (uint8_t)(PIXEL_COUNT - index);
    int32_t distance = (int32_t)phase - (int32_t)from_top * (65536 / (PIXEL_COUNT / 2));
    return distance > INT16_MAX || distance < -INT16_MAX ? 0 : bump((int16_t)distance, DROP_WIDTH);
}

static uint8_t of_ring(uint8_t pattern, uint32_t phase, uint16_t ms, uint8_t index)
{
    uint16_t place = (uint16_t)(index * (65536u / PIXEL_COUNT));
    uint16_t behind = (uint16_t)((uint16_t)phase - place);
    switch (pattern) {
    case LIGHT_CHASE:
        return behind >= TAIL ? 0 : (uint8_t)(255 - (uint32_t)behind * 255 / TAIL);
    case LIGHT_ORBIT:
        return bump((int16_t)behind, ORBIT_WIDTH);
    case LIGHT_DRIP:
        return drip((uint16_t)phase, index);
    case LIGHT_ALTERNATE:
        return index < PIXEL_COUNT / 2 ? swell((uint16_t)phase) : (uint8_t)(255 - swell((uint16_t)phase));
    case LIGHT_SHIMMER:
        return shimmer(phase + (uint32_t)place * 5u / 2u);
    default:
        return single(pattern, phase, ms);
    }
}

/* x / 255 for x up to 65025, rounded; a division takes the chip 13 us. */
static uint8_t by_255(uint16_t x)
{
    uint16_t rounded = (uint16_t)(x + 128u);
    return (uint8_t)((rounded + (rounded >> 8)) >> 8);
}

static uint8_t product(uint8_t a, uint8_t b)
{
    return by_255((uint16_t)((uint16_t)a * b));
}

void light_pixels(const struct light_row *row, const uint8_t rgb[3], uint32_t phase, uint16_t ms, ring out)
{
    uint8_t span = (uint8_t)(row->brightest - row->dimmest);
    for (uint8_t index = 0; index < PIXEL_COUNT; index++) {
        uint8_t level = (uint8_t)(row->dimmest + product(of_ring(row->pattern, phase, ms, index), span));
        for (uint8_t part = 0; part < 3; part++)
            out[index][part] = product(rgb[part], level);
    }
}

uint8_t light_output(uint8_t value, uint8_t cap)
{
    if (value == 0 || cap == 0)
        return 0;
    uint8_t linear = by_255((uint16_t)((uint16_t)value * value));
    uint8_t output = product(linear, cap);
    return output ? output : 1;
}
