/* Feeds the core what no host would send, and looks whether it bears that; built with the sanitizers.
 *
 *   fuzz [INPUTS [SEED]]
 *
 * An input is noise, a command with anything in it, or one that was damaged on the way; between them time passes, the
 * button is pressed, and now and then the board restarts with a damaged store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/protocol.h"
#include "board.h"

static uint32_t state;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % limit;
}

static void fill(uint8_t *bytes, unsigned count)
{
    while (count--)
        *bytes++ = (uint8_t)below(256);
}

static unsigned noise(uint8_t *wire)
{
    unsigned count = below(120);
    fill(wire, count);
    /* Often with zeros, so that much of it looks like frames. */
    if (below(2))
        for (unsigned i = 0; i < count; i += 1 + below(8))
            wire[i] = 0;
    return count;
}

/* A type, and how long its payload should be. */
static const uint8_t COMMANDS[][2] = {{MSG_HELLO, 6}, {MSG_PING, 0},  {MSG_FACE, 6},   {MSG_MOUTH, 1}, {MSG_GAZE, 2},
                                      {MSG_STATE, 1}, {MSG_POSE, 3}, {MSG_CONFIG, 3}, {MSG_PARK, 0},  {0x5A, 9}};

static unsigned command(uint8_t *wire)
{
    uint8_t payload[PAYLOAD_MAX];
    const uint8_t *kind = COMMANDS[below(sizeof COMMANDS / sizeof *COMMANDS)];
    uint8_t count = kind[1];
    if (below(10) == 0)
        count = (uint8_t)below(PAYLOAD_MAX + 1);
    fill(payload, count);
    /* Mostly something that has an effect. */
    if (kind[0] == MSG_HELLO && count == 6)
        payload[0] = (uint8_t)below(3), payload[1] = (uint8_t)(1 + below(3));
    if (count && (kind[0] == MSG_FACE || kind[0] == MSG_STATE || kind[0] == MSG_POSE))
        payload[0] %= 16;
    if (kind[0] == MSG_CONFIG && count == 3) {
        payload[0] %= 0x3C;
        if (below(2))
            payload[1] = STORE_WORD & 0xFF, payload[2] = STORE_WORD >> 8;
        else if (below(2))
            payload[2] %= 12;
    }
    return host_packed(kind[0], (uint8_t)below(5), payload, count, wire);
}

static unsigned input(uint8_t *wire)
{
    uint32_t kind = below(8);
    if (kind == 0)
        return noise(wire);
    unsigned count = command(wire);
    if (kind == 1)
        wire[below(count)] ^= (uint8_t)(1u << below(8));
    if (kind == 2)
        count = below(count + 1);
    return count;
}

static bool check_sent(void)
{
    static uint8_t bytes[4096], out[8192];
    unsigned damaged, count = host_sent(bytes, sizeof bytes);
    host_frames(bytes, count, out, &damaged);
    return damaged == 0;
}

int main(int count, char **arguments)
{
    unsigned inputs = count > 1 ? (unsigned)atoi(arguments[1]) : 100000;
    state = count > 2 ? (uint32_t)atoi(arguments[2]) : 1;
    uint8_t wire[256];
    host_new();
    host_start(1, false);
    for (unsigned i = 0; i < inputs; i++) {
        host_take(wire, input(wire));
        for (uint32_t ticks = below(20) ? below(3) : below(150); ticks; ticks--)
            host_tick(below(40) == 0);
        if (below(500) == 0) {
            if (below(2))
                host_damage(below(2), below(64));
            host_start((uint8_t)(1u << below(4)), below(10) == 0);
        }
        const char *complaint = check_sent() ? host_complaint() : "it sent what is no frame";
        if (complaint) {
            fprintf(stderr, "fuzz: input %u: %s\n", i, complaint);
            return 1;
        }
    }
    printf("%u inputs, nothing wrong\n", inputs);
    return 0;
}
