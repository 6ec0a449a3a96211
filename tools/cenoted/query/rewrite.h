/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_REWRITE_H
#define CND_REWRITE_H

#include "core/arena.h"
#include "core/diag.h"
#include "query_rules.h"
#include "respell.h"

/*
 * The text of a statement on its way to the server, and what rules see in it. The pool's settings and its rules may change
 * the text; after each change, rules see the new one.
 */
struct cnd_query_text {
	/* the caller sets these */
	struct cnd_respelling style;
	bool has_digest; /* a rule asks for the digest */
	struct cnc_arena *arena; /* gives the memory for new texts */
	struct cnc_diag *diag; /* why a function failed */
	struct cnd_summary *summary; /* memory for what rules see in the text */

	/* the caller sets who sends the statement, and when; the functions below set the rest */
	struct cnd_query query;
};

/* The longest text that a rule may make, in bytes. */
#define CND_REWRITE_MAX ((size_t)1024 * 1024)

/* Take the text of the program, and write it as the pool's settings say. sql NULL: a function is called by its number.
 * Negative: it cannot be written for this server, or memory ran out; *diag says why. */
int cnd_query_text_begin(struct cnd_query_text *t, const char *sql, size_t len);
/* The rule applies: put its text in the place of the statement. CENOTE_DONE: no rule may change this statement. Negative: the
 * new text must not be sent, and *diag says why. */
int cnd_query_text_rewrite(struct cnd_query_text *t, const struct cnd_query_rule *rule);

/* Check the text of a rule when it is read: each \1 and \{name} is a group of the rule's pattern. 0; or -1, with the error
 * set. */
int cnd_rewrite_check(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX]);

#endif
