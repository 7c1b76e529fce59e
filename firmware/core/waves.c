#include "waves.h"

#include "table.h"

/* A quarter of a sine in 64 steps, and its end. */
static const uint8_t QUARTER[65] IN_FLASH = {
    0,   3,   6,   9,   12,  16,  19,  22,  25,  28,  31,  34,  37,  40,  43,  46,  49,  51,  54,  57,  60,  63,
    65,  68,  71,  73,  76,  78,  81,  83,  85,  88,  90,  92,  94,  96,  98,  100, 102, 104, 106, 107, 109, 111,
    112, 113, 115, 116, 117, 118, 120, 121, 122, 122, 123, 124, 125, 125, 126, 126, 126, 127, 127, 127, 127};

int8_t sine(uint16_t phase)
{
    uint8_t step = (uint8_t)(phase >> 8), value;
    uint8_t in_quarter = step & 63;
    if (step & 64)
        in_quarter = (uint8_t)(64 - in_quarter);
    read_row(&value, QUARTER, in_quarter);
    return (step & 128) ? (int8_t)-value : (int8_t)value;
}

uint8_t swell(uint16_t phase)
{
    return (uint8_t)(127 - sine((uint16_t)(phase + 16384)));
}

uint8_t bump(int16_t distance, uint16_t width)
{
    uint16_t far = distance < 0 ? (uint16_t)-(uint16_t)distance : (uint16_t)distance;
    if (width == 0 || far >= width)
        return 0;
    uint16_t phase = (uint16_t)((uint32_t)far * 32768u / width);
    return (uint8_t)(255 - swell(phase));
}

uint16_t eased(uint16_t share)
{
    if (share >= 1024)
        return 1024;
    /* s^3 (10 - 15 s + 6 s^2); what stands in the brackets goes from 10 to 1 and never below. */
    uint32_t s = share, square = s * s >> 10, cube = s * s * s >> 20;
    return (uint16_t)(cube * (10240u - 15u * s + 6u * square) >> 10);
}
