/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "my.h"

#define FIELDS_MAX 1024u

static int
put(struct cnc_buf *fields, char letter, const char *text)
{
	return cnc_diag_put_field(fields, letter, text, strlen(text));
}

/* What the server does, and how far it is, as the fields of a notice. */
static int
put_fields(struct cnc_buf *fields, const struct cnd_my_progress *p)
{
	char far[48];
	int r = put(fields, 'S', "INFO");

	snprintf(far, sizeof(far), "%u %u %u", p->stage, p->n_stages, p->thousandths);
	if (r == CENOTE_OK)
		r = put(fields, 'V', "INFO");
	if (r == CENOTE_OK)
		r = put(fields, 'C', CNC_SQLSTATE(OK));
	if (r == CENOTE_OK)
		r = cnc_diag_put_field(fields, 'M', p->doing, p->n_doing);
	return r == CENOTE_OK ? put(fields, 'G', far) : r;
}

void
cnd_my_tell_progress(struct cnd_session *s, const struct cnd_my_progress *p)
{
	struct cnc_diag notice;
	struct cnc_buf fields;
	int r;

	if (!s->wants_progress || !s->sink || !s->sink->ops->notice)
		return;
	cnc_diag_init(&notice, s->mem);
	cnc_buf_init(&fields, s->mem, FIELDS_MAX);
	r = put_fields(&fields, p);
	if (r == CENOTE_OK)
		r = cnc_diag_set_fields(
			&notice, cnc_buf_head(&fields), cnc_buf_len(&fields));
	/* a client that is gone is found out where the answer is waited for */
	if (r == CENOTE_OK)
		(void)s->sink->ops->notice(s->sink, &notice);
	cnc_buf_finish(&fields);
	cnc_diag_finish(&notice);
}
