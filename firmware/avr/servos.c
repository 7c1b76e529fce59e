#include "servos.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "pins.h"

/* Timer 1 counts half microseconds. */
#define TICKS(us) ((uint16_t)((us) * 2u))
#define FRAME_US 20000u
/* The interrupt comes this early and waits for the exact moment: whatever holds it up in between (a byte on the wire)
 * is not seen in the pulse. Its own beginning takes 5 us, the longest of the others 5 us. */
#define EARLY_US 16u
/* Between two servos' pulses; the next edge must be set up EARLY_US before it, and that takes 10 us. */
#define APART_US 36u

static volatile uint16_t wanted_us[JOINT_COUNT];
static volatile uint8_t frames;
static volatile bool in_gap;
/* The interrupt's own. */
static uint16_t frame_us[JOINT_COUNT];
static uint16_t frame_start, edge_at;
static uint8_t joint;
static bool is_high;

static inline void wait_until(uint16_t tick)
{
    while ((int16_t)(TCNT1 - tick) < 0)
        ;
}

static inline void next_edge(uint16_t tick)
{
    edge_at = tick;
    OCR1A = (uint16_t)(tick - TICKS(EARLY_US));
}

/* The next servo with a pulse, or the gap. */
static inline void go_on(uint16_t from)
{
    while (joint < JOINT_COUNT && frame_us[joint] == 0)
        joint++;
    if (joint < JOINT_COUNT) {
        next_edge((uint16_t)(from + TICKS(APART_US)));
    } else {
        in_gap = true;
        frames++;
        frame_start = (uint16_t)(frame_start + TICKS(FRAME_US));
        next_edge(frame_start);
    }
}

ISR(TIMER1_COMPA_vect)
{
    uint16_t now = edge_at;
    if (in_gap) {
        in_gap = false;
        joint = 0;
        for (uint8_t i = 0; i < JOINT_COUNT; i++)
            frame_us[i] = wanted_us[i];
        go_on(now);
        return;
    }
    /* All that takes time comes before the wait or after the edge; nobody else uses this port. */
    uint8_t port = SERVO_PORT ^ (uint8_t)(1u << joint);
    uint16_t length = TICKS(frame_us[joint]);
    wait_until(now);
    SERVO_PORT = port;
    is_high = !is_high;
    if (is_high) {
        next_edge((uint16_t)(now + length));
    } else {
        joint++;
        go_on(now);
    }
}

void servos_start(void)
{
    SERVO_PORT &= (uint8_t)~SERVO_MASK;
    SERVO_DDR |= SERVO_MASK;
    TCCR1A = 0;
    TCCR1B = _BV(CS11);
    in_gap = true;
    frame_start = TICKS(FRAME_US);
    TCNT1 = 0;
    next_edge(frame_start);
    TIFR1 = _BV(OCF1A);
    TIMSK1 = _BV(OCIE1A);
}

void servos_set(const uint16_t pulse_us[JOINT_COUNT])
{
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        for (uint8_t i = 0; i < JOINT_COUNT; i++)
            wanted_us[i] = pulse_us[i];
    }
}

uint8_t servos_frames(void)
{
    uint8_t count;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        count = frames;
        frames = 0;
    }
    return count;
}

bool servos_frames_wait(void)
{
    return frames != 0;
}

bool servos_gap_lasts(uint16_t us)
{
    /* The frame's first edge may be due already, and only wait for the interrupt. */
    if (!in_gap || (TIFR1 & _BV(OCF1A)))
        return false;
    return (uint16_t)(OCR1A - TCNT1) >= TICKS(us);
}
