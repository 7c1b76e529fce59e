#include "cobs.h"

uint8_t cobs_pack(const uint8_t *bytes, uint8_t count, uint8_t *packed)
{
    uint8_t code_at = 0, out = 1, code = 1;
    for (uint8_t in = 0; in < count; in++) {
        if (bytes[in] == 0) {
            packed[code_at] = code;
            code_at = out++;
            code = 1;
        } else {
            packed[out++] = bytes[in];
            code++;
        }
    }
    packed[code_at] = code;
    return out;
}

uint8_t cobs_unpack(const uint8_t *packed, uint8_t count, uint8_t *bytes, uint8_t room)
{
    uint8_t in = 0, out = 0;
    while (in < count) {
        uint8_t code = packed[in++];
        if (code == 0 || code == 0xFF)
            return 0;
        for (uint8_t more = 1; more < code; more++) {
            if (in >= count || out >= room || packed[in] == 0)
                return 0;
            bytes[out++] = packed[in++];
        }
        if (in < count) {
            if (out >= room)
                return 0;
            bytes[out++] = 0;
        }
    }
    return out;
}
