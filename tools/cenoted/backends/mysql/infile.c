/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LOAD DATA LOCAL INFILE: the server asks for a file of the client. The library calls these functions while it
 * reads the statement's answer. The bytes come from the client of the pool, which decides whether to send any.
 */
#include <stdio.h>
#include <string.h>

#include "my.h"

static int
begin_file(void **ret_info, const char *name, void *user)
{
	struct cnd_session *s = user;
	struct cnp_copy_in m = { .format = CENOTE_FORMAT_TEXT,
		.formats = CNP_STR_NONE,
		.name = cnp_str(name) };

	*ret_info = s;
	s->infile = (struct cnd_my_infile){ .status = CENOTE_OK };
	if (!s->sink || !s->sink->ops->copy_in)
		s->infile.status = CENOTE_ERR_UNSUPPORTED;
	else
		s->infile.status = s->sink->ops->copy_in(s->sink, &m);
	return s->infile.status < 0;
}

static int
read_file(void *info, char *room, unsigned max)
{
	struct cnd_session *s = info;
	struct cnd_my_infile *f = &s->infile;
	size_t n;

	while (f->piece.n == 0) {
		if (f->has_ended)
			return 0;
		f->status = s->sink->ops->copy_read(s->sink, cnd_my_fd(s), &f->piece);
		if (f->status == CENOTE_DONE) {
			f->has_ended = 1;
		} else if (f->status != CENOTE_OK) {
			/* The library now sends the packet that ends the file. That must not commit half of the
			 * file. */
			cnd_my_cancel(s);
			return -1;
		}
	}
	n = f->piece.n < max ? f->piece.n : max;
	memcpy(room, f->piece.p, n);
	f->piece.p += n;
	f->piece.n -= n;
	return (int)n;
}

static void
end_file(void *info)
{
	(void)info;
}

static int
say_why(void *info, char *room, unsigned max)
{
	const struct cnd_session *s = info;
	const char *why = s && s->diag ? s->diag->message : "";

	snprintf(room, max, "%s", *why ? why : "the client did not send the file");
	return CR_UNKNOWN_ERROR;
}

void
cnd_my_infile_init(struct cnd_session *s)
{
	mysql_set_local_infile_handler(
		s->my, begin_file, read_file, end_file, say_why, s);
}
