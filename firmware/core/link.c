#include "link.h"

#include <string.h>

#include "cobs.h"
#include "crc16.h"

static enum link_result read_frame(struct link *link, struct frame *frame)
{
    uint8_t bytes[FRAME_MAX];
    uint8_t count = cobs_unpack(link->buffer, link->count, bytes, FRAME_MAX);
    if (count < 4) {
        link->dropped++;
        return LINK_DAMAGED;
    }
    uint16_t crc = (uint16_t)((uint16_t)bytes[count - 2] << 8 | bytes[count - 1]);
    if (crc16(bytes, (uint8_t)(count - 2)) != crc) {
        link->crc_errors++;
        return LINK_DAMAGED;
    }
    frame->type = bytes[0];
    frame->seq = bytes[1];
    frame->count = (uint8_t)(count - 4);
    frame->crc = crc;
    memcpy(frame->payload, bytes + 2, frame->count);
    return LINK_FRAME;
}

enum link_result link_take(struct link *link, uint8_t byte, struct frame *frame)
{
    if (byte != 0) {
        if (link->count < sizeof link->buffer)
            link->buffer[link->count++] = byte;
        else
            link->is_too_long = true;
        return LINK_NOTHING;
    }
    enum link_result result = LINK_NOTHING;
    if (link->is_too_long) {
        link->dropped++;
        result = LINK_DAMAGED;
    } else if (link->count > 0 && link->is_open) {
        result = read_frame(link, frame);
    }
    link->count = 0;
    link->is_too_long = false;
    link->is_open = true;
    return result;
}

uint8_t link_pack(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t count, uint8_t *wire)
{
    uint8_t bytes[FRAME_MAX];
    bytes[0] = type;
    bytes[1] = seq;
    memcpy(bytes + 2, payload, count);
    uint16_t crc = crc16(bytes, (uint8_t)(count + 2));
    bytes[count + 2] = (uint8_t)(crc >> 8);
    bytes[count + 3] = (uint8_t)crc;
    wire[0] = 0;
    uint8_t packed = cobs_pack(bytes, (uint8_t)(count + 4), wire + 1);
    wire[packed + 1] = 0;
    return (uint8_t)(packed + 2);
}
