/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of the statements that the client has prepared under names of the server (PQprepare), for `replay`. It owns
 * s->texts. request.c and ahead.c tell it what was prepared and closed; replay.c reads the texts.
 *
 * A text here is a hint: SQL and functions can end a statement, and make another one of its name. So cnd_named_text_holds()
 * asks the server.
 */
#include "serving.h"

#include <string.h>

#include "core/mem.h"
#include "quiet.h"

/* What the names and texts of a client may take. The oldest go first. */
#define BYTES_MAX ((size_t)256 * 1024)

struct cnd_named_text {
	struct cnd_named_text *next; /* an older one */
	size_t n_name, n_sql;
	char bytes[]; /* the name, and the text with a zero byte */
};

static size_t
size_of(const struct cnd_named_text *t)
{
	return sizeof(*t) + t->n_name + t->n_sql + 1;
}

static bool
has_name(const struct cnd_named_text *t, struct cnp_str name)
{
	return t->n_name == name.n &&
	       (name.n == 0 || memcmp(t->bytes, name.p, name.n) == 0);
}

static void
drop(struct cnd_serving *s, struct cnd_named_text **at)
{
	struct cnd_named_text *t = *at;

	*at = t->next;
	s->texts.n_bytes -= size_of(t);
	cnc_free(s->host.mem, t);
}

static void
drop_oldest(struct cnd_serving *s)
{
	struct cnd_named_text **at = &s->texts.first;

	while ((*at)->next != NULL)
		at = &(*at)->next;
	drop(s, at);
}

void
cnd_named_text_drop(struct cnd_serving *s, struct cnp_str name)
{
	struct cnd_named_text **at = &s->texts.first;

	while (*at != NULL && !has_name(*at, name))
		at = &(*at)->next;
	if (*at != NULL)
		drop(s, at);
}

void
cnd_named_text_keep(struct cnd_serving *s, struct cnp_str name, struct cnp_str sql)
{
	struct cnd_named_text *t;
	size_t size = sizeof(*t) + name.n + sql.n + 1;

	if (s->replay.max == 0)
		return;
	cnd_named_text_drop(s, name);
	t = size <= BYTES_MAX ? cnc_alloc(s->host.mem, size) : NULL;
	if (t == NULL)
		return;
	while (s->texts.first != NULL && s->texts.n_bytes + size > BYTES_MAX)
		drop_oldest(s);
	*t = (struct cnd_named_text){
		.next = s->texts.first, .n_name = name.n, .n_sql = sql.n
	};
	if (name.n > 0)
		memcpy(t->bytes, name.p, name.n);
	if (sql.n > 0)
		memcpy(t->bytes + name.n, sql.p, sql.n);
	t->bytes[name.n + sql.n] = '\0';
	s->texts.first = t;
	s->texts.n_bytes += size;
}

void
cnd_named_texts_forget(struct cnd_serving *s)
{
	while (s->texts.first != NULL)
		drop(s, &s->texts.first);
}

struct cnp_str
cnd_named_text(const struct cnd_serving *s, struct cnp_str name)
{
	const struct cnd_named_text *t = s->texts.first;

	while (t != NULL && !has_name(t, name))
		t = t->next;
	return t != NULL ? (struct cnp_str){ t->bytes + t->n_name, t->n_sql }
			 : CNP_STR_NONE;
}

/* ---- asking the server ---- */

static struct cnc_value
text_value(struct cnp_str text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text.p, .len = text.n
	};
}

int
cnd_named_text_holds(struct cnd_serving *s, struct cnp_str name)
{
	const char *question = s->backend->statements->named_question;
	struct cnp_str sql = cnd_named_text(s, name);
	const struct cnc_value values[] = { text_value(name), text_value(sql) };
	struct cnd_exec exec = { .params = values, .n_params = 2, .is_sync = 1 };
	struct cnd_quiet quiet;
	int r;

	/* the server lists no statement without a name */
	if (question == NULL || name.n == 0 || sql.n == 0)
		return CENOTE_ERR_STATE;
	cnd_quiet_init(&quiet, s->host.mem, &s->diag);
	r = cnd_quiet_synchronise(&quiet.sink, s->backend, s->session,
		s->backend->query(
			s->session, question, strlen(question), &exec, &quiet.sink));
	if (r >= 0 && quiet.n_rows != 1)
		r = CENOTE_ERR_STATE;
	cnd_quiet_finish(&quiet);
	return r;
}
