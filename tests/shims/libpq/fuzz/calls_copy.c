/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* COPY, by the new functions and the old, and notifications. */

#define LINE_MAX_ASKED 64

static const char *
say_piece(struct fz *z, uint32_t number)
{
	const char *piece = FZ_WORD(z, pieces, number);

	fz_say(z, " ");
	fz_say_text(z, piece);
	return piece;
}

void
fz_put_copy_data(struct fz *z, const uint32_t n[4])
{
	const char *piece = say_piece(z, n[1]);
	int len = (int)strlen(piece);

	if (n[2] % 30 == 0)
		len = -1;
	fz_gave_int(z, z->pq.f.PQputCopyData(z->at->conn, piece, len));
}

void
fz_put_copy_end(struct fz *z, const uint32_t n[4])
{
	const char *why = n[1] % 3 ? NULL : "given up";

	fz_gave_int(z, z->pq.f.PQputCopyEnd(z->at->conn, why));
}

/* Call PQgetCopyData() without blocking, until it returns something other than 0. */
static int
get_now(struct fz *z, PGconn *conn, char **ret_piece)
{
	int r = z->pq.f.PQgetCopyData(conn, ret_piece, 1);

	for (int i = 0; i < 500 && r == 0; i++) {
		struct pollfd p = { .fd = z->pq.f.PQsocket(conn), .events = POLLIN };

		(void)poll(&p, 1, 20);
		(void)z->pq.f.PQconsumeInput(conn);
		r = z->pq.f.PQgetCopyData(conn, ret_piece, 1);
	}
	return r;
}

void
fz_get_copy_data(struct fz *z, const uint32_t n[4])
{
	int times = n[1] % 3 ? 1 : 100;

	fz_say(z, "\n");
	z->at->is_line_lost |= z->at->is_line_left;
	for (int r = 1; r > 0 && times > 0; times--) {
		char *piece = NULL;

		r = n[2] % 2 ? z->pq.f.PQgetCopyData(z->at->conn, &piece, 0)
			     : get_now(z, z->at->conn, &piece);
		fz_say(z, "    %d ", r);
		fz_say_bytes(z, piece, r > 0 ? (size_t)r : 0);
		fz_say(z, "\n");
		z->pq.f.PQfreemem(piece);
	}
}

void
fz_getline(struct fz *z, const uint32_t n[4])
{
	char line[LINE_MAX_ASKED];
	int times = n[1] % 3 ? 1 : 100;
	int size = n[2] % 5 ? LINE_MAX_ASKED : (int)(n[2] / 5 % 6);

	fz_say(z, " size %d\n", size);
	for (int r = 0; r != EOF && times > 0; times--) {
		memset(line, '#', sizeof(line));
		line[sizeof(line) - 1] = '\0';
		r = z->pq.f.PQgetline(z->at->conn, line, size);
		z->at->is_line_left = r > 0;
		fz_say(z, "    %d ", r);
		fz_say_text(z, line);
		fz_say(z, "\n");
		if (strcmp(line, "\\.") == 0)
			break;
	}
}

void
fz_getline_async(struct fz *z, const uint32_t n[4])
{
	int size = n[2] % 4 ? LINE_MAX_ASKED : (int)(n[2] / 4 % 6);
	char line[LINE_MAX_ASKED];
	int r = z->pq.f.PQgetlineAsync(z->at->conn, line, size);

	for (int i = 0; i < 500 && r == 0 && size > 0; i++) {
		struct pollfd p = { .fd = z->pq.f.PQsocket(z->at->conn),
			.events = POLLIN };

		(void)poll(&p, 1, 20);
		(void)z->pq.f.PQconsumeInput(z->at->conn);
		r = z->pq.f.PQgetlineAsync(z->at->conn, line, size);
	}
	z->at->is_line_left = r == size;
	fz_say(z, " size %d -> %d ", size, r);
	fz_say_bytes(z, line, r > 0 ? (size_t)r : 0);
	fz_say(z, "\n");
}

void
fz_putline(struct fz *z, const uint32_t n[4])
{
	fz_gave_int(z, z->pq.f.PQputline(z->at->conn, say_piece(z, n[1])));
}

void
fz_putnbytes(struct fz *z, const uint32_t n[4])
{
	const char *piece = say_piece(z, n[1]);

	fz_gave_int(z, z->pq.f.PQputnbytes(z->at->conn, piece, (int)strlen(piece)));
}

void
fz_endcopy(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_gave_int(z, z->pq.f.PQendcopy(z->at->conn));
}

/* ---- notifications ---- */

static int
take_notifies(struct fz *z, PGconn *conn)
{
	PGnotify *notify;
	int n = 0;

	while ((notify = z->pq.f.PQnotifies(conn)) != NULL) {
		fz_say(z, "    notification ");
		fz_say_text(z, notify->relname);
		fz_say(z, " ");
		fz_say_text(z, notify->extra);
		fz_say(z, " %s\n",
			notify->be_pid == z->pq.f.PQbackendPID(conn) ? "own" : "other's");
		z->pq.f.PQfreemem(notify);
		n++;
	}
	return n;
}

void
fz_notifies(struct fz *z, const uint32_t n[4])
{
	(void)n;
	/* PQnotifies() looks only at what has arrived */
	if (z->at->conn != NULL)
		(void)fz_await(z, z->at);
	fz_say(z, "\n");
	(void)take_notifies(z, z->at->conn);
}

static int
is_idle(struct fz *z, PGconn *conn)
{
	return conn != NULL && z->pq.f.PQpipelineStatus(conn) == PQ_PIPELINE_OFF &&
	       z->pq.f.PQtransactionStatus(conn) == PQTRANS_IDLE;
}

/* Notify one connection from the other. The receiver has no request running. */
void
fz_notify_from_other(struct fz *z, const uint32_t n[4])
{
	PGconn *to = z->at->conn;
	PGconn *from = z->conns[z->at == z->conns].conn;
	int is_heard = 0;

	(void)n;
	if (!is_idle(z, to) || !is_idle(z, from)) {
		fz_say(z, " not idle\n");
		return;
	}
	z->pq.f.PQclear(z->pq.f.PQexec(to, "listen fz_other"));
	(void)take_notifies(z, to);
	z->pq.f.PQclear(z->pq.f.PQexec(from, "notify fz_other, 'hello'"));
	fz_say(z, "\n");
	for (int i = 0; i < 100 && !is_heard; i++) {
		struct pollfd p = { .fd = z->pq.f.PQsocket(to), .events = POLLIN };

		(void)poll(&p, 1, 100);
		if (!z->pq.f.PQconsumeInput(to))
			break;
		is_heard = take_notifies(z, to);
	}
}
