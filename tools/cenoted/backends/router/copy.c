/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies between the client and a target. result.c calls this file, which owns nothing. */
#include <string.h>

#include "backends/common/answer.h"
#include "router.h"

/* Get the formats of the columns, one byte for each. The caller frees them. CENOTE_OK or CENOTE_ERR_NOMEM. */
static int
get_formats(struct cnd_session *s, const cenote_result *res, struct cnp_str *ret_formats)
{
	uint32_t n = cenote_copy_n_columns(res);
	char *formats = cnc_alloc(s->mem, n + 1u);

	if (formats == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		formats[i] = (char)cenote_copy_column_format(res, i);
	formats[n] = '\0';
	*ret_formats = (struct cnp_str){ formats, n };
	return CENOTE_OK;
}

/* Give a piece to the target. CENOTE_DONE: the target has ended the copy. */
static int
put(struct cnd_session *s, struct cnp_str data, struct cnc_diag *diag)
{
	int r;

	CND_RT_AWAIT(r, s, s->at, cenote_copy_put(s->at->conn, data.p, data.n));
	return r < 0 ? cnd_rt_fail(s, s->at, r, diag) : r;
}

/* Pass the client's data on. CENOTE_OK: the copy has ended, and the next result says how. */
static int
pass_pieces(struct cnd_session *s, struct cnd_sink *sink)
{
	cenote_conn *conn = s->at->conn;
	struct cnp_str data;
	int r;

	for (;;) {
		r = sink->ops->copy_read(sink, cenote_fd(conn), &data);
		if (r == CENOTE_AGAIN) {
			/* the target has sent something: the answer to an empty piece says whether it ended the copy */
			if (cenote_process(conn) < 0)
				return cnd_rt_fail(s, s->at, CENOTE_ERR_CONN, sink->diag);
			data = (struct cnp_str){ "", 0 };
			r = CENOTE_OK;
		}
		if (r == CENOTE_OK)
			r = put(s, data, sink->diag);
		else if (r == CENOTE_DONE)
			r = cenote_copy_end(conn, NULL) < 0 ? CENOTE_ERR_CONN
							    : CENOTE_DONE;
		else
			return r;
		if (r != CENOTE_OK)
			return r == CENOTE_DONE ? CENOTE_OK : r;
	}
}

int
cnd_rt_copy_in(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink)
{
	struct cnp_copy_in m = { .format = (uint8_t)cenote_copy_format(res),
		.name = cnp_str(cenote_copy_file(res)) };
	int r = get_formats(s, res, &m.formats);
	void *formats = (void *)(uintptr_t)m.formats.p;

	if (r < 0)
		return r;
	r = sink->ops->copy_in(sink, &m);
	cnc_free(s->mem, formats);
	if (r == CENOTE_OK)
		r = pass_pieces(s, sink);
	/* the client gave up: tell the target, whose own error is the outcome */
	if (r == CENOTE_ERR_SERVER) {
		char why[CNC_DIAG_MESSAGE_MAX];

		memcpy(why, sink->diag->message, sizeof(why));
		cnc_diag_clear(sink->diag);
		return cenote_copy_end(s->at->conn, why) < 0 ? CENOTE_ERR_CONN
							     : CENOTE_OK;
	}
	return r;
}

int
cnd_rt_copy_out(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink)
{
	struct cnp_copy_out m = { .format = (uint8_t)cenote_copy_format(res) };
	int r = get_formats(s, res, &m.formats);
	void *formats = (void *)(uintptr_t)m.formats.p;
	const char *data;
	size_t len;

	if (r < 0)
		return r;
	r = sink->ops->copy_out(sink, &m);
	cnc_free(s->mem, formats);
	while (r == CENOTE_OK) {
		CND_RT_AWAIT(r, s, s->at, cenote_copy_get(s->at->conn, &data, &len));
		if (r == CENOTE_DONE)
			return sink->ops->copy_done(sink);
		if (r < 0)
			return cnd_rt_fail(s, s->at, r, sink->diag);
		r = sink->ops->copy_data(sink, data, len);
	}
	return r;
}
