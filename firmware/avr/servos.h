/* Servo pulses, one servo after the other in each frame of 20 ms; the rest of the frame is the gap. */
#ifndef FACE_SERVOS_H
#define FACE_SERVOS_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/protocol.h"

void servos_start(void);

/* Pulse lengths from the next frame on, 0 for none. A pulse that has begun is never cut. */
void servos_set(const uint16_t pulse_us[JOINT_COUNT]);

/* How many frames' gaps have begun since the last call: the time to compute, and to send pixels. */
uint8_t servos_frames(void);

/* Whether servos_frames would say any. */
bool servos_frames_wait(void);

/* Whether the gap lasts for at least so many microseconds more; to be called with interrupts off. */
bool servos_gap_lasts(uint16_t us);

#endif
