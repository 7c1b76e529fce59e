#include "gestures.h"

#include "motion.h"
#include "table.h"
#include "waves.h"

/* A person's blink; heavy lids stay shut for longer. */
#define CLOSE_MS 80u
#define STAY_MS 60u
#define LONG_STAY_MS 420u
#define OPEN_MS 120u
#define BLINK_GAP_MS 800u

/* 0 to 255 and back, so many times, each in `period_ms`. */
static uint8_t wave(int32_t ms, uint16_t period_ms, uint8_t times)
{
    if (ms < 0 || ms >= (int32_t)period_ms * times)
        return 0;
    return swell((uint16_t)((uint32_t)ms % period_ms * 65536u / period_ms));
}

/* So many degrees to either side, until it is over. */
static int16_t swinging(uint16_t ms, uint8_t degrees, uint16_t hertz_x100, uint16_t until_ms)
{
    if (ms >= until_ms)
        return 0;
    /* 100000 are a turn; whole turns are dropped, and then 32 bits hold half of 65536 times as much. */
    uint32_t turn_x100000 = (uint32_t)ms * hertz_x100 % 100000u;
    uint16_t phase = (uint16_t)(turn_x100000 * 32768u / 50000u);
    return (int16_t)(sine(phase) * degrees * DEGREE / 127);
}

void gesture_add(uint8_t gesture, uint16_t ms, int16_t pose[JOINT_COUNT])
{
    switch (gesture) {
    case GESTURE_NOD:
        pose[JOINT_NECK] -= (int16_t)(wave(ms, 600, 1) * 5 * DEGREE / 255);
        break;
    case GESTURE_TWO_NODS: {
        int16_t bounce = swinging(ms, 3, 120, 2000);
        pose[JOINT_NECK] -= (int16_t)(wave(ms, 450, 2) * 4 * DEGREE / 255);
        pose[JOINT_BROW_LEFT] += bounce;
        pose[JOINT_BROW_RIGHT] += bounce;
        break;
    }
    case GESTURE_QUIVER:
        pose[JOINT_MOUTH] += swinging(ms, 2, 200, 3000);
        break;
    case GESTURE_SWAY:
        pose[JOINT_NECK] += swinging(ms, 2, 20, UINT16_MAX);
        break;
    case GESTURE_DROOP:
        pose[JOINT_NECK] += (int16_t)(wave((int32_t)ms - 6000, 800, 1) * 5 * DEGREE / 255);
        break;
    case GESTURE_SWAP_BROWS: {
        int32_t swap = ms < 1000 ? 0 : ms > 1300 ? 300 : ms - 1000;
        int16_t left = pose[JOINT_BROW_LEFT], right = pose[JOINT_BROW_RIGHT];
        pose[JOINT_BROW_LEFT] = (int16_t)(left + (right - left) * swap / 300);
        pose[JOINT_BROW_RIGHT] = (int16_t)(right + (left - right) * swap / 300);
        break;
    }
    case GESTURE_TREMBLE: {
        int16_t shift = swinging(ms, 2, 500, 1500);
        pose[JOINT_BROW_LEFT] += shift;
        pose[JOINT_BROW_RIGHT] += shift;
        break;
    }
    default:
        break;
    }
}

static uint16_t next_random(struct blinker *blinker)
{
    uint16_t x = blinker->random;
    x ^= (uint16_t)(x << 7);
    x ^= (uint16_t)(x >> 9);
    x ^= (uint16_t)(x << 8);
    return blinker->random = x;
}

/* Half to one and a half of the mean: nobody sees that it is no exponential. */
static uint16_t until_next(struct blinker *blinker, uint8_t per_minute)
{
    uint16_t mean = (uint16_t)(60000u / per_minute);
    uint16_t gap = (uint16_t)(mean / 2 + ((uint32_t)next_random(blinker) * mean >> 16));
    return gap < BLINK_GAP_MS ? BLINK_GAP_MS : gap;
}

void blink_start(struct blinker *blinker, uint16_t seed)
{
    *blinker = (struct blinker){.random = seed ? seed : 0xACE1, .wait_ms = BLINK_GAP_MS};
}

uint8_t blink_share(struct blinker *blinker, uint16_t ms, uint8_t per_minute, bool is_long, int16_t lid)
{
    uint16_t stay = is_long ? LONG_STAY_MS : STAY_MS;
    if (per_minute < 2) /* no mood; one and a half minutes would be too long for 16 bits */
        return 255;
    if (blinker->wait_ms > ms) {
        blinker->wait_ms = (uint16_t)(blinker->wait_ms - ms);
        return 255;
    }
    blinker->since_ms = (uint16_t)(blinker->since_ms + ms - blinker->wait_ms);
    blinker->wait_ms = 0;
    if (blinker->since_ms >= CLOSE_MS + stay + OPEN_MS) {
        blinker->since_ms = 0;
        blinker->wait_ms = until_next(blinker, per_minute);
        return 255;
    }
    /* Lids that are almost shut have no use for a blink. */
    if (lid < 15 * DEGREE && !is_long)
        return 255;
    if (blinker->since_ms < CLOSE_MS)
        return (uint8_t)(255 - blinker->since_ms * 255u / CLOSE_MS);
    if (blinker->since_ms < CLOSE_MS + stay)
        return 0;
    return (uint8_t)((blinker->since_ms - CLOSE_MS - stay) * 255u / OPEN_MS);
}
