/* The portable core on this computer, for tests: a board whose wire, store and servos are variables. */
#ifndef FACE_HOST_BOARD_H
#define FACE_HOST_BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* A board from the factory: nothing stored, no reset remembered. */
void host_new(void);

/* It starts; what is stored stays. */
void host_start(uint8_t reset_cause, bool button_is_down);

void host_take(const uint8_t *bytes, unsigned count);

/* 20 ms pass. */
void host_tick(bool button_is_down);

/* What it has sent since the last call; its length. */
unsigned host_sent(uint8_t *bytes, unsigned room);

/* What it shows; servos in microseconds. */
void host_shown(uint16_t servo_us[5], uint8_t pixels[48]);

/* Where the joints are, whether pulses hold them or not. */
void host_pose(uint16_t pose_us[5]);

/* How often it has written to its store: configuration, park pose. */
void host_stores(unsigned counts[2]);

/* Damage a byte of what is stored: 0 the configuration, 1 the park pose. */
void host_damage(unsigned which, unsigned at);

/* The lights of a mood, or of a state when its own (16 times red, green, blue). */
void host_mood_light(uint8_t emotion, uint32_t phase, uint16_t ms, uint8_t pixels[48]);
void host_state_light(uint8_t state, const uint8_t rgb[3], uint32_t phase, uint16_t ms, uint8_t pixels[48]);

/* What a fresh link makes of bytes: for each frame type, seq, length, payload. The length of that; `damaged` counts. */
unsigned host_frames(const uint8_t *bytes, unsigned count, uint8_t *out, unsigned *damaged);

/* Bytes of a frame for the wire; their count. */
unsigned host_packed(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t count, uint8_t *wire);

/* The sentence that says what is wrong with the board's state; NULL when nothing is. */
const char *host_complaint(void);

#endif
