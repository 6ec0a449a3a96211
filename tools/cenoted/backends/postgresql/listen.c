/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LISTEN for clients that have no session. The worker asks on which channels a session listens, changes them, and sends marks:
 * notifications of its own that divide those before from those after. worker/listening.c and listening_marks.c call this file.
 */
#include "../common/text.h"
#include "code.h"
#include "session.h"

/* This byte separates two names in the answer. A channel whose name has it does not move. */
#define SEPARATOR      '\1'
/* A client with longer names, all together, keeps its session. The number has no suffix, since it also stands in the question. */
#define NAMES_MAX      4000
#define NAMES_MAX_TEXT STRING_OF(NAMES_MAX)

static const char question[] =
	"SELECT COALESCE(pg_catalog.sum(pg_catalog.octet_length(c)"
	" OPERATOR(pg_catalog.+) 1), 0) OPERATOR(pg_catalog.>) " NAMES_MAX_TEXT
	" OR COALESCE(pg_catalog.bool_or(pg_catalog.strpos(c, pg_catalog.chr(1))"
	" OPERATOR(pg_catalog.>) 0), false),"
	" CASE WHEN pg_catalog.sum(pg_catalog.octet_length(c)"
	" OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.<=) " NAMES_MAX_TEXT
	" THEN pg_catalog.string_agg(c, pg_catalog.chr(1)) ELSE '' END"
	" FROM pg_catalog.pg_listening_channels() c";

/* The listening session gets names and payloads in the encoding of the login, so the client must have the same encoding. */
static int
has_encoding_of_login(struct cnd_session *s)
{
	const struct cnd_pg_parameter *p = cnd_pg_parameter(s, "client_encoding");

	return p != NULL && p->at_login != NULL && strcmp(p->value, p->at_login) == 0;
}

/* Make a list of the names: each ends with a zero byte. */
static int
split(const char *answer, struct cnc_buf *ret_names)
{
	int r = CENOTE_OK;

	if (*answer == '\0')
		return r;
	for (; *answer != '\0' && r == CENOTE_OK; answer++) {
		/* in a session with another encoding, these bytes may be another name */
		if ((unsigned char)*answer >= 0x80)
			return CENOTE_ERR_UNSUPPORTED;
		r = cnc_buf_u8(ret_names, *answer == SEPARATOR ? 0 : (uint8_t)*answer);
	}
	return r < 0 ? r : cnc_buf_u8(ret_names, 0);
}

static int
ask(struct cnd_session *s, struct cnc_buf *ret_names)
{
	char answer[4 * NAMES_MAX + 1]; /* the client's encoding may need more bytes */
	uint8_t is_too_much;
	int r = cnd_pg_ask_more(s, question, &is_too_much, 1, answer, sizeof(answer));

	if (r < 0)
		return r;
	return is_too_much ? CENOTE_ERR_UNSUPPORTED : split(answer, ret_names);
}

static int
begin(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK && (s->tx != 'I' || s->sync.is_missing || s->sync.n_ready > 0))
		r = CENOTE_ERR_UNSUPPORTED;
	(void)cnd_pg_run_begin(s, sink);
	return r;
}

static int
end(struct cnd_session *s, int r)
{
	if (r == CENOTE_OK)
		r = s->run.status;
	(void)cnd_pg_run_begin(s, NULL);
	s->diag = NULL;
	return r;
}

int
cnd_pg_channels(struct cnd_session *s, struct cnc_buf *ret_names, struct cnd_sink *sink)
{
	int r = begin(s, sink);

	if (r == CENOTE_OK && !has_encoding_of_login(s))
		r = CENOTE_ERR_UNSUPPORTED;
	return end(s, r < 0 ? r : ask(s, ret_names));
}

/* Add a statement for each name: the verb and the quoted name. */
static void
add_each(struct cnd_text *t, const char *verb, struct cnp_str names)
{
	char sql[2 * CND_PG_NAME_MAX + 32];
	size_t len;

	for (size_t at = 0; at < names.n; at += len + 1) {
		len = strlen(names.p + at);
		if (len >= CND_PG_NAME_MAX) {
			t->r = CENOTE_ERR_UNSUPPORTED;
			return;
		}
		(void)cnd_quote_name(sql, verb, '"', names.p + at, len);
		cnd_text_add(t, sql);
		cnd_text_add(t, ";");
	}
}

/*
 * All statements are one transaction. NOTIFY writes a commit record. The commit does not wait for the disk, because after a crash
 * of the server nobody listens any more.
 */
static void
make_text(const struct cnd_channels *what, struct cnd_text *t)
{
	if (what->is_first)
		cnd_text_add(t, "RESET ROLE;RESET ALL;CLOSE ALL;DEALLOCATE ALL;");
	if (what->mark != NULL)
		cnd_text_add(t, "SET LOCAL synchronous_commit = off;");
	add_each(t, "UNLISTEN ", what->drop);
	add_each(t, "LISTEN ", what->add);
	if (what->mark == NULL)
		return;
	cnd_text_add(t, "NOTIFY ");
	cnd_text_add(t, what->channel);
	cnd_text_add(t, ",'");
	cnd_text_add(t, what->mark);
	cnd_text_add(t, "'");
}

int
cnd_pg_listen(
	struct cnd_session *s, const struct cnd_channels *what, struct cnd_sink *sink)
{
	struct cnd_text t = { .r = CENOTE_OK };
	int r = begin(s, sink);
	uint8_t nothing;

	cnc_buf_init(&t.b, s->mem, 65536);
	make_text(what, &t);
	if (r == CENOTE_OK)
		r = t.r < 0 ? t.r : cnc_buf_u8(&t.b, 0);
	if (r == CENOTE_OK) {
		s->client.is_used = 1;
		s->client.pins |= what->add.n > 0 ? CENOTE_PIN_LISTEN : 0;
		r = cnd_pg_ask(s, (const char *)cnc_buf_head(&t.b), &nothing, 0);
	}
	cnc_buf_finish(&t.b);
	return end(s, r);
}
