/* The supply voltage; board_supply_mv measures it. */
#ifndef FACE_SUPPLY_H
#define FACE_SUPPLY_H

void supply_start(void);

#endif
