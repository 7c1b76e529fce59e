#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>

#ifndef BAUD
#define BAUD 57600
#endif
#include <util/setbaud.h>

/* Powers of two, so that an index wraps by itself; a whole frame and more. */
#define IN_SIZE 128u
#define OUT_SIZE 128u

static volatile uint8_t in_buffer[IN_SIZE], out_buffer[OUT_SIZE];
static volatile uint8_t in_head, in_tail, out_head, out_tail;

/* One with a wrong stop bit or after a lost one is kept too: the frame's check sum will tell. */
static inline __attribute__((always_inline)) void keep_byte(void)
{
    uint8_t byte = UDR0, next = (uint8_t)((in_head + 1) & (IN_SIZE - 1));
    if (next != in_tail) {
        in_buffer[in_head] = byte;
        in_head = next;
    }
}

/* Short, because a servo's edge may wait behind it. */
ISR(USART_RX_vect)
{
    keep_byte();
}

void uart_poll(void)
{
    if (UCSR0A & _BV(RXC0))
        keep_byte();
}

ISR(USART_UDRE_vect)
{
    if (out_head == out_tail) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
        return;
    }
    UDR0 = out_buffer[out_tail];
    out_tail = (uint8_t)((out_tail + 1) & (OUT_SIZE - 1));
}

void uart_start(void)
{
    /* Before the divider: simavr 1.6 works out the time of a byte when that is written. */
#if USE_2X
    UCSR0A = _BV(U2X0);
#else
    UCSR0A = 0;
#endif
    UBRR0 = UBRR_VALUE;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

bool uart_take(uint8_t *byte)
{
    if (in_head == in_tail)
        return false;
    *byte = in_buffer[in_tail];
    in_tail = (uint8_t)((in_tail + 1) & (IN_SIZE - 1));
    return true;
}

bool uart_waits(void)
{
    return in_head != in_tail;
}

void uart_send(const uint8_t *bytes, uint8_t count)
{
    uint8_t room = (uint8_t)((out_tail - out_head - 1) & (OUT_SIZE - 1));
    if (count > room)
        return; /* half a frame helps nobody */
    for (uint8_t i = 0; i < count; i++) {
        out_buffer[out_head] = bytes[i];
        out_head = (uint8_t)((out_head + 1) & (OUT_SIZE - 1));
    }
    UCSR0B |= _BV(UDRIE0);
}
