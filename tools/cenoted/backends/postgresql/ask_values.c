/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the server for the present values of the parameters that it reports. During a loan the borrower reads the
 * reports, so the worker does not know the values afterwards.
 */
#include <string.h>

#include "../common/text.h"
#include "session.h"

/* Between two values. In a value, a question mark stands for it: such a value differs from any other. */
#define SEPARATOR   '\1'
#define VALUES_ROOM 16384u

static void
make_question(const struct cnd_session *s, struct cnd_text *t)
{
	cnd_text_add(t, "SELECT pg_catalog.concat_ws(pg_catalog.chr(1)");
	for (size_t i = 0; i < s->n_parameters; i++) {
		cnd_text_add(t, ", COALESCE(pg_catalog.translate("
				"pg_catalog.current_setting('");
		cnd_text_add(t, s->parameters[i].name);
		cnd_text_add(t, "', true), pg_catalog.chr(1), '?'), '')");
	}
	cnd_text_add(t, ")");
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
	struct cnd_text t = { .r = CENOTE_OK };
	char *values = cnc_calloc(s->mem, 1, VALUES_ROOM);
	uint8_t nothing;
	int r = values != NULL ? CENOTE_OK : CENOTE_ERR_NOMEM;

	cnc_buf_init(&t.b, s->mem, 8192);
	if (r == CENOTE_OK && !have_plain_names(s))
		r = cnd_pg_broken(s, "a parameter of an impossible name");
	if (r == CENOTE_OK) {
		make_question(s, &t);
		r = t.r < 0 ? t.r : cnc_buf_u8(&t.b, 0);
	}
	if (r == CENOTE_OK)
		r = cnd_pg_ask_more(s, (const char *)cnc_buf_head(&t.b), &nothing, 0,
			values, VALUES_ROOM);
	if (r == CENOTE_OK)
		r = set_values(s, values);
	cnc_buf_finish(&t.b);
	cnc_free(s->mem, values);
	return r;
}
