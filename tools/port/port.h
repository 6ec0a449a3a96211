/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* What cenote-export and cenote-import share: exit statuses, messages, and the signals that stop them. */

/* Exit statuses, and the results of functions that report their errors themselves. */
enum port_status {
	PORT_OK = 0,
	PORT_FAILED =
		1, /* the server or the data has an error; the same run would fail again */
	PORT_USAGE = 2, /* wrong usage, or no connection */
	PORT_STOPPED = 3 /* interrupted, or the connection was lost: --resume continues */
};

enum port_format {
	PORT_CSV,
	PORT_TSV,
	PORT_JSON,
	PORT_SQL
};

/* Write a message with the program's name to standard error. */
void port_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Let SIGINT and SIGTERM set a flag. The second signal ends the process at once. */
void port_catch_signals(void);
bool port_is_stopped(void);

double port_now_ms(void);

/* Choose the format: the one that was named ("csv", "json.zst"; NULL: none), or that of the file's name. PORT_OK, or
 * PORT_USAGE after a message. */
int port_choose_format(const char *named, const char *file, enum port_format *ret_format,
	bool *ret_is_zstd);

#endif
