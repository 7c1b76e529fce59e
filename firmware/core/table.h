/* Rows of the emotion table; emotions.h is generated from the Python table, which is the only source of its numbers. */
#ifndef FACE_TABLE_H
#define FACE_TABLE_H

#include <stdint.h>
#include <string.h>

#ifdef __AVR__
#include <avr/pgmspace.h>
#define IN_FLASH PROGMEM
#define read_row(row, table, index) memcpy_P((row), &(table)[index], sizeof *(row))
#else
#define IN_FLASH
#define read_row(row, table, index) memcpy((row), &(table)[index], sizeof *(row))
#endif

enum light_pattern {
    LIGHT_STEADY, LIGHT_BREATHE, LIGHT_CHASE, LIGHT_DRIP, LIGHT_PULSE, LIGHT_FLASH, LIGHT_SHIMMER, LIGHT_ORBIT,
    LIGHT_HEARTBEAT, LIGHT_ALTERNATE, LIGHT_FLUTTER
};

enum gesture_id {
    GESTURE_STILL, GESTURE_NOD, GESTURE_TWO_NODS, GESTURE_LOOK_DOWN, GESTURE_QUIVER, GESTURE_LOOK_AWAY, GESTURE_SWAY,
    GESTURE_DROOP, GESTURE_SWAP_BROWS, GESTURE_TREMBLE
};

struct light_row {
    uint8_t rgb[3];
    uint8_t pattern;
    uint8_t hertz_x100;
    /* 0 to 255: the brightness moves between these. */
    uint8_t dimmest;
    uint8_t brightest;
};

struct emotion_row {
    struct light_row light;
    /* Degrees, in the order of enum joint. */
    int8_t degrees[5];
    uint8_t mouth_open;
    uint8_t blinks_per_minute;
    uint8_t blinks_long;
    uint8_t gesture;
};

struct overlay_row {
    struct light_row light;
    uint8_t has_rgb;
    uint8_t has_light;
    uint8_t least_lid;
    uint8_t most_lid;
    int8_t brow;
    int8_t neck;
    /* Pixels that stay lit; bit 0 is the top one. */
    uint16_t lit;
};

#endif
