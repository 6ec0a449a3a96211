/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LOG_H
#define CND_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <syslog.h>

#include "log_line.h"

/* The log: time, process id, role and pool, then the message and its fields. Every caller must keep to this rule:
 * never log a secret, a statement with its values, or a value from a client or a server.
 *
 * Logging never stops the process: a line that cannot be written now is lost, and the next one that can be written says how many
 * were lost. */

enum cnd_log_format {
	CND_LOG_TEXT,
	CND_LOG_JSON
};

/* Open the target: "stderr", "syslog", or a file's path. 0; or -errno, and the previous target
 * stays. */
int cnd_log_open(const char *target);
void cnd_log_set_format(enum cnd_log_format format);
/* Between these two, warnings and errors also go to standard error, for the person who starts
 * cenoted. Afterwards a daemon closes standard error, unless that is the target. */
void cnd_log_begin_start(void);
void cnd_log_end_start(int is_daemon);
/* The descriptor that a child must keep open; -1: none. */
int cnd_log_fd(void);
/* Call these before and after a child closes its descriptors: syslog(3) has a descriptor that the
 * caller cannot know. */
void cnd_log_before_closing(void);
void cnd_log_after_fork(void);
/* Drop messages above this level (syslog's numbers). */
void cnd_log_set_level(int level);
/* From now on the level is in this memory, for this process and its children; NULL: it is the process's own again. Only the
 * process that may write there sets the level. */
void cnd_log_share_level(_Atomic int32_t *level);
/* Also give each warning and error to this function; NULL: to none. */
typedef void cnd_log_listener(void *user, const char *text);
void cnd_log_set_listener(cnd_log_listener *listener, void *user);
/* Set the role and pool that every further line shows; the texts are copied. `pool` may be NULL. */
void cnd_log_set_role(const char *role, const char *pool);

void cnd_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cnd_log_warning(const char *text);
void cnd_vlog(int level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* The same with fields. */
void cnd_log_fields(int level, const struct cnd_log_field *fields, size_t n,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void cnd_vlog_fields(int level, const struct cnd_log_field *fields, size_t n,
	const char *format, va_list args) __attribute__((format(printf, 4, 0)));
/* Log at LOG_CRIT and end the process: for the start, and for nonsense from another process of
 * cenoted. */
_Noreturn void cnd_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The level for "debug", "info", "notice", "warning", "error"; -1: another word. */
int cnd_log_level_parse(const char *text);
const char *cnd_log_level_text(int level);

#endif
