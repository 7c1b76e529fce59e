#include "resets.h"

#define MARK 0xFACEu

bool resets_note(struct resets *resets, uint8_t cause)
{
    if (resets->mark != MARK || (cause & RESET_POWER)) {
        resets->mark = MARK;
        for (uint8_t i = 0; i < FAULT_RESETS; i++)
            resets->ages[i] = FAULT_WINDOW_TICKS;
    }
    /* At power-up the supply is low for a moment too; that is no fault. */
    if ((cause & (RESET_WATCHDOG | RESET_BROWN_OUT)) && !(cause & RESET_POWER)) {
        for (uint8_t i = FAULT_RESETS - 1; i > 0; i--)
            resets->ages[i] = resets->ages[i - 1];
        resets->ages[0] = 0;
    }
    return resets->ages[FAULT_RESETS - 1] < FAULT_WINDOW_TICKS;
}

void resets_tick(struct resets *resets)
{
    for (uint8_t i = 0; i < FAULT_RESETS; i++)
        if (resets->ages[i] < FAULT_WINDOW_TICKS)
            resets->ages[i]++;
}
