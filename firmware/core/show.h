/* What the head is asked to show, and the phases it goes through. */
#ifndef FACE_SHOW_H
#define FACE_SHOW_H

#include "device.h"

/* The joints are where the head was parked, as far as anybody knows. */
void show_start(struct device *device);

/* HELLO: whatever went on is over; dark and still until the first face. */
void show_ready(struct device *device);

/* `hold_ms` 0: until something else comes; else the face goes back to neutral then. */
void show_face(struct device *device, uint8_t emotion, uint8_t intensity, uint16_t transition_ms, uint16_t hold_ms);
void show_state(struct device *device, uint8_t state);

/* How far the mouth is open; it falls shut in MOUTH_DECAY_MS. */
void show_mouth(struct device *device, uint8_t level);

/* Calibration begins or ends: the head is still, and only show_pose moves it. */
void show_calibration(struct device *device, bool is_on);

/* One joint goes where it is told, inside its limits; the pulse that it really gets. */
uint16_t show_pose(struct device *device, uint8_t joint, uint16_t pulse_us);

void show_park(struct device *device);

/* The way to the rest pose is over: no more pulses, dark; the pose is remembered for the next start. */
void show_parked(struct device *device);

/* Nobody drives the head: a dim slow breath; if it was driven, to neutral, lids half, then no pulses. */
void show_safe(struct device *device);

/* Pulses and pixels after `ms` more. */
void show_tick(struct device *device, uint16_t ms);

#endif
