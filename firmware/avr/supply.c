/* The supply voltage, from the chip's own 1.1 V reference (which is off by up to 10 %). */
#include <avr/io.h>

#include "../core/board.h"
#include "supply.h"

void supply_start(void)
{
    ADMUX = _BV(REFS0) | 0x0E;            /* the reference measured against the supply; it takes 70 us to get ready */
    ADCSRA = _BV(ADEN) | 0x07;            /* at 125 kHz: 0.1 ms a measurement */
}

uint16_t board_supply_mv(void)
{
    ADCSRA |= _BV(ADSC);
    while (ADCSRA & _BV(ADSC))
        ;
    uint16_t value = ADC;
    /* Below 180 it would be above 6 V: nothing that this chip survives. */
    return value < 180 ? 0 : (uint16_t)(1100ul * 1024ul / value);
}
