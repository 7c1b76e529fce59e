/* CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF, not reflected. "123456789" gives 0x29B1. */
#ifndef FACE_CRC16_H
#define FACE_CRC16_H

#include <stdint.h>

uint16_t crc16(const uint8_t *bytes, uint8_t count);

#endif
