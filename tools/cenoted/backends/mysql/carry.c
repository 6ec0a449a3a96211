/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <strings.h>
#include <stdio.h>

#include "core/value.h"

#include "my.h"

/*
 * What goes along with a client that is moved to another session: LAST_INSERT_ID(). What else a
 * statement leaves for the one behind it (ROW_COUNT(), FOUND_ROWS(), its warnings) stays behind; so
 * the first statement on the new session must not ask for it.
 */

static const char *const asking[] = { "row_count", "found_rows", "warnings", "errors",
	"diagnostics", "warning_count", "error_count" };

static int
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The word of the text, in a comment or a quoted text just so, that asks for it; NULL. */
static const char *
find_asking(const char *sql, size_t len)
{
	size_t i = 0, k, n;

	while (i < len) {
		for (n = 0; i + n < len && is_word_char(sql[i + n]); n++)
			;
		for (k = 0; n > 0 && k < sizeof(asking) / sizeof(asking[0]); k++) {
			if (strlen(asking[k]) == n &&
				strncasecmp(asking[k], sql + i, n) == 0)
				return asking[k];
		}
		i += n + 1;
	}
	return NULL;
}

int
cnd_my_check_moved(struct cnd_session *s, const char *sql, size_t len)
{
	const char *word;

	if (!s->is_moved)
		return CENOTE_OK;
	word = find_asking(sql, len);
	if (word)
		return cnd_my_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"Ask within the transaction, or use a pool with mode=session.",
			"\"%s\" asks for what the statement before has left, and the "
			"session was exchanged since",
			word);
	s->is_moved = 0;
	return CENOTE_OK;
}

int
cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	char sql[64];
	uint64_t id;
	int n;

	s->last_insert_id = 0;
	s->carry_out->is_told = 0;
	s->has_run = 0;
	s->has_new_id = 0;
	s->is_moved = 0;
	if (carry->n == 0)
		return CENOTE_OK;
	if (carry->n != CND_MY_CARRY_LEN) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"the state that was carried along is not of this backend");
		return CENOTE_ERR_PROTOCOL;
	}
	id = cnc_get_u64((const uint8_t *)carry->p);
	s->is_moved = 1;
	s->last_insert_id = id;
	if (id == 0)
		return CENOTE_OK;
	n = cnd_my_enter(s, ret_diag, NULL);
	if (n < 0)
		return n;
	s->has_run = 1;
	n = snprintf(
		sql, sizeof(sql), "SET last_insert_id = %llu", (unsigned long long)id);
	return cnd_my_run(s, sql, (size_t)n);
}

static int
take_id(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	if (n != 1 || !row[0] ||
		cnc_text_uint64(row[0], lengths[0], &s->last_insert_id) < 0)
		s->last_insert_id = 0;
	return CENOTE_OK;
}

/* The id that DONE tells is not always that of LAST_INSERT_ID(): ask. What else the last statement left
 * is lost by that, as if the session had been exchanged. */
int
cnd_my_settle(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	static const char sql[] = "SELECT LAST_INSERT_ID()";
	int r;

	if (!s->has_new_id || s->pins != 0)
		return CENOTE_OK;
	r = cnd_my_enter(s, ret_diag, NULL);
	if (r == CENOTE_OK)
		r = cnd_my_each(s, sql, sizeof(sql) - 1, take_id, s);
	if (r < 0)
		return r;
	s->has_new_id = 0;
	s->is_moved = 1;
	return CENOTE_OK;
}

struct cnp_str
cnd_my_carry(const struct cnd_session *s)
{
	struct cnd_my_carry_out *out = s->carry_out;

	if (!s->has_run || (out->is_told && cnc_get_u64(out->bytes) == s->last_insert_id))
		return CNP_STR_NONE;
	cnc_put_u64(out->bytes, s->last_insert_id);
	out->is_told = 1;
	return (struct cnp_str){ (const char *)out->bytes, CND_MY_CARRY_LEN };
}
