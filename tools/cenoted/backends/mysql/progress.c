/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices that tell the client how far the server is with a long statement, and whether another result follows.
 * wait.c and query.c call it. It has no state.
 */
#include <stdio.h>
#include <string.h>

#include "my.h"

#define FIELDS_MAX 1024u

static int
put(struct cnc_buf *fields, char letter, const char *text)
{
	return cnc_diag_put_field(fields, letter, text, strlen(text));
}

/* Write the fields of a notice: `told`, under the letter that says how to read it, and a text. */
static int
put_fields(
	struct cnc_buf *fields, char letter, const char *told, const char *text, size_t n)
{
	int r = put(fields, 'S', "INFO");

	if (r == CENOTE_OK)
		r = put(fields, 'V', "INFO");
	if (r == CENOTE_OK)
		r = put(fields, 'C', CNC_SQLSTATE(OK));
	if (r == CENOTE_OK)
		r = cnc_diag_put_field(fields, 'M', text, n);
	return r == CENOTE_OK ? put(fields, letter, told) : r;
}

static void
tell(struct cnd_session *s, char letter, const char *told, const char *text, size_t n)
{
	struct cnc_diag notice;
	struct cnc_buf fields;
	int r;

	if (!s->sink || !s->sink->ops->notice)
		return;
	cnc_diag_init(&notice, s->mem);
	cnc_buf_init(&fields, s->mem, FIELDS_MAX);
	r = put_fields(&fields, letter, told, text, n);
	if (r == CENOTE_OK)
		r = cnc_diag_set_fields(
			&notice, cnc_buf_head(&fields), cnc_buf_len(&fields));
	/* the code that waits for the answer finds out that a client is gone */
	if (r == CENOTE_OK)
		(void)s->sink->ops->notice(s->sink, &notice);
	cnc_buf_finish(&fields);
	cnc_diag_finish(&notice);
}

void
cnd_my_tell_progress(struct cnd_session *s, const struct cnd_my_progress *p)
{
	char far[48];

	if (!s->wants.progress)
		return;
	snprintf(far, sizeof(far), "%u %u %u", p->stage, p->n_stages, p->thousandths);
	tell(s, 'G', far, p->doing, p->n_doing);
}

void
cnd_my_tell_more(struct cnd_session *s)
{
	static const char text[] = "another result follows this one";

	if (s->wants.more && cnd_my_has_status_with_columns() &&
		(cnd_my_status(s->my) & CND_MY_STATUS_MORE))
		tell(s, 'K', "1", text, sizeof(text) - 1);
}
