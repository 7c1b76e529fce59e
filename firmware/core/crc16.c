#include "crc16.h"

uint16_t crc16(const uint8_t *bytes, uint8_t count)
{
    uint16_t crc = 0xFFFF;
    while (count--) {
        /* Without a table: the same in 5 shifts for all eight bits. */
        uint8_t x = (uint8_t)((crc >> 8) ^ *bytes++);
        x ^= (uint8_t)(x >> 4);
        crc = (uint16_t)((crc << 8) ^ ((uint16_t)x << 12) ^ ((uint16_t)x << 5) ^ x);
    }
    return crc;
}
