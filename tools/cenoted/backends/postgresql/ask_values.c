/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server for the present values of the parameters that it reports. During a loan the borrower reads the
 * reports, so the worker does not know the values afterwards.
 */
#include <string.h>

#include "session.h"

/* Between two values. In a value, a question mark stands for it: such a value differs from any other. */
#define SEPARATOR   '\1'
#define VALUES_ROOM 16384u

static int
add(struct cnc_buf *sql, const char *text)
{
	return cnc_buf_append(sql, text, strlen(text));
}

static int
add_value_of(struct cnc_buf *sql, const char *name)
{
	int r = add(sql, ", COALESCE(pg_catalog.translate(pg_catalog.current_setting('");

	if (r == CENOTE_OK)
		r = add(sql, name);
	return r < 0 ? r : add(sql, "', true), pg_catalog.chr(1), '?'), '')");
}

static int
make_values_question(const struct cnd_session *s, struct cnc_buf *sql)
{
	int r = add(sql, "SELECT pg_catalog.concat_ws(pg_catalog.chr(1)");

	for (size_t i = 0; i < s->n_parameters && r == CENOTE_OK; i++)
		r = add_value_of(sql, s->parameters[i].name);
	if (r == CENOTE_OK)
		r = add(sql, ")");
	return r < 0 ? r : cnc_buf_u8(sql, 0);
}

/* Whether the parameters are named as settings are. The names come from the server. */
static int
have_plain_names(const struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		if (strpbrk(s->parameters[i].name, "'\\") != NULL)
			return 0;
	}
	return s->n_parameters > 0;
}

static int
set_values(struct cnd_session *s, char *values)
{
	size_t n = s->n_parameters;
	int r = CENOTE_OK;

	for (size_t i = 0; i < n && values != NULL && r == CENOTE_OK; i++) {
		char *end = strchr(values, SEPARATOR);

		if (end != NULL)
			*end = '\0';
		r = cnd_pg_set_parameter(s, s->parameters[i].name, values);
		values = end != NULL ? end + 1 : NULL;
	}
	return r;
}

int
cnd_pg_ask_values(struct cnd_session *s)
{
	struct cnc_buf sql;
	char *values = cnc_calloc(s->mem, 1, VALUES_ROOM);
	uint8_t nothing;
	int r = values != NULL ? CENOTE_OK : CENOTE_ERR_NOMEM;

	cnc_buf_init(&sql, s->mem, 8192);
	if (r == CENOTE_OK && !have_plain_names(s))
		r = cnd_pg_broken(s, "a parameter of an impossible name");
	if (r == CENOTE_OK)
		r = make_values_question(s, &sql);
	if (r == CENOTE_OK)
		r = cnd_pg_ask_more(s, (const char *)cnc_buf_head(&sql), &nothing, 0,
			values, VALUES_ROOM);
	if (r == CENOTE_OK)
		r = set_values(s, values);
	cnc_buf_finish(&sql);
	cnc_free(s->mem, values);
	return r;
}
