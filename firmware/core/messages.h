/* What frames mean, and the answers. */
#ifndef FACE_MESSAGES_H
#define FACE_MESSAGES_H

#include "device.h"

void messages_take(struct device *device, const struct frame *frame);

/* Something came that is no frame. */
void messages_damaged(void);

void messages_boot(struct device *device);
void messages_safe(struct device *device, uint8_t reason);
void messages_fault(struct device *device, uint8_t code);
void messages_button(struct device *device, uint8_t action, uint16_t held_ms);

/* PARK is answered when it is done. */
void messages_parked(struct device *device);

#endif
