/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LOG_H
#define CND_LOG_H

#include <stdarg.h>
#include <syslog.h>

/*
 * The log of one process: time, pid, role and pool, then the message. The rule for every caller:
 * never a secret, never a statement, never a value that a client sent or a server gave as data.
 */

/* Where to: "stderr", "syslog", or a file's path. 0, or -errno with the former target kept. */
int cnd_log_open(const char *target);
/* In between, warnings and errors go to standard error as well: whoever starts cenoted reads them there. Afterwards a
 * daemon lets go of standard error, unless that is the target. */
void cnd_log_begin_start(void);
void cnd_log_end_start(int is_daemon);
/* A child that closes descriptors keeps this one; -1: there is none to keep. */
int cnd_log_fd(void);
/* Around that closing: syslog's own descriptor is not known. */
void cnd_log_before_closing(void);
void cnd_log_after_fork(void);
/* Messages above this level (syslog's numbers) are dropped. */
void cnd_log_set_level(int level);
/* Said on every line from here on; the texts are copied. `pool` may be NULL. */
void cnd_log_set_role(const char *role, const char *pool);

void cnd_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cnd_log_warning(const char *text);
void cnd_vlog(int level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Log at LOG_CRIT and end the process: start-up, and nonsense from a sibling. */
_Noreturn void cnd_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "debug", "info", "notice", "warning", "error"; -1 if it is none of these. */
int cnd_log_level_parse(const char *text);
const char *cnd_log_level_text(int level);

#endif
