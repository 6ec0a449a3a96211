/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_REPORT_H
#define CND_REPORT_H

#include <stdbool.h>

#include "core/buf.h"
#include "status.h"

/* The answer to cenotectl: lines of words, with a tab between two words. In a word, tab, newline, carriage return and backslash are
 * \t \n \r \\. */
struct cnd_report {
	struct cnc_buf bytes;
	bool is_cut; /* there was no memory, or it is too long */
};

void cnd_report_init(struct cnd_report *r);
void cnd_report_finish(struct cnd_report *r);
/* A line: its first word, which says what kind it is; the others; its end. */
void cnd_report_begin(struct cnd_report *r, const char *kind);
void cnd_report_word(struct cnd_report *r, const char *text, size_t len);
void cnd_report_end(struct cnd_report *r);
/* A whole line of two words. */
void cnd_report_line(struct cnd_report *r, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The table "pools", "workers", "pins" or "clients": a line "columns" with their names, those of numbers with a # before, and a
 * line "row" for each row. */
void cnd_report_status(struct cnd_report *r, struct cnd_scoreboard *b, const char *what,
	const struct cnd_asker *asker);

#endif
