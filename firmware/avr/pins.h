/* Which pin does what on an Uno or Nano (ATmega328P). */
#ifndef FACE_PINS_H
#define FACE_PINS_H

#include <avr/io.h>

/* Servos: PB0 to PB4, Arduino pins 8 to 12, in the order of enum joint. */
#define SERVO_PORT PORTB
#define SERVO_DDR DDRB
#define SERVO_MASK 0x1F

/* Pixels: PD6, Arduino pin 6. */
#define PIXEL_PORT PORTD
#define PIXEL_DDR DDRD
#define PIXEL_BIT PD6

/* Button to ground: PD2, Arduino pin 2. */
#define BUTTON_PORT PORTD
#define BUTTON_DDR DDRD
#define BUTTON_PIN PIND
#define BUTTON_BIT PD2

#endif
