/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of pins. It has no state; status answers, the queue and the workers call it. */
#include "pins.h"

#include <stdio.h>

const struct cnd_pin_name cnd_pin_names[CND_PINS] = {
	{ "temp", "temporary objects" },
	{ "settings", "changed settings" },
	{ "lock", "locks" },
	{ "listen", "LISTEN" },
	{ "cursor", "open cursors" },
	{ "attached", "attached databases" },
	{ "function", "volatile functions" },
	{ "prepared", "prepared statements" },
};

const char *
cnd_pins_text(uint32_t pins, char to[CND_PINS_TEXT_MAX])
{
	size_t n = 0;

	to[0] = '\0';
	for (size_t i = 0; i < CND_PINS; i++) {
		if (pins & 1u << i)
			n += (size_t)snprintf(to + n, CND_PINS_TEXT_MAX - n, "%s%s",
				n > 0 ? ", " : "", cnd_pin_names[i].words);
	}
	return to;
}
