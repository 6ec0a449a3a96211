/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/* COPY: PQputCopyData() and PQgetCopyData(), and the older functions such as PQgetline(). This file
 * owns conn->copy. */

void
cpq_copy_over(PGconn *conn)
{
	cenote_result_destroy(conn->copy.res);
	conn->copy.res = NULL;
	conn->copy.line_at = conn->copy.line.len;
	conn->async = CPQ_BUSY;
}

static int
is_copying(PGconn *conn, enum cpq_async way)
{
	if (conn == NULL)
		return 0;
	if (conn->async == way) {
		cpq_notices_tell(conn, &conn->notices);
		return cpq_enter(conn) == 0;
	}
	cpq_say(conn, "no COPY in progress");
	return 0;
}

int
cpq_PQputCopyData(PGconn *conn, const char *buffer, int nbytes)
{
	int r;

	if (!is_copying(conn, CPQ_COPY_IN))
		return -1;
	if (nbytes <= 0)
		return 1;
	while ((r = cenote_copy_put(conn->session, buffer, (size_t)nbytes)) ==
		CENOTE_AGAIN) {
		if (conn->is_nonblocking)
			return 0;
		if (cpq_wait(conn, 0) < 0)
			return -1;
	}
	/* The server takes no more data. After PQputCopyEnd(), PQgetResult() returns the reason. */
	if (r == CENOTE_OK || r == CENOTE_DONE) {
		cpq_trace_copy_data(conn, (size_t)nbytes);
		return 1;
	}
	cpq_say_failure(conn, r);
	return -1;
}

int
cpq_PQputCopyEnd(PGconn *conn, const char *errormsg)
{
	int r;

	if (!is_copying(conn, CPQ_COPY_IN))
		return -1;
	r = cenote_copy_end(conn->session, errormsg);
	if (r != CENOTE_OK && r != CENOTE_AGAIN) {
		cpq_say_failure(conn, r);
		return -1;
	}
	cpq_trace_copy_end(conn, 'F', errormsg);
	cpq_copy_over(conn);
	return cpq_PQflush(conn) < 0 ? -1 : 1;
}

/* Get the next piece. Returns its length; 0: none has come; -1: the copy has ended; -2: an error. */
static int
copy_piece(PGconn *conn, const char **ret_data, int is_async)
{
	size_t len = 0;
	int r;

	while ((r = cenote_copy_get(conn->session, ret_data, &len)) == CENOTE_AGAIN) {
		if (is_async)
			return 0;
		if (cpq_wait(conn, 0) < 0)
			return -2;
	}
	if (r == CENOTE_OK)
		return (int)len;
	if (r == CENOTE_DONE) {
		cpq_trace_copy_end(conn, 'B', NULL);
		cpq_copy_over(conn);
		return -1;
	}
	cpq_say_failure(conn, r);
	return -2;
}

/* Give the whole line again if PQgetline() or PQgetlineAsync() has read only a part of it. */
static int
unfinished_line(PGconn *conn, const char **ret_data)
{
	if (conn->copy.line_at >= conn->copy.line.len)
		return 0;
	conn->copy.line_at = conn->copy.line.len;
	*ret_data = conn->copy.line.data;
	return (int)conn->copy.line.len;
}

int
cpq_PQgetCopyData(PGconn *conn, char **buffer, int async)
{
	const char *data;
	int n;

	if (buffer != NULL)
		*buffer = NULL;
	if (!is_copying(conn, CPQ_COPY_OUT) || buffer == NULL)
		return -2;
	/* As in libpq, skip an empty piece. */
	do {
		n = unfinished_line(conn, &data);
		if (n == 0)
			n = copy_piece(conn, &data, async);
		if (n < 0 || (n == 0 && async))
			return n;
	} while (n == 0);
	*buffer = malloc((size_t)n + 1);
	if (*buffer == NULL) {
		cpq_say(conn, "out of memory");
		return -2;
	}
	memcpy(*buffer, data, (size_t)n);
	(*buffer)[n] = '\0';
	return n;
}

/* Make sure that conn->copy.line has bytes that were not taken yet. */
static int
fill_line(PGconn *conn, int is_async)
{
	const char *data;
	int n;

	if (conn->copy.line_at < conn->copy.line.len)
		return 1;
	if (conn->copy.line.data == NULL)
		initPQExpBuffer(&conn->copy.line);
	resetPQExpBuffer(&conn->copy.line);
	conn->copy.line_at = 0;
	n = copy_piece(conn, &data, is_async);
	if (n <= 0)
		return n;
	appendBinaryPQExpBuffer(&conn->copy.line, data, (size_t)n);
	return conn->copy.line.len > 0 ? 1 : -2;
}

static int
get_line(PGconn *conn, char *buffer, size_t size, int is_async)
{
	size_t n;
	int r = fill_line(conn, is_async);

	if (r <= 0)
		return r == 0 ? 0 : -1;
	n = conn->copy.line.len - conn->copy.line_at;
	if (n > size)
		n = size;
	memcpy(buffer, conn->copy.line.data + conn->copy.line_at, n);
	conn->copy.line_at += n;
	return (int)n;
}

int
cpq_PQgetline(PGconn *conn, char *string, int length)
{
	int n;

	if (string == NULL || length <= 0)
		return EOF;
	*string = '\0';
	if (length < 3 || conn == NULL)
		return EOF;
	if (conn->async != CPQ_COPY_OUT ||
		cenote_copy_format(conn->copy.res) == CENOTE_FORMAT_BINARY) {
		cpq_say(conn, "PQgetline: not doing text COPY OUT");
		return EOF;
	}
	n = get_line(conn, string, (size_t)length - 1, 0);
	if (n < 0) {
		/* PQgetline() reports the end of the copy as a line with "\.". */
		memcpy(string, "\\.", 3);
		return 0;
	}
	string[n] = '\0';
	if (n == 0 || string[n - 1] != '\n')
		return 1;
	string[n - 1] = '\0';
	return 0;
}

int
cpq_PQgetlineAsync(PGconn *conn, char *buffer, int bufsize)
{
	if (conn == NULL || conn->async != CPQ_COPY_OUT)
		return -1;
	return get_line(conn, buffer, bufsize > 0 ? (size_t)bufsize : 0, 1);
}

int
cpq_PQputnbytes(PGconn *conn, const char *buffer, int nbytes)
{
	return cpq_PQputCopyData(conn, buffer, nbytes) > 0 ? 0 : EOF;
}

int
cpq_PQputline(PGconn *conn, const char *string)
{
	return cpq_PQputnbytes(conn, string, (int)strlen(string));
}

int
cpq_PQendcopy(PGconn *conn)
{
	PGresult *res;
	int is_well;

	if (conn == NULL)
		return 0;
	if (conn->async != CPQ_COPY_IN && conn->async != CPQ_COPY_OUT) {
		cpq_say(conn, "no COPY in progress");
		return 1;
	}
	if (conn->async == CPQ_COPY_IN && cpq_PQputCopyEnd(conn, NULL) < 0)
		return 1;
	if (conn->async == CPQ_COPY_OUT)
		cpq_copy_over(conn);
	if (conn->is_nonblocking && cpq_PQisBusy(conn))
		return 1;
	res = cpq_PQgetResult(conn);
	is_well = cpq_PQresultStatus(res) == PGRES_COMMAND_OK;
	if (!is_well && conn->error.len > 0)
		cpq_notice_own(&conn->inherited, "%s", conn->error.data);
	cpq_PQclear(res);
	return is_well ? 0 : 1;
}
