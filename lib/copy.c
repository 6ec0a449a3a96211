/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * Results of kind COPY_IN and COPY_OUT. Such a result stands for an open copy, is linked with the
 * connection like a stream, and ends with the copy. The statement's own result follows it. event.c
 * begins the copy and adds received data; copy_data.c moves the data.
 *
 * Received data stays in the received blocks, and nothing more is read while a piece waits for the
 * program.
 */

int
cn_copy_begin(cenote_result *res, uint8_t format, const struct cnp_str *formats,
	const struct cnp_str *file)
{
	res->copy_format = format;
	res->stream = CN_STREAM_COPY;
	if (formats->n > 0) {
		res->copy_formats = cnc_strndup(&res->mem, formats->p, formats->n);
		if (!res->copy_formats)
			return CENOTE_ERR_NOMEM;
		res->n_copy_formats = (uint32_t)formats->n;
	}
	if (file && file->n > 0) {
		res->copy_file = cnc_strndup(&res->mem, file->p, file->n);
		if (!res->copy_file)
			return CENOTE_ERR_NOMEM;
	}
	return CENOTE_OK;
}

int
cn_copy_add(cenote_result *res, const struct cnp_event *ev)
{
	struct cn_piece *pieces;
	size_t cap = res->cap_pieces > 0 ? res->cap_pieces * 2 : 4;

	if (res->piece_at == res->n_pieces)
		res->piece_at = res->n_pieces = 0;
	if (res->n_pieces == res->cap_pieces) {
		pieces = cnc_calloc(&res->mem, cap, sizeof(*pieces));
		if (!pieces)
			return CENOTE_ERR_NOMEM;
		if (res->n_pieces > 0)
			memcpy(pieces, res->pieces, res->n_pieces * sizeof(*pieces));
		cnc_free(&res->mem, res->pieces);
		res->pieces = pieces;
		res->cap_pieces = cap;
	}
	res->pieces[res->n_pieces].block = cnc_block_ref(ev->block);
	res->pieces[res->n_pieces++].data = ev->msg.as.copy_data.data;
	return CENOTE_OK;
}

void
cn_copy_finish(cenote_result *res)
{
	while (res->piece_at < res->n_pieces)
		cnc_block_unref(res->pieces[res->piece_at++].block);
	cnc_block_unref(res->piece.block);
	cnc_free(&res->mem, res->pieces);
	cnc_free(&res->mem, res->copy_formats);
	cnc_free(&res->mem, res->copy_file);
}

void
cn_copy_give_up(cenote_conn *conn, const char *why)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_FAIL };

	m.as.copy_fail.message = cnp_str(why);
	if (cnp_client_copy(&conn->session, &m) == CENOTE_OK)
		return;
	/* A COPY_FAIL without a message always fits: memory and room in a frame are reserved. */
	m.as.copy_fail.message = CNP_STR_NONE;
	(void)cnp_client_copy(&conn->session, &m);
}

size_t
cn_piece_max(const cenote_conn *conn, size_t most)
{
	size_t n = conn->session.peer_max_frame;

	/* Each piece is too long for a pool that accepts almost nothing: let the pool report that. */
	if (n <= CN_PIECE_OVERHEAD)
		return most;
	return n - CN_PIECE_OVERHEAD < most ? n - CN_PIECE_OVERHEAD : most;
}

int
cenote_copy_format(const cenote_result *res)
{
	return cn_is_copy(res) ? res->copy_format : -1;
}

uint32_t
cenote_copy_n_columns(const cenote_result *res)
{
	return res ? res->n_copy_formats : 0;
}

int
cenote_copy_column_format(const cenote_result *res, uint32_t col)
{
	if (col >= cenote_copy_n_columns(res))
		return -1;
	return (unsigned char)res->copy_formats[col];
}

const char *
cenote_copy_file(const cenote_result *res)
{
	return res && res->copy_file ? res->copy_file : "";
}
