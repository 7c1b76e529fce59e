#include "messages.h"

#include <string.h>

#include "board.h"
#include "emotions.h"
#include "show.h"

static uint16_t read_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | (uint16_t)bytes[1] << 8);
}

static uint8_t put_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    return 2;
}

static void send(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t count)
{
    uint8_t wire[WIRE_MAX];
    board_send(wire, link_pack(type, seq, payload, count, wire));
}

static void send_event(struct device *device, uint8_t type, const uint8_t *payload, uint8_t count)
{
    device->event_seq++;
    send(type, device->event_seq, payload, count);
}

/* ------------------------------------------------------------------------------------------- answers */

/* Whether it may come again and is answered; MOUTH is neither, whatever number it has. */
static bool is_numbered(const struct frame *frame)
{
    return frame->seq != 0 && frame->type != MSG_MOUTH;
}

/* From now on this is the last command. */
static void remember(struct answered *answered, const struct frame *frame)
{
    if (!is_numbered(frame))
        return;
    answered->seq = frame->seq;
    answered->crc = frame->crc;
    answered->type = 0;
}

static bool is_repeat(const struct answered *answered, const struct frame *frame)
{
    return is_numbered(frame) && frame->seq == answered->seq && frame->crc == answered->crc;
}

static void send_again(const struct answered *answered)
{
    if (answered->type)
        send(answered->type, answered->seq, answered->payload, answered->count);
}

static void reply(struct device *device, const struct frame *frame, const uint8_t *payload, uint8_t count)
{
    struct answered *answered = &device->answered;
    if (!is_numbered(frame))
        return;
    answered->type = (uint8_t)(frame->type | MSG_REPLY);
    answered->count = count;
    memcpy(answered->payload, payload, count);
    send_again(answered);
}

/* Unlike an answer it is sent without a number too: who streams to a board that has restarted learns it so. */
static void refuse(struct device *device, const struct frame *frame, uint8_t code)
{
    if (is_numbered(frame)) {
        device->answered.type = MSG_NAK;
        device->answered.count = 1;
        device->answered.payload[0] = code;
    }
    send(MSG_NAK, frame->seq, &code, 1);
}

void messages_damaged(void)
{
    uint8_t code = NAK_CRC;
    send(MSG_NAK, 0, &code, 1);
}

/* ------------------------------------------------------------------------------------------- commands */

static uint8_t flags(const struct device *device)
{
    uint8_t bits = device->phase == PHASE_SAFE ? FLAG_SAFE : 0;
    bits |= device->phase == PHASE_PARKED ? FLAG_PARKED : 0;
    bits |= device->is_lights_only ? FLAG_LIGHTS_ONLY : 0;
    bits |= device->phase == PHASE_CALIBRATING ? FLAG_CALIBRATING : 0;
    return bits;
}

static void hello(struct device *device, const struct frame *frame)
{
    uint8_t out[REPLY_MAX], count = 0;
    if (frame->payload[0] > PROTOCOL_VERSION || frame->payload[1] < PROTOCOL_VERSION) {
        refuse(device, frame, NAK_VERSION);
        return;
    }
    device->has_hello = true;
    show_ready(device);
    out[count++] = PROTOCOL_VERSION;
    out[count++] = FIRMWARE_MAJOR;
    out[count++] = FIRMWARE_MINOR;
    out[count++] = CAN_SERVOS | CAN_PIXELS | CAN_BUTTON;
    out[count++] = JOINT_COUNT;
    out[count++] = PIXEL_COUNT;
    out[count++] = EMOTION_COUNT;
    out[count++] = device->reset_cause;
    out[count++] = flags(device);
    count += put_u16(out + count, device->boot_id);
    count += put_u16(out + count, config_crc(&device->config));
    memcpy(out + count, frame->payload + 2, 4);
    reply(device, frame, out, (uint8_t)(count + 4));
}

static void ping(struct device *device, const struct frame *frame)
{
    uint8_t out[11], count = 0;
    count += put_u16(out + count, (uint16_t)device->uptime_ms);
    count += put_u16(out + count, (uint16_t)(device->uptime_ms >> 16));
    out[count++] = flags(device);
    count += put_u16(out + count, device->link.crc_errors);
    count += put_u16(out + count, device->link.dropped);
    count += put_u16(out + count, board_supply_mv());
    reply(device, frame, out, count);
}

static void face(struct device *device, const struct frame *frame)
{
    uint8_t emotion = frame->payload[0];
    if (emotion >= EMOTION_COUNT) {
        refuse(device, frame, NAK_RANGE);
        return;
    }
    show_face(device, emotion, frame->payload[1], read_u16(frame->payload + 2), read_u16(frame->payload + 4));
    reply(device, frame, &emotion, 1);
}

static void pose(struct device *device, const struct frame *frame)
{
    uint8_t joint = frame->payload[0], out[2];
    if (device->phase != PHASE_CALIBRATING || joint >= JOINT_COUNT) {
        refuse(device, frame, joint >= JOINT_COUNT ? NAK_RANGE : NAK_BUSY);
        return;
    }
    put_u16(out, show_pose(device, joint, read_u16(frame->payload + 1)));
    reply(device, frame, out, 2);
}

static bool set_config(struct device *device, uint8_t key, uint16_t value)
{
    switch (key) {
    case KEY_CALIBRATE:
        if (value > 1)
            return false;
        show_calibration(device, value == 1);
        return true;
    case KEY_STORE:
        if (value != STORE_WORD || !config_fits(&device->config))
            return false;
        config_seal(&device->config);
        board_store_config(&device->config);
        return true;
    case KEY_RESET:
        if (value != STORE_WORD)
            return false;
        config_defaults(&device->config);
        return true;
    default:
        return config_set(&device->config, key, value);
    }
}

/* A key alone asks, a key with a value sets; either is answered with key and value. */
static void config(struct device *device, const struct frame *frame)
{
    uint8_t out[3] = {frame->payload[0], 0, 0};
    uint16_t value = 0;
    bool is_known;
    if (frame->count == 3) {
        value = read_u16(frame->payload + 1);
        is_known = set_config(device, out[0], value);
    } else {
        is_known = config_get(&device->config, out[0], &value);
    }
    if (!is_known) {
        refuse(device, frame, NAK_RANGE);
        return;
    }
    put_u16(out + 1, value);
    reply(device, frame, out, 3);
}

/* No part of this head looks anywhere; a head with eyes would. */
static void gaze(struct device *device, const struct frame *frame)
{
    for (uint8_t i = 0; i < 2; i++) {
        int8_t value = (int8_t)frame->payload[i];
        if (value < -GAZE_MAX || value > GAZE_MAX) {
            refuse(device, frame, NAK_RANGE);
            return;
        }
    }
    reply(device, frame, frame->payload, 2);
}

static void state(struct device *device, const struct frame *frame)
{
    if (frame->payload[0] >= STATE_COUNT) {
        refuse(device, frame, NAK_RANGE);
        return;
    }
    show_state(device, frame->payload[0]);
    reply(device, frame, frame->payload, 1);
}

/* Length of a payload by type; -1 for what is no command. CONFIG has two. */
static int8_t length_of(uint8_t type)
{
    switch (type) {
    case MSG_HELLO: return 6;
    case MSG_PING: return 0;
    case MSG_FACE: return 6;
    case MSG_MOUTH: return 1;
    case MSG_GAZE: return 2;
    case MSG_STATE: return 1;
    case MSG_POSE: return 3;
    case MSG_CONFIG: return 3;
    case MSG_PARK: return 0;
    default: return -1;
    }
}

/* Why a command is not acted on; 0 when it is. */
static uint8_t fault_of(const struct device *device, const struct frame *frame)
{
    int8_t length = length_of(frame->type);
    if (length < 0)
        return NAK_TYPE;
    if (frame->count != length && !(frame->type == MSG_CONFIG && frame->count == 1))
        return NAK_LENGTH;
    if (frame->type != MSG_HELLO && !device->has_hello)
        return NAK_NO_HELLO;
    return 0;
}

static void act(struct device *device, const struct frame *frame)
{
    switch (frame->type) {
    case MSG_HELLO: hello(device, frame); break;
    case MSG_PING: ping(device, frame); break;
    case MSG_FACE: face(device, frame); break;
    case MSG_MOUTH: show_mouth(device, frame->payload[0]); break;
    case MSG_GAZE: gaze(device, frame); break;
    case MSG_STATE: state(device, frame); break;
    case MSG_POSE: pose(device, frame); break;
    case MSG_CONFIG: config(device, frame); break;
    case MSG_PARK: show_park(device); break; /* answered by messages_parked */
    default: break;
    }
}

void messages_take(struct device *device, const struct frame *frame)
{
    /* An answer is no command: it is ours, which a terminal with echo sent back. Refusing it would go on for ever. */
    if (frame->type & MSG_REPLY)
        return;
    device->heard_age_ms = 0;
    if (is_repeat(&device->answered, frame)) {
        send_again(&device->answered);
        return;
    }
    /* While it parks it takes only a new greeting; PARK stays the last command, since it waits for its answer. */
    if (device->phase == PHASE_PARKING && frame->type != MSG_HELLO) {
        uint8_t code = NAK_BUSY;
        send(MSG_NAK, frame->seq, &code, 1);
        return;
    }
    remember(&device->answered, frame);
    uint8_t code = fault_of(device, frame);
    if (code)
        refuse(device, frame, code);
    else
        act(device, frame);
}

void messages_parked(struct device *device)
{
    struct answered *answered = &device->answered;
    if (answered->type || answered->seq == 0)
        return; /* PARK came without a number */
    answered->type = MSG_PARK | MSG_REPLY;
    answered->count = 0;
    send_again(answered);
}

/* ------------------------------------------------------------------------------------------- events */

void messages_boot(struct device *device)
{
    uint8_t out[6] = {PROTOCOL_VERSION, FIRMWARE_MAJOR, FIRMWARE_MINOR, device->reset_cause, 0, 0};
    put_u16(out + 4, device->boot_id);
    send_event(device, EVENT_BOOT, out, 6);
}

void messages_safe(struct device *device, uint8_t reason)
{
    send_event(device, EVENT_SAFE, &reason, 1);
}

void messages_fault(struct device *device, uint8_t code)
{
    send_event(device, EVENT_FAULT, &code, 1);
}

void messages_button(struct device *device, uint8_t action, uint16_t held_ms)
{
    uint8_t out[3] = {action, 0, 0};
    put_u16(out + 1, held_ms);
    send_event(device, EVENT_BUTTON, out, 3);
}
