/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY in both directions. It passes data between the client and the server, and stores none. run.c calls this file
 * when the server says that a copy begins. It has no state of its own.
 */
#include <fcntl.h>

#include "session.h"

/* How much data is collected before it is sent. */
#define SEND_BYTES 65536u

static struct cnd_pg_run *
run_of(struct cnd_session *s)
{
	return &s->run;
}

/* Read a CopyInResponse or CopyOutResponse: u8 format, u16 n, then n times u16. The caller frees *ret_formats, an
 * array of CENOTE_FORMAT_…. */
static int
read_response(struct cnd_session *s, const struct cnd_pg_msg *m, uint8_t *ret_format,
	uint8_t **ret_formats, uint32_t *ret_n)
{
	struct cnd_pg_reader r;
	uint8_t *formats;
	uint8_t format;
	uint32_t n;

	cnd_pg_reader_init(&r, m);
	format = cnd_pg_read_u8(&r);
	n = cnd_pg_read_count(&r);
	if (r.bad || format > 1 || m->len != 3 + (size_t)2 * n)
		return cnd_pg_broken(s, "a malformed CopyResponse");
	formats = cnc_calloc(s->mem, n + 1, 1);
	if (formats == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		formats[i] = cnd_pg_read_u16(&r) != 0 ? CENOTE_FORMAT_BINARY
						      : CENOTE_FORMAT_TEXT;
	*ret_format = format != 0 ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_TEXT;
	*ret_formats = formats;
	*ret_n = n;
	return CENOTE_OK;
}

static void
fail(struct cnd_session *s, int r)
{
	if (s->run.status == CENOTE_OK)
		s->run.status = r;
}

int
cnd_pg_copy_out(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = run_of(s);
	struct cnp_copy_out out = { 0 };
	uint8_t *formats;
	uint32_t n;
	int r = read_response(s, m, &out.format, &formats, &n);

	if (r == CENOTE_ERR_CONN)
		return r;
	if (r == CENOTE_OK) {
		out.formats = (struct cnp_str){ (const char *)formats, n };
		if (run->sink != NULL && run->status == CENOTE_OK)
			r = run->sink->ops->copy_out(run->sink, &out);
		cnc_free(s->mem, formats);
	}
	if (r < 0) {
		fail(s, r);
		cnd_pg_stop(s, r);
	}
	return CENOTE_OK;
}

/* ---- in ---- */

static int
add_data(struct cnd_session *s, struct cnp_str data)
{
	size_t mark;
	int r = CENOTE_OK;

	while (data.n > 0 && r == CENOTE_OK) {
		size_t n = data.n < SEND_BYTES ? data.n : SEND_BYTES;

		r = cnd_pg_msg_begin(&s->out.buf, 'd', &mark);
		if (r == CENOTE_OK)
			r = cnc_buf_append(&s->out.buf, data.p, n);
		if (r == CENOTE_OK)
			r = cnd_pg_msg_end(&s->out.buf, mark);
		data.p += n;
		data.n -= n;
		if (r == CENOTE_OK && cnc_buf_len(&s->out.buf) >= SEND_BYTES)
			r = cnd_pg_send(s);
	}
	return r;
}

/* Read what the server sends while it gets data. CENOTE_OK: no error came; CENOTE_DONE: *ret_msg is
 * an error; negative. */
static int
look_at_server(struct cnd_session *s, struct cnd_pg_msg *ret_msg)
{
	int r;

	while ((r = cnd_pg_poll(s, ret_msg)) == CENOTE_OK) {
		r = cnd_pg_async(s, ret_msg, s->run.sink);
		if (r == CENOTE_AGAIN)
			return ret_msg->type == 'E'
				       ? CENOTE_DONE
				       : cnd_pg_broken(
						 s, "an answer in the middle of a copy");
		if (r < 0)
			return r;
	}
	return r < 0 ? r : CENOTE_OK;
}

/* A descriptor that is always readable; -1: it could not be opened. */
static int
ready_fd(struct cnd_session *s)
{
	if (s->ready_fd <= 0)
		s->ready_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return s->ready_fd;
}

/* Send all of the client's data. CENOTE_DONE; CENOTE_AGAIN: the server sent *ret_error; negative. */
static int
feed(struct cnd_session *s, struct cnd_pg_msg *ret_error)
{
	struct cnd_sink *sink = s->run.sink;
	struct cnp_str data;
	int r;

	for (;;) {
		r = look_at_server(s, ret_error);
		if (r == CENOTE_DONE)
			return CENOTE_AGAIN;
		if (r < 0)
			return r;
		/* While collected data is not sent, do not wait for the client: ready_fd() ends that wait. */
		r = sink->ops->copy_read(
			sink, cnc_buf_len(&s->out.buf) > 0 ? ready_fd(s) : s->fd, &data);
		if (r == CENOTE_OK || r == CENOTE_DONE) {
			int q = add_data(s, data);

			if (q < 0)
				return q;
		}
		if (r == CENOTE_AGAIN && cnc_buf_len(&s->out.buf) > 0)
			r = cnd_pg_send(s);
		if (r == CENOTE_DONE || r < 0)
			return r;
	}
}

/* Add a CopyFail with the client's reason, which the server repeats in its error. */
static int
give_up(struct cnd_session *s, int status)
{
	const char *why = "the client went away";
	size_t len;

	if (status == CENOTE_ERR_SERVER && s->diag != NULL && s->diag->message[0] != 0)
		why = s->diag->message;
	else if (status == CENOTE_ERR_NOMEM)
		why = "out of memory";
	len = strlen(why);
	/* If the client gave up, its data is still sent: the server may report an error in that data first. */
	if (status != CENOTE_ERR_SERVER) {
		cnc_buf_clear(&s->out.buf, SIZE_MAX);
		fail(s, status);
	}
	return cnd_pg_add_query(&s->out.buf, 'f', why, len);
}

/* Whether a Sync went along with Execute, because the SQL did not show a copy. The server skips that Sync
 * unless it failed before it read the data. */
static int
is_passed_over(const struct cnd_pg_run *run)
{
	return !run->is_simple && run->until_ready;
}

static int
end_copy(struct cnd_session *s)
{
	struct cnd_pg_run *run = &s->run;
	int r = CENOTE_OK;

	if (is_passed_over(run)) {
		r = cnd_pg_add_plain(&s->out.buf, 'S');
	} else if (run->syncs_at_end) {
		run->syncs_at_end = 0;
		r = cnd_pg_add_end(s, 1);
	} else if (!run->is_simple) {
		r = cnd_pg_add_plain(&s->out.buf, 'H');
	}
	return r < 0 ? r : cnd_pg_send(s);
}

int
cnd_pg_copy_in(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_run *run = run_of(s);
	struct cnp_copy_in in = { .name = CNP_STR_NONE };
	struct cnd_pg_msg error;
	uint8_t *formats = NULL;
	uint32_t n = 0;
	int r = read_response(s, m, &in.format, &formats, &n);

	if (r == CENOTE_ERR_CONN)
		return r;
	in.formats = (struct cnp_str){ (const char *)formats, n };
	if (r == CENOTE_OK && run->sink == NULL)
		r = CENOTE_ERR_CONN;
	if (r == CENOTE_OK)
		r = run->status < 0 ? run->status
				    : run->sink->ops->copy_in(run->sink, &in);
	cnc_free(s->mem, formats);
	run->has_copied = 1;
	s->sync.is_doubtful |= (uint8_t)is_passed_over(run);
	if (r == CENOTE_OK)
		r = feed(s, &error);
	if (s->is_lost)
		return CENOTE_ERR_CONN;
	if (r == CENOTE_AGAIN) {
		int wants_sync = is_passed_over(run);

		/* The server skips everything up to a Sync, so drop what is not sent. */
		cnc_buf_clear(&s->out.buf, SIZE_MAX);
		r = cnd_pg_handle(s, &error);
		if (r != CENOTE_OK || !wants_sync)
			return r;
		r = cnd_pg_add_plain(&s->out.buf, 'S');
		return r < 0 ? r : cnd_pg_send(s);
	}
	r = r == CENOTE_DONE ? cnd_pg_add_plain(&s->out.buf, 'c') : give_up(s, r);
	if (r < 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(NO_MEMORY), "no memory to end a copy");
	return end_copy(s);
}
