/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PINS_H
#define CND_PINS_H

#include <stdint.h>

/* The names of pins (enum cenote_pin). Pin i is the bit 1 << i. */
#define CND_PINS          8u
#define CND_PINS_TEXT_MAX 192u

struct cnd_pin_name {
	const char *key; /* in a status */
	const char *words; /* in a message, after "by" */
};
extern const struct cnd_pin_name cnd_pin_names[CND_PINS];

/* Write "temporary objects, open cursors". Returns `to`. */
const char *cnd_pins_text(uint32_t pins, char to[CND_PINS_TEXT_MAX]);

#endif
