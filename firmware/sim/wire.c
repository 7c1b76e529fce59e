/* The chip's serial wire, with a pseudo-terminal at its other end: as slow as the real one, as bad as it is told. */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <simavr/avr_uart.h>

DEFINE_FIFO(uint8_t, uart_fifo);

/* How often bytes come. At 57600 baud it would be 2778 cycles; simavr 1.6 counts 11 bits for a byte and so needs 3081
 * and an interrupt to take one: a faster wire would pile up bytes that a real chip had taken. */
#define BYTE_CYCLES 3200u
/* Two bytes wait to be read, a third one is in the shift register. */
#define CHIP_BYTES 3

/* What passed in one direction since the last zero. */
struct run {
    uint8_t bytes[256];
    unsigned count;
};

struct wire_faults wire_faults;

static avr_uart_t *uart;
static const char *path;
static int master = -1, slave = -1;
static struct run to_chip, from_chip;
/* Not yet on the wire. */
static uint8_t inbox[INBOX_BYTES];
static size_t inbox_count, inbox_at;
static avr_cycle_count_t next_byte_at;
static uint32_t random_state = 1;

uint32_t wire_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Whether the byte gets through, damaged or not. */
static bool passes(uint8_t *byte, bool is_to_chip)
{
    if (is_to_chip && wire_faults.drop_next) {
        wire_faults.drop_next--;
        return false;
    }
    if (is_to_chip && wire_faults.corrupt_next) {
        wire_faults.corrupt_next--;
        *byte ^= 0x55;
    }
    if (wire_random() % 10000 < wire_faults.drop_rate)
        return false;
    if (wire_random() % 10000 < wire_faults.corrupt_rate)
        *byte ^= (uint8_t)(1 + wire_random() % 255);
    return true;
}

static void log_byte(struct run *run, char direction, uint8_t byte)
{
    if (byte != 0) {
        if (run->count < sizeof run->bytes)
            run->bytes[run->count++] = byte;
        return;
    }
    if (run->count == 0)
        return;
    fprintf(trace, "%c %llu ", direction, ns(avr->cycle));
    for (unsigned i = 0; i < run->count; i++)
        fprintf(trace, "%02x", run->bytes[i]);
    fputc('\n', trace);
    run->count = 0;
}

static void on_output(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    uint8_t byte = (uint8_t)value;
    log_byte(&from_chip, '<', byte);
    if (master >= 0 && passes(&byte, false) && write(master, &byte, 1) < 0 && errno != EAGAIN)
        perror("rig: write");
}

static void fill_inbox(void)
{
    if (inbox_at < inbox_count)
        return;
    ssize_t count = master < 0 ? 0 : read(master, inbox, sizeof inbox);
    inbox_at = 0;
    inbox_count = count > 0 ? (size_t)count : 0;
}

bool wire_send(const char *hex)
{
    unsigned byte;
    memmove(inbox, inbox + inbox_at, inbox_count - inbox_at);
    inbox_count -= inbox_at;
    inbox_at = 0;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) {
        if (inbox_count == sizeof inbox)
            return false;
        inbox[inbox_count++] = (uint8_t)byte;
    }
    return true;
}

/* The wire's next byte has arrived. */
static avr_cycle_count_t on_input(avr_t *chip, avr_cycle_count_t when, void *param)
{
    (void)param;
    if (inbox_at == inbox_count)
        return 0;
    uint8_t byte = inbox[inbox_at++];
    if (passes(&byte, true)) {
        if (uart_fifo_get_read_size(&uart->input) >= CHIP_BYTES) {
            fprintf(trace, "O %llu\n", ns(when));
        } else {
            log_byte(&to_chip, '>', byte);
            avr_raise_irq(avr_io_getirq(chip, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), byte);
        }
    }
    next_byte_at = when + BYTE_CYCLES;
    return inbox_at < inbox_count ? next_byte_at : 0;
}

void wire_feed(void)
{
    fill_inbox();
    if (inbox_at == inbox_count || avr_cycle_timer_status(avr, on_input, NULL))
        return;
    avr_cycle_timer_register(avr, next_byte_at > avr->cycle ? next_byte_at - avr->cycle : 1, on_input, NULL);
}

void wire_plug(void)
{
    struct termios raw;
    if (master >= 0)
        return;
    if (openpty(&master, &slave, NULL, NULL, NULL) < 0) {
        perror("rig: openpty");
        exit(1);
    }
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    fcntl(master, F_SETFL, O_NONBLOCK);
    unlink(path);
    if (symlink(ttyname(slave), path) < 0)
        perror("rig: symlink");
}

void wire_unplug(void)
{
    if (master < 0)
        return;
    unlink(path);
    close(master);
    close(slave);
    master = slave = -1;
}

void wire_seed(uint32_t seed)
{
    random_state = seed ? seed : 1;
}

void wire_reset(void)
{
    to_chip.count = from_chip.count = 0;
}

bool wire_connect(const char *tty)
{
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POOL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    for (avr_io_t *port = avr->io_port; port; port = port->next)
        if (!strcmp(port->kind, "uart"))
            uart = (avr_uart_t *)port;
    path = tty;
    wire_plug();
    return uart != NULL;
}
