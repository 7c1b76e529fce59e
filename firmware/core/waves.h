/* Waves in whole numbers. A phase of 65536 is one turn. */
#ifndef FACE_WAVES_H
#define FACE_WAVES_H

#include <stdint.h>

/* -127 to 127. */
int8_t sine(uint16_t phase);

/* 0 at phase 0, 254 at half a turn, and back. */
uint8_t swell(uint16_t phase);

/* 255 at distance 0, softly down to 0 at `width` on either side. */
uint8_t bump(int16_t distance, uint16_t width);

/* Minimum jerk: 0 to 1024 for 0 to 1024. */
uint16_t eased(uint16_t share);

#endif
