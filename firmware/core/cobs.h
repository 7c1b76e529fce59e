/* Consistent Overhead Byte Stuffing: a frame without a zero in it, so that a zero can end it. */
#ifndef FACE_COBS_H
#define FACE_COBS_H

#include <stdint.h>

/* Length of the packed form (count + 1 for count < 254); `packed` must have room for it. */
uint8_t cobs_pack(const uint8_t *bytes, uint8_t count, uint8_t *packed);

/* Length of the unpacked form, 0 when it is damaged or longer than `room`. In place is allowed. */
uint8_t cobs_unpack(const uint8_t *packed, uint8_t count, uint8_t *bytes, uint8_t room);

#endif
