/* Face link v1: the numbers that host and board share. The words to them are in firmware/README.md. */
#ifndef FACE_PROTOCOL_H
#define FACE_PROTOCOL_H

#define PROTOCOL_VERSION 1

#define PAYLOAD_MAX 48
/* type, seq, payload, two bytes of CRC */
#define FRAME_MAX (2 + PAYLOAD_MAX + 2)
/* COBS adds one byte to a frame of this length; a delimiter stands on either side. */
#define WIRE_MAX (FRAME_MAX + 1 + 2)

enum message {
    MSG_HELLO = 0x01,
    MSG_PING = 0x02,
    MSG_FACE = 0x03,
    MSG_MOUTH = 0x04,
    MSG_GAZE = 0x05,
    MSG_STATE = 0x06,
    MSG_POSE = 0x07,
    MSG_CONFIG = 0x08,
    MSG_PARK = 0x09,
    MSG_REPLY = 0x80,
    EVENT_BOOT = 0xC0,
    EVENT_SAFE = 0xC1,
    EVENT_BUTTON = 0xC2,
    EVENT_FAULT = 0xC3,
    MSG_NAK = 0xFF
};

enum nak { NAK_CRC = 1, NAK_TYPE = 2, NAK_LENGTH = 3, NAK_RANGE = 4, NAK_BUSY = 5, NAK_NO_HELLO = 6, NAK_VERSION = 7 };

enum safe_reason { SAFE_HOST_LOST = 1 };

enum fault { FAULT_LIGHTS_ONLY = 1, FAULT_CONFIG_LOST = 2 };

enum button_action { BUTTON_TALK = 1, BUTTON_MUTE = 2, BUTTON_STOP = 3 };

/* Capability bits of HELLO's reply. */
enum capability { CAN_SERVOS = 1, CAN_PIXELS = 2, CAN_BUTTON = 4 };

/* Flag bits of PING's reply. */
enum flag { FLAG_SAFE = 1, FLAG_PARKED = 2, FLAG_LIGHTS_ONLY = 4, FLAG_CALIBRATING = 8 };

enum state_id {
    STATE_IDLE, STATE_LISTENING, STATE_WORKING, STATE_SPEAKING, STATE_MUTED, STATE_ASKING, STATE_ERROR, STATE_OFFLINE,
    STATE_COUNT
};

enum joint { JOINT_BROW_LEFT, JOINT_BROW_RIGHT, JOINT_LID, JOINT_MOUTH, JOINT_NECK, JOINT_COUNT };

#define PIXEL_COUNT 16
#define GAZE_MAX 100

/* Keys of CONFIG. A joint's keys are KEY_JOINT + 8 * joint + field. */
enum config_key {
    KEY_CALIBRATE = 0x00,
    KEY_BRIGHTNESS_CAP = 0x01,
    KEY_STORE = 0x02,
    KEY_RESET = 0x03,
    KEY_JOINT = 0x10
};
enum joint_field {
    FIELD_NEUTRAL_US,
    FIELD_US_PER_DEGREE_X100,
    FIELD_MIN_US,
    FIELD_MAX_US,
    FIELD_REVERSED,
    FIELD_HOLDS,
    FIELD_COUNT
};
/* Value of KEY_STORE and KEY_RESET: nothing is written by accident. */
#define STORE_WORD 0xA55A

#define HOST_LOST_MS 2000u
#define SAFE_EASE_MS 600u
#define SAFE_RELEASE_MS 3000u
#define MOUTH_DECAY_MS 200u
#define PARK_MS 700u
#define ATTACH_GAP_MS 150u
#define REST_RELEASE_MS 700u

#endif
