/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* What cenote-export and cenote-import share: exit statuses, formats, messages, and the signals that stop them. */

/* Exit statuses. Functions that report their errors return them too. */
enum port_status {
	PORT_OK = 0,
	PORT_FAILED =
		1, /* an error of the server or of the data: the same run would fail again */
	PORT_USAGE = 2, /* wrong usage, or no connection */
	PORT_STOPPED =
		3 /* a signal came, or the connection was lost: --resume continues */
};

enum port_format {
	PORT_CSV,
	PORT_TSV,
	PORT_JSON,
	PORT_SQL
};

/* Write a message with the program's name to standard error. */
void port_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Let SIGINT and SIGTERM set a flag. If the same signal comes again, it ends the process. */
void port_catch_signals(void);
/* Whether such a signal has come. */
bool port_is_stopped(void);

/* The time in milliseconds, by a clock that is never set. */
double port_now_ms(void);

/* Choose the format: the one that was named ("csv", "json.zst"), else the one that the file's name ends with, else CSV. `named`
 * may be NULL. Returns PORT_OK, or PORT_USAGE after a message. */
int port_choose_format(const char *named, const char *file, enum port_format *ret_format,
	bool *ret_is_zstd);

#endif
