/* The wire: 57600 8N1 by default, both directions buffered. */
#ifndef FACE_UART_H
#define FACE_UART_H

#include <stdbool.h>
#include <stdint.h>

void uart_start(void);

/* The next byte that came; false when there is none. */
bool uart_take(uint8_t *byte);

/* Whether uart_take would give one. */
bool uart_waits(void);

/* Take a byte that came while interrupts are off. */
void uart_poll(void);

/* Queue bytes; what finds no room is lost, and the host asks again. */
void uart_send(const uint8_t *bytes, uint8_t count);

#endif
