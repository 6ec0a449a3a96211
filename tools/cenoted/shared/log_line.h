/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LOG_LINE_H
#define CND_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* One line of the log: how it is written as text and as JSON. Nothing here writes it anywhere. */

/* Something that is known besides the message. */
struct cnd_log_field {
	const char *name; /* lower-case letters and _ */
	const char *value; /* NULL or "": not known, so the field is left out */
	bool is_number; /* `value` is a number of JSON */
	bool is_said; /* the message says it, so text leaves the field out */
};

struct cnd_log_line {
	struct timespec time;
	const char *level;
	const char *process; /* "worker" */
	const char *pool; /* "": none */
	pid_t pid;
	const char *message;
	const struct cnd_log_field *fields;
	size_t n_fields;
};

/*
 * Write the line to `to`, at most `size` bytes, without a newline and without a zero byte. Returns its length. What does not fit is
 * cut at a character, and ends with U+2026 if there is room for that; or the field is left out. Bytes that are not UTF-8 become U+FFFD.
 *
 * Text: the time, the process and the level, the message, then the fields as name=value. Control characters become blanks, so that
 * no message can forge a line. `has_prefix` false: without time and process id, which syslog(3) adds.
 */
size_t cnd_log_line_text(
	const struct cnd_log_line *line, bool has_prefix, char *to, size_t size);
/* A JSON object (RFC 8259), for `size` of at least 2: it is complete, however little fits. */
size_t cnd_log_line_json(const struct cnd_log_line *line, char *to, size_t size);

#endif
