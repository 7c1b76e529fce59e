/* How the lights of a row move: the colours of all pixels for a phase, before gamma. */
#ifndef FACE_LIGHTS_H
#define FACE_LIGHTS_H

#include <stdint.h>

#include "protocol.h"
#include "table.h"

typedef uint8_t ring[PIXEL_COUNT][3];

/* How far a phase moves in so many milliseconds (at most 255 of them). */
uint16_t light_step(const struct light_row *row, uint8_t ms);

/* `phase` in turns since the row began, 65536 each; `ms` the time since then, for what happens only once. */
void light_pixels(const struct light_row *row, const uint8_t rgb[3], uint32_t phase, uint16_t ms, ring out);

/* What a WS2812 is told for a part of a colour: gamma, then the cap on the current. What is lit is never rounded to
 * dark, so that a slow dim breath does not blink. */
uint8_t light_output(uint8_t value, uint8_t cap);

#endif
