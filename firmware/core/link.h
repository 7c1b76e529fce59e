/* The link: bytes to frames and back, with a check sum. Zeroed it is ready. */
#ifndef FACE_LINK_H
#define FACE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct frame {
    uint8_t type;
    uint8_t seq;
    uint8_t count;
    uint8_t payload[PAYLOAD_MAX];
    uint16_t crc;
};

struct link {
    uint8_t buffer[FRAME_MAX + 1];
    uint8_t count;
    bool is_too_long;
    /* A frame begins behind a delimiter: what came before the first one is noise. */
    bool is_open;
    uint16_t crc_errors; /* whole frames with a wrong check sum */
    uint16_t dropped;    /* too long, too short, or not packed as they should be */
};

enum link_result { LINK_NOTHING, LINK_FRAME, LINK_DAMAGED };

/* One byte from the wire. LINK_FRAME: `frame` is whole. LINK_DAMAGED: something came that is none. */
enum link_result link_take(struct link *link, uint8_t byte, struct frame *frame);

/* Bytes for the wire, both delimiters included. At most PAYLOAD_MAX bytes of payload; `wire` has room for WIRE_MAX. */
uint8_t link_pack(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t count, uint8_t *wire);

#endif
