/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * The public calls that move the data of a copy. Data of a copy in is collected in the session's
 * buffer, and written when there is enough of it. The program gets the data of a copy out piece by
 * piece, in the blocks in which it was received.
 */

/* A piece is sent in frames of at most this many bytes. */
#define FRAME_MAX 65536u
/* Write when this many bytes are queued … */
#define WRITE_MIN 32768u
/* … and take no more from the program when this many are queued. */
#define QUEUE_MAX 262144u
#define ERROR_MAX 4096u

/* Find the copy of that direction. CENOTE_OK: it is open; CENOTE_DONE: it has ended; or an error.
 * *ret_res is unchanged if the program has no such copy. */
static int
enter(cenote_conn *conn, uint8_t kind, cenote_result **ret_res)
{
	cenote_result *res;
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	res = conn->copy;
	if (!res || res->kind != kind)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			kind == CENOTE_RESULT_COPY_IN ? "no copy in is open"
						      : "no copy out is open");
	*ret_res = res;
	if (res->stream == CN_STREAM_COPY)
		return CENOTE_OK;
	if (res->stream != CN_STREAM_FAILED)
		return CENOTE_DONE;
	if (res->diag)
		cnc_diag_copy(&conn->diag.d, &res->diag->d);
	return res->status;
}

static int
has_room(const cenote_conn *conn)
{
	return !conn->copy || conn->copy->stream != CN_STREAM_COPY ||
	       cnp_client_copy_queued(&conn->session) < QUEUE_MAX;
}

/* Queue all of the data or nothing. */
static int
queue_data(cenote_conn *conn, const char *data, size_t len)
{
	size_t before = cnc_buf_len(&conn->session.copy);
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };
	size_t most = cn_piece_max(conn, FRAME_MAX);
	int r = CENOTE_OK;

	while (len > 0 && r == CENOTE_OK) {
		m.as.copy_data.data.p = data;
		m.as.copy_data.data.n = len < most ? len : most;
		r = cnp_client_copy(&conn->session, &m);
		data += m.as.copy_data.data.n;
		len -= m.as.copy_data.data.n;
	}
	if (r == CENOTE_OK)
		return r;
	cnc_buf_truncate(&conn->session.copy, before);
	return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
}

int
cenote_copy_put(cenote_conn *conn, const void *data, size_t len)
{
	cenote_result *res = NULL;
	int r = !data && len > 0 ? CENOTE_ERR_ARG
				 : enter(conn, CENOTE_RESULT_COPY_IN, &res);

	if (r == CENOTE_DONE && res && res->is_copy_ended)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the copy was ended by cenote_copy_end()");
	if (r == CENOTE_OK)
		r = cn_wait_for(conn, has_room);
	if (r != CENOTE_OK)
		return r;
	/* The copy may have ended during the wait. */
	r = enter(conn, CENOTE_RESULT_COPY_IN, &res);
	if (r == CENOTE_OK)
		r = queue_data(conn, data, len);
	if (r != CENOTE_OK || cnp_client_copy_queued(&conn->session) < WRITE_MIN)
		return r;
	/* Read as well: the server may have reported an error. */
	r = cn_advance(conn, cn_how_to_read(conn));
	return r < 0 && r != CENOTE_ERR_NOMEM ? r : CENOTE_OK;
}

int
cenote_copy_end(cenote_conn *conn, const char *error)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DONE };
	cenote_result *res = NULL;
	int r = enter(conn, CENOTE_RESULT_COPY_IN, &res);

	if (!res)
		return r;
	if (r == CENOTE_DONE) {
		res->is_copy_ended = 1;
		return CENOTE_OK;
	}
	if (r != CENOTE_OK)
		return r;
	if (error) {
		m.code = CNP_MSG_COPY_FAIL;
		m.as.copy_fail.message.p = error;
		m.as.copy_fail.message.n = cnc_utf8_cut(error, strlen(error), ERROR_MAX);
	}
	r = cnp_client_copy(&conn->session, &m);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
	res->stream = CN_STREAM_COPIED;
	res->is_copy_ended = 1;
	r = cn_push(conn);
	/* The copy was ended. A problem that will pass is reported when the program takes the result. */
	return cenote_status_is_fatal(r) ? r : CENOTE_OK;
}

static int
has_piece(const cenote_conn *conn)
{
	const cenote_result *res = conn->copy;

	return !res || res->piece_at < res->n_pieces || res->stream != CN_STREAM_COPY;
}

int
cenote_copy_get(cenote_conn *conn, const char **ret_data, size_t *ret_len)
{
	cenote_result *res = NULL;
	int r = ret_data && ret_len ? enter(conn, CENOTE_RESULT_COPY_OUT, &res)
				    : CENOTE_ERR_ARG;

	if (!res)
		return r;
	if (r == CENOTE_OK) {
		r = cn_wait_for(conn, has_piece);
		/* If the session was lost, its streams have failed and report the
		 * error. */
		if (r == CENOTE_AGAIN || (r < 0 && res->stream != CN_STREAM_FAILED))
			return r;
	}
	if (res->piece_at == res->n_pieces)
		return enter(conn, CENOTE_RESULT_COPY_OUT, &res);
	cnc_block_unref(res->piece.block);
	res->piece = res->pieces[res->piece_at++];
	*ret_data = res->piece.data.p;
	*ret_len = res->piece.data.n;
	return CENOTE_OK;
}
