/* The head as it is shown: pose, gesture, overlay, mouth and blink become pulses, mood and state become pixels. */
#ifndef FACE_FIGURE_H
#define FACE_FIGURE_H

#include "device.h"

void figure_tick(struct device *device, uint16_t ms);

#endif
