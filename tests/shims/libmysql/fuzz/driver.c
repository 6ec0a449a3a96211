/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * driver LIBRARY SOCKET
 *
 * Reads sequences (struct fz_sequence) from its standard input, carries each out with that client library, and
 * writes what it saw to its standard output: the length in four bytes, then the text.
 */

#include "driver.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FZ_POINTER(name, weight) fz_##name,
static const char *const names[] = { FZ_CALLS(FZ_NAME) };
static fz_carry_out *const functions[] = { FZ_CALLS(FZ_POINTER) };

int
fz_wait(struct fz *z, int wants)
{
	struct pollfd p = { .fd = z->at->my->net.fd };
	int r, came = 0;

	p.events = (short)((wants & MYSQL_WAIT_READ ? POLLIN : 0) |
			   (wants & MYSQL_WAIT_WRITE ? POLLOUT : 0));
	r = poll(&p, 1, 10000);
	if (r == 0)
		return MYSQL_WAIT_TIMEOUT;
	came |= p.revents & (POLLIN | POLLHUP | POLLERR) ? MYSQL_WAIT_READ : 0;
	came |= p.revents & POLLOUT ? MYSQL_WAIT_WRITE : 0;
	return came & wants ? came & wants : wants;
}

/* The original reports the number of warnings before a statement's rows, the shim does not. Note
 * whether the numbers can be compared. */
static void
note_warnings(struct fz *z, unsigned call, int had_stmt_rows)
{
	const MYSQL *my = z->at->my;
	const MYSQL_STMT *stmt = z->stmt->stmt;
	int is_told = call == FZ_query || call == FZ_read_query_result ||
		      call == FZ_connect ||
		      (call == FZ_stmt_store_result && had_stmt_rows);
	int has_cursor = (call == FZ_stmt_execute || call == FZ_stmt_direct) &&
			 stmt != NULL && (stmt->flags & CURSOR_TYPE_READ_ONLY);

	if (my == NULL)
		return;
	if (is_told && my->net.last_errno == 0)
		z->at->is_streamed = 0;
	if (has_cursor || my->status == FZ_STMT_ROWS)
		z->at->is_streamed = 1;
}

/* A statement that is reset, or fails to be prepared again, takes over the connection's number of
 * warnings. */
static void
note_stmt_warnings(struct fz *z, unsigned call, int was_streamed, int was_prepared)
{
	struct fz_stmt *s = z->stmt;
	int is_failed = s->stmt != NULL && z->f.mysql_stmt_errno(s->stmt) != 0;

	if (call == FZ_stmt_reset ||
		(call == FZ_stmt_prepare && is_failed && was_prepared))
		s->is_streamed = was_streamed;
	else if (!is_failed && (call == FZ_stmt_prepare || call == FZ_stmt_execute ||
				       call == FZ_stmt_next_result))
		s->is_streamed = 0;
}

/* Whether the statement has run without an error. Otherwise the unread results belong to an
 * earlier statement. */
static int
has_run_well(const struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->stmt != NULL && s->sql != NULL && z->f.mysql_stmt_errno(s->stmt) == 0;
}

/* Note to which statement the unread rows belong. */
static void
note_reader(struct fz *z, unsigned call)
{
	struct fz_conn *c = z->at;
	int is_run = call == FZ_stmt_execute || call == FZ_stmt_direct ||
		     call == FZ_stmt_next_result;
	int is_ready = c->my == NULL || c->my->status == MYSQL_STATUS_READY;

	if (is_ready && (c->my == NULL || !z->f.mysql_more_results(c->my)))
		c->is_calls = 0;
	else if (is_run && call != FZ_stmt_next_result && has_run_well(z))
		c->is_calls = strncmp(z->stmt->sql, "call", 4) == 0;
	if (is_run && has_run_well(z)) {
		if (!is_ready && c->reader != NULL)
			c->reader->is_robbed = 1;
		z->stmt->is_robbed = 0;
		c->reader = z->stmt;
	}
	if (is_ready || c->my->status != FZ_STMT_ROWS)
		c->reader = NULL;
}

static void
carry_out(struct fz *z, const struct fz_step *step)
{
	int had_stmt_rows, was_streamed, was_prepared;
	const char *why;

	/* mostly use the first connection, statement and result; few calls need the second */
	z->at = &z->conns[step->n[0] % 16 == 15];
	z->stmt = &z->at->stmts[step->n[0] / 16 % 6 == 5];
	z->result = &z->at->results[step->n[0] / 128 % 6 == 5];
	z->is_async = z->at->is_async && step->n[0] / 1024 % 3 != 0;
	fz_say(z, "%s %d%s", names[step->call], (int)(z->at - z->conns),
		z->is_async ? " async" : "");
	why = fz_is_known(z, step);
	if (why != NULL) {
		fz_say(z, " left out: %s\n", why);
	} else {
		had_stmt_rows = z->at->my != NULL && z->at->my->status == FZ_STMT_ROWS;
		was_streamed = z->at->is_streamed;
		was_prepared =
			z->stmt->stmt != NULL && z->stmt->stmt->state >= FZ_PREPARED;
		functions[step->call](z, step->n);
		note_warnings(z, step->call, had_stmt_rows);
		note_stmt_warnings(z, step->call, was_streamed, was_prepared);
		note_reader(z, step->call);
	}
	for (unsigned i = 0; i < FZ_CONNS; i++)
		fz_show_conn(z, &z->conns[i]);
}

/* Results and statements may outlive their connection. */
static void
end(struct fz *z, uint32_t number)
{
	z->is_async = 0;
	for (unsigned i = 0; i < FZ_CONNS; i++) {
		struct fz_conn *c = &z->conns[i];

		z->at = c;
		/* with unread rows of a query the original waits for ever, or crashes */
		if (number % 2 || (c->my != NULL && c->my->status != MYSQL_STATUS_READY))
			fz_close_conn(z, c);
		for (unsigned k = 0; k < FZ_RESULTS; k++)
			fz_drop_result(z, &c->results[k]);
		for (unsigned k = 0; k < FZ_STMTS; k++)
			fz_close_stmt(z, &c->stmts[k]);
		fz_close_conn(z, c);
		c->next_result = 0;
	}
}

static void
run(struct fz *z, const struct fz_sequence *seq)
{
	char *text = NULL;
	size_t size = 0;

	z->out = open_memstream(&text, &size);
	if (z->out == NULL)
		abort();
	for (uint32_t i = 0; i < seq->n; i++)
		carry_out(z, &seq->steps[i]);
	end(z, seq->n);
	fclose(z->out);
	fz_write_answer(text, size);
	free(text);
}

int
main(int argc, char **argv)
{
	static struct fz z;
	static struct fz_sequence seq;

	if (argc != 3)
		return 2;
	/* a write to a lost connection must return EPIPE, as in most programs */
	signal(SIGPIPE, SIG_IGN);
	cnt_library_open(&z.f, argv[1]);
	z.socket = argv[2];
	z.is_elsewhere = getenv("FZ_ELSEWHERE") != NULL;
	while (fz_read_sequence(&seq))
		run(&z, &seq);
	return 0;
}
