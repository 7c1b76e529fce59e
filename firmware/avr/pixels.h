/* WS2812 pixels, sent bit by bit with interrupts off, and only in the servos' gap. */
#ifndef FACE_PIXELS_H
#define FACE_PIXELS_H

#include <stdint.h>

#include "../core/lights.h"

void pixels_start(void);

/* Nothing is sent when the gap is too short; the next frame brings the next colours. */
void pixels_send(ring colours, uint8_t cap);

#endif
