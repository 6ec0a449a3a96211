/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The module cenote-loan.so on a real server. The test plays the worker: it logs in with the backend's module, lends
 * the session, and makes the page. It also plays libcenote: it moves the bytes of a client's end of the protocol. It needs
 * PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "loan.h"
#include "protocol/loan.h"
#include "protocol/session_client.h"
#include "support/cnt_alloc.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct fixture {
	struct pg pg; /* the lender's session */
	const struct cn_loan_ops *ops;
	const struct cenote_allocator *mem;
	struct cn_loan *loan;
	int server; /* the server's socket */
	struct cnp_loan *page;
	struct cnp_client client;
	size_t piece; /* bytes of each write */
	size_t room; /* bytes of each read */
	char text[8192]; /* what the last request gave */
	size_t len;
	unsigned n_rows;
	size_t largest; /* the longest output that waited for read() */
	bool has_ended; /* read() said so */
};

/* ---- the worker's part ---- */

static int
make_page_fd(int seals, size_t size)
{
	int fd = memfd_create("loan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void
put_attached(struct cnc_buf *facts, const char *backend)
{
	struct cnp_msg m = { .code = CNP_MSG_ATTACHED,
		.as.attached = { .session = 7,
			.key = 8,
			.features = CNP_FEATURE_SUSPEND | CNP_FEATURE_TRANSACTIONS,
			.pool = cnp_str("shop"),
			.backend = cnp_str(backend),
			.server = cnp_str("db1"),
			.server_version = cnp_str("15"),
			.database = cnp_str("app"),
			.user = cnp_str("joe") } };
	struct cnc_buf payload, pairs;

	cnc_buf_init(&payload, &cnc_mem_default, 4096);
	cnc_buf_init(&pairs, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&pairs, "TimeZone", "UTC"));
	m.as.attached.parameters = (struct cnp_str){ (const char *)cnc_buf_head(&pairs),
		cnc_buf_len(&pairs) };
	assert_ok(cnp_msg_encode(&payload, &m));
	assert_ok(cnc_buf_str(facts, cnc_buf_head(&payload), cnc_buf_len(&payload)));
	cnc_buf_finish(&payload);
	cnc_buf_finish(&pairs);
}

/* Fill the page as a worker does. Returns the descriptor; *ret_server: a duplicate of the lent socket. */
static int
lend(struct fixture *f, const char *backend, int *ret_server)
{
	int fd = make_page_fd(SEALS, CNP_LOAN_SIZE), server;
	struct cnc_buf facts, own;
	uint8_t max_row[8];

	cnc_buf_init(&facts, &cnc_mem_default, 32768);
	cnc_buf_init(&own, &cnc_mem_default, 16384);
	put_attached(&facts, backend);
	assert_ok(f->pg.base.b->lend(f->pg.base.s, &own, &server, &f->pg.base.diag));
	cnc_put_u64(max_row, 1 << 20);
	assert_ok(cnc_buf_append(&facts, max_row, sizeof(max_row)));
	assert_ok(cnc_buf_str(&facts, cnc_buf_head(&own), cnc_buf_len(&own)));
	f->page = mmap(NULL, CNP_LOAN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(f->page != MAP_FAILED);
	f->page->version = CNP_LOAN_VERSION;
	f->page->facts_len = (uint32_t)cnc_buf_len(&facts);
	memcpy(f->page->facts, cnc_buf_head(&facts), cnc_buf_len(&facts));
	cnc_buf_finish(&facts);
	cnc_buf_finish(&own);
	*ret_server = dup(server);
	assert_true(*ret_server >= 0);
	return fd;
}

static void
unmap_page(struct fixture *f)
{
	if (f->page != NULL)
		assert_int_equal(munmap(f->page, CNP_LOAN_SIZE), 0);
	f->page = NULL;
}

/* ---- libcenote's part ---- */

static int
try_open(struct fixture *f)
{
	int fd = lend(f, "postgresql", &f->server);
	int r = f->ops->open(f->mem, f->server, fd, &f->loan);

	if (r < 0) {
		close(fd);
		close(f->server);
	}
	return r;
}

__attribute__((format(printf, 2, 3))) static void
say(struct fixture *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	f->len += (size_t)vsnprintf(
		f->text + f->len, sizeof(f->text) - f->len, format, args);
	va_end(args);
	assert_true(f->len < sizeof(f->text));
}

/* Write what the client has to send. 1: some of it was taken. */
static int
push(struct fixture *f)
{
	const uint8_t *bytes;
	size_t n = cnp_client_output(&f->client, &bytes), taken;
	int r;

	if (n == 0)
		return 0;
	r = f->ops->write(f->loan, bytes, n < f->piece ? n : f->piece, &taken);
	if (r < 0)
		f->has_ended = true;
	if (r != CENOTE_OK)
		return 0;
	assert_in_range(taken, 1, n);
	cnp_client_sent(&f->client, taken);
	return 1;
}

/* Read once. 1: something came, or the end. */
static int
pull(struct fixture *f)
{
	uint8_t *room;
	size_t size, n;
	int r;

	assert_ok(cnp_client_room(&f->client, &room, &size));
	r = f->ops->read(f->loan, room, size < f->room ? size : f->room, &n);
	if (r == CENOTE_AGAIN)
		return 0;
	assert_int_equal(r, CENOTE_OK);
	if (n == 0)
		f->has_ended = true;
	else
		cnp_client_received(&f->client, n);
	return 1;
}

static void
await_server(struct fixture *f)
{
	struct pollfd p = { .fd = f->server, .events = POLLIN };

	if (f->ops->pending(f->loan))
		return;
	if (f->ops->unsent(f->loan))
		p.events |= POLLOUT;
	if (poll(&p, 1, 10000) != 1)
		fail_msg("nothing happens after:\n%s", f->text);
}

static void
say_rows(struct fixture *f, const uint8_t *batch)
{
	uint32_t n_rows = cnc_get_u32(batch), n_columns = cnc_get_u32(batch + 4);
	const uint8_t *row = batch + CNC_BATCH_HEADER;

	f->n_rows += n_rows;
	for (uint32_t i = 0; i < n_rows && f->n_rows < 10; i++) {
		size_t at = (size_t)4 * n_columns;

		say(f, "row");
		for (uint32_t c = 0; c < n_columns; c++) {
			uint32_t end = cnc_get_u32(row + (size_t)4 * c);

			say(f, " %.20s",
				end & CNC_BATCH_NULL ? "NULL" : (char *)row + at);
			at = (end & ~CNC_BATCH_NULL) + 1;
		}
		say(f, "\n");
		row += at;
	}
}

static void
say_event(struct fixture *f, const struct cnp_event *e)
{
	struct cnc_diag diag;

	switch (e->msg.code) {
	case CNP_MSG_ROWS:
		say_rows(f, e->payload);
		break;
	case CNP_MSG_DONE:
		say(f, "done %s\n", e->msg.as.done.tag.p);
		break;
	case CNP_MSG_READY:
		say(f, "ready %u\n", e->msg.as.ready.tx);
		break;
	case CNP_MSG_ERROR:
	case CNP_MSG_NOTICE:
		cnc_diag_init(&diag, NULL);
		assert_ok(cnc_diag_set_fields(&diag,
			(const uint8_t *)e->msg.as.error.fields.p,
			e->msg.as.error.fields.n));
		say(f, "%s %s %s\n", e->msg.code == CNP_MSG_ERROR ? "error" : "notice",
			diag.sqlstate, diag.message);
		break;
	case CNP_MSG_YIELD:
		say(f, "yield %u after %u\n", e->msg.as.yield.reason,
			e->msg.as.yield.last);
		break;
	case CNP_MSG_COPY_DATA:
		say(f, "data %s", e->msg.as.copy_data.data.p);
		break;
	case CNP_MSG_NOTIFICATION:
		say(f, "notification %s\n", e->msg.as.notification.channel.p);
		break;
	case CNP_MSG_COLUMNS:
	case CNP_MSG_PARAMS:
		break;
	default:
		say(f, "%s\n", cnp_msg_name(e->msg.code));
	}
}

/* Take the next event if there is one, and describe it. 1: it was of this code. */
static int
take_event(struct fixture *f, uint8_t code, int *ret_is_over)
{
	struct cnp_event e;
	int r = cnp_client_next(&f->client, &e);

	*ret_is_over = 0;
	if (r == CENOTE_AGAIN)
		return -1;
	assert_int_equal(r, CENOTE_OK);
	say_event(f, &e);
	*ret_is_over = e.is_last || e.msg.code == CNP_MSG_YIELD;
	return e.msg.code == code;
}

/* Move bytes until an event of this code comes; 0: until the request is finished, or the session. */
static void
run_until(struct fixture *f, uint8_t code)
{
	int is_it, is_over;

	while (!f->has_ended) {
		is_it = take_event(f, code, &is_over);
		if (is_it == 1 || (code == 0 && is_over))
			return;
		if (is_it >= 0)
			continue;
		if (!push(f) && !pull(f) && !f->has_ended)
			await_server(f);
	}
}

static const char *
attach(struct fixture *f)
{
	struct cnp_opening o = { .version_min = CNP_VERSION_MIN,
		.version_max = CNP_VERSION_MAX,
		.kind = CNP_OPEN_ATTACH,
		.pool = "shop" };
	struct cnp_msg m = { .code = CNP_MSG_ATTACH,
		.as.attach = { .user = cnp_str("joe"),
			.database = cnp_str(""),
			.program = cnp_str("test"),
			.application = cnp_str(""),
			.trace = cnp_str(""),
			.flags = CNP_ATTACH_AGAIN | CNP_ATTACH_BORROWS,
			.max_frame = CNP_FRAME_MAX,
			.options = CNP_STR_NONE,
			.carry = CNP_STR_NONE } };

	f->len = 0;
	f->has_ended = false;
	cnp_client_init(&f->client, &cnc_mem_default, CNP_FRAME_MAX);
	assert_ok(cnp_client_open(&f->client, &o, &m, 0));
	run_until(f, CNP_MSG_READY);
	return f->text;
}

static void
begin(struct fixture *f)
{
	assert_ok(try_open(f));
	assert_string_equal(attach(f), "HELLO\nATTACHED\nready 0\n");
}

static void
end(struct fixture *f)
{
	f->ops->close(f->loan);
	f->loan = NULL;
	cnp_client_finish(&f->client);
	unmap_page(f);
}

static void
queue(struct fixture *f, const char *sql, uint8_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_QUERY,
		.as.query = { .sql = cnp_str(sql),
			.params = CNP_STR_NONE,
			.formats = CNP_STR_NONE } };

	assert_ok(cnp_client_request(&f->client, &m, flags, 0, NULL));
}

static const char *
query(struct fixture *f, const char *sql)
{
	f->len = 0;
	f->n_rows = 0;
	queue(f, sql, CNP_FRAME_SYNC);
	run_until(f, 0);
	return f->text;
}

static uint32_t
state_of(const struct fixture *f)
{
	return atomic_load(&f->page->state);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct cn_loan_ops *(*get)(uint32_t abi);
	void *module = dlopen(CNT_LOAN_MODULE, RTLD_NOW | RTLD_LOCAL);

	assert_non_null(f);
	if (module == NULL)
		fail_msg("%s", dlerror());
	*(void **)&get = dlsym(module, "cn_loan_get");
	assert_non_null(get);
	assert_null(get(CN_LOAN_ABI + 1));
	f->ops = get(CN_LOAN_ABI);
	assert_non_null(f->ops);
	f->mem = &cnc_mem_default;
	f->piece = SIZE_MAX;
	f->room = SIZE_MAX;
	pg_setup(&f->pg);
	if (pg_login(&f->pg) < 0)
		fail_msg("%s", f->pg.base.diag.message);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	pg_teardown(&f->pg);
	free(f);
	return 0;
}

/* ---- the page ---- */

static void
a_page_that_makes_no_sense_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cn_loan *loan;
	int server, fd;

	fd = make_page_fd(F_SEAL_SHRINK, CNP_LOAN_SIZE);
	assert_int_equal(f->ops->open(f->mem, 0, fd, &loan), CENOTE_ERR_PROTOCOL);
	close(fd);
	fd = make_page_fd(SEALS, CNP_LOAN_SIZE / 2);
	assert_int_equal(f->ops->open(f->mem, 0, fd, &loan), CENOTE_ERR_PROTOCOL);
	close(fd);
	fd = lend(f, "sqlite", &server);
	assert_int_equal(f->ops->open(f->mem, server, fd, &loan), CENOTE_ERR_UNSUPPORTED);
	f->page->version++;
	assert_int_equal(f->ops->open(f->mem, server, fd, &loan), CENOTE_ERR_UNSUPPORTED);
	f->page->version--;
	for (uint32_t len = 0; len < 60; len++) {
		f->page->facts_len = len;
		assert_int_equal(
			f->ops->open(f->mem, server, fd, &loan), CENOTE_ERR_PROTOCOL);
	}
	f->page->facts_len = UINT32_MAX;
	assert_int_equal(f->ops->open(f->mem, server, fd, &loan), CENOTE_ERR_PROTOCOL);
	close(fd);
	close(server);
	unmap_page(f);
}

/* A program may have closed its standard descriptors, and still print to them. */
static void
no_standard_descriptor_is_taken(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg first_row = { .code = CNP_MSG_QUERY,
		.as.query = { .sql = cnp_str("select repeat('x', 1000) from "
					     "generate_series(1, 5000)"),
			.batch_rows = 1,
			.params = CNP_STR_NONE,
			.formats = CNP_STR_NONE } };
	int fd = lend(f, "postgresql", &f->server);
	int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	assert_true(saved >= 0);
	close(STDIN_FILENO);
	assert_ok(f->ops->open(f->mem, f->server, fd, &f->loan));
	(void)attach(f);
	/* the rest of the result goes to a file */
	assert_ok(cnp_client_request(&f->client, &first_row, CNP_FRAME_SYNC, 0, NULL));
	run_until(f, 0);
	assert_string_equal(query(f, "select 1"), "row 1\ndone SELECT 1\nready 0\n");
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
	end(f);
}

/* ---- requests ---- */

static const char transcript[] = "row 1 NULL\n"
				 "done SELECT 1\n"
				 "ready 0\n"
				 "notice 00000 hello\n"
				 "done DO\n"
				 "ready 0\n"
				 "error 22012 division by zero\n"
				 "ready 0\n";

static void
ask_three(struct fixture *f)
{
	f->len = 0;
	queue(f, "select 1, null", CNP_FRAME_SYNC);
	run_until(f, 0);
	queue(f, "do $$ begin raise notice 'hello'; end $$", CNP_FRAME_SYNC);
	run_until(f, 0);
	queue(f, "select 1/0", CNP_FRAME_SYNC);
	run_until(f, 0);
	assert_string_equal(f->text, transcript);
}

static void
requests_are_answered(void **state)
{
	struct fixture *f = *state;

	begin(f);
	ask_three(f);
	assert_int_equal(atomic_load(&f->page->requests), 3);
	assert_int_equal(atomic_load(&f->page->errors), 1);
	assert_int_equal(atomic_load(&f->page->request), 3);
	assert_true(atomic_load(&f->page->changed_ms) > 0);
	end(f);
}

static void
single_bytes_are_enough(void **state)
{
	struct fixture *f = *state;

	f->piece = 1;
	f->room = 1;
	begin(f);
	ask_three(f);
	end(f);
}

static void
a_large_result_needs_little_memory(void **state)
{
	static const size_t rooms[] = { 1000, 70000 };
	struct fixture *f = *state;
	struct cnt_alloc a;

	for (size_t i = 0; i < CNT_COUNT(rooms); i++) {
		cnt_alloc_init(&a, 0);
		f->mem = &a.mem;
		f->room = rooms[i];
		begin(f);
		(void)query(f, "select i, repeat('x', 500) from "
			       "generate_series(1, 10000) i");
		assert_int_equal(f->n_rows, 10000);
		assert_non_null(strstr(f->text, "done SELECT 10000\nready 0\n"));
		assert_in_range(a.peak_bytes, 0, 300000);
		end(f);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
	}
}

/* What has come is given although the request goes on. */
static void
rows_do_not_wait_for_the_end_of_the_result(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->len = 0;
	f->n_rows = 0;
	queue(f,
		"select i, pg_sleep(case when i = 3 then 1 else 0 end), "
		"repeat('x', 9000) from generate_series(1, 3) i",
		CNP_FRAME_SYNC);
	run_until(f, CNP_MSG_ROWS);
	assert_int_equal(f->n_rows, 1);
	assert_int_equal(state_of(f), CNP_LOAN_BUSY);
	run_until(f, 0);
	assert_int_equal(f->n_rows, 3);
	end(f);
}

static void
a_pipeline_is_answered_in_order(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->len = 0;
	queue(f, "select 1", 0);
	queue(f, "select x", 0);
	queue(f, "select 3", CNP_FRAME_SYNC);
	run_until(f, CNP_MSG_READY);
	assert_string_equal(f->text, "row 1\ndone SELECT 1\n"
				     "error 42703 column \"x\" does not exist\n"
				     "SKIPPED\nready 0\n");
	end(f);
}

static void
prepared_statements_work(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg prepare = { .code = CNP_MSG_PREPARE,
		.as.prepare = { .statement = 5,
			.sql = cnp_str("select 40 + 2"),
			.name = cnp_str(""),
			.types = CNP_STR_NONE } };
	struct cnp_msg execute = { .code = CNP_MSG_EXECUTE,
		.as.execute = { .statement = 5,
			.params = CNP_STR_NONE,
			.formats = CNP_STR_NONE,
			.name = cnp_str("") } };

	begin(f);
	f->len = 0;
	assert_ok(cnp_client_request(&f->client, &prepare, CNP_FRAME_SYNC, 0, NULL));
	run_until(f, 0);
	for (int i = 0; i < 2; i++) {
		f->len = 0;
		assert_ok(cnp_client_request(
			&f->client, &execute, CNP_FRAME_SYNC, 0, NULL));
		run_until(f, 0);
		assert_string_equal(f->text, "row 42\ndone SELECT 1\nready 0\n");
	}
	end(f);
}

static void
copy(struct fixture *f, const char *piece, int n)
{
	struct cnp_msg data = { .code = CNP_MSG_COPY_DATA,
		.as.copy_data.data = cnp_str(piece) };
	struct cnp_msg done = { .code = CNP_MSG_COPY_DONE };

	f->len = 0;
	queue(f, "copy c from stdin", CNP_FRAME_SYNC);
	run_until(f, CNP_MSG_COPY_IN);
	for (int i = 0; i < n; i++) {
		assert_ok(cnp_client_copy(&f->client, &data));
		while (cnp_client_copy_queued(&f->client) > 100000) {
			if (!push(f) && !pull(f))
				await_server(f);
		}
	}
	assert_ok(cnp_client_copy(&f->client, &done));
	run_until(f, 0);
}

static void
copies_go_both_ways(void **state)
{
	struct fixture *f = *state;
	char *long_row = malloc(100001);

	assert_non_null(long_row);
	memset(long_row, 'x', 100000);
	memcpy(long_row + 99999, "\n", 2);
	begin(f);
	(void)query(f, "create temp table c (a text)");
	copy(f, "one\n", 2);
	assert_string_equal(f->text, "COPY_IN\ndone COPY 2\nready 0\n");
	assert_string_equal(query(f, "copy c to stdout"),
		"COPY_OUT\ndata one\ndata one\nCOPY_DONE\ndone COPY 2\nready 0\n");
	copy(f, long_row, 100);
	assert_string_equal(f->text, "COPY_IN\ndone COPY 100\nready 0\n");
	assert_string_equal(query(f, "select count(*), sum(length(a)) from c"),
		"row 102 9999906\ndone SELECT 1\nready 0\n");
	end(f);
	free(long_row);
}

static void
a_copy_that_the_client_gives_up_fails(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg fail = { .code = CNP_MSG_COPY_FAIL,
		.as.copy_fail.message = cnp_str("enough") };

	begin(f);
	(void)query(f, "create temp table c (a int)");
	f->len = 0;
	queue(f, "copy c from stdin", CNP_FRAME_SYNC);
	run_until(f, CNP_MSG_COPY_IN);
	assert_ok(cnp_client_copy(&f->client, &fail));
	run_until(f, 0);
	assert_string_equal(f->text,
		"COPY_IN\nerror 57014 COPY from stdin failed: enough\nready 0\n");
	/* here the server gives up first */
	copy(f, "not a number\n", 100000);
	assert_non_null(strstr(f->text, "error 22P02"));
	assert_string_equal(
		query(f, "select count(*) from c"), "row 0\ndone SELECT 1\nready 0\n");
	end(f);
}

/* The socket takes only a part of it at a time. */
static void
a_large_request_is_sent(void **state)
{
	static const char begins[] = "select length('", ends[] = "')";
	const size_t n = (size_t)5 << 20;
	struct fixture *f = *state;
	char *sql = malloc(sizeof(begins) + n + sizeof(ends));

	assert_non_null(sql);
	memcpy(sql, begins, sizeof(begins) - 1);
	memset(sql + sizeof(begins) - 1, 'x', n);
	memcpy(sql + sizeof(begins) - 1 + n, ends, sizeof(ends));
	begin(f);
	assert_string_equal(query(f, sql), "row 5242880\ndone SELECT 1\nready 0\n");
	end(f);
	free(sql);
}

static void
a_row_that_is_too_long_is_refused(void **state)
{
	struct fixture *f = *state;

	begin(f);
	assert_string_equal(query(f, "select repeat('x', 2000000)"),
		"error 54000 a row is longer than pool shop allows: max_row = 1MB\n"
		"ready 0\n");
	assert_string_equal(query(f, "select 1"), "row 1\ndone SELECT 1\nready 0\n");
	end(f);
}

/* ---- the page's states ---- */

static void
a_client_that_holds_something_keeps_the_session(void **state)
{
	struct fixture *f = *state;

	begin(f);
	assert_int_equal(state_of(f), CNP_LOAN_FREE);
	assert_string_equal(query(f, "begin"), "done BEGIN\nready 1\n");
	assert_int_equal(state_of(f), CNP_LOAN_HELD);
	assert_int_equal(atomic_load(&f->page->tx), CENOTE_TX_OPEN);
	assert_string_equal(query(f, "commit"), "done COMMIT\nready 0\n");
	assert_int_equal(state_of(f), CNP_LOAN_FREE);
	(void)query(f, "create temp table t ()");
	assert_int_equal(state_of(f), CNP_LOAN_HELD);
	assert_int_not_equal(atomic_load(&f->page->pins), 0);
	end(f);
}

/* A function may have left something in the session. The server is asked only once the worker wants the session. */
static void
a_function_holds_the_session_until_the_worker_wants_it(void **state)
{
	struct fixture *f = *state;

	begin(f);
	(void)query(f, "select pg_backend_pid()");
	assert_int_equal(state_of(f), CNP_LOAN_HELD);
	assert_int_equal(atomic_load(&f->page->pins), CENOTE_PIN_FUNCTION);
	atomic_store(&f->page->reason, CNP_YIELD_RELOAD);
	(void)query(f, "select pg_backend_pid()");
	assert_int_equal(state_of(f), CNP_LOAN_FREE);
	end(f);
}

static void
take_back(struct fixture *f, uint32_t reason)
{
	uint32_t expected = CNP_LOAN_FREE;

	atomic_store(&f->page->reason, reason);
	assert_true(atomic_compare_exchange_strong(
		&f->page->state, &expected, CNP_LOAN_ENDED));
}

static void
a_session_that_was_taken_back_is_yielded(void **state)
{
	struct fixture *f = *state;

	begin(f);
	(void)query(f, "select 1");
	take_back(f, CNP_YIELD_RELOAD);
	assert_string_equal(query(f, "select 2"), "yield 3 after 1\n");
	run_until(f, 0);
	assert_true(f->has_ended);
	end(f);
	/* the request did not reach the server */
	assert_answer(&f->pg,
		"select count(*) as n from pg_stat_activity where "
		"pid = pg_backend_pid() and query = 'select 2'",
		"columns n:INT64\nrow 0\ndone SELECT 1\n");
}

static void
a_loan_that_ends_at_once_still_attaches(void **state)
{
	struct fixture *f = *state;

	assert_ok(try_open(f));
	take_back(f, CNP_YIELD_DRAIN);
	assert_string_equal(attach(f), "HELLO\nATTACHED\nready 0\n");
	f->len = 0;
	run_until(f, 0);
	assert_string_equal(f->text, "yield 2 after 0\n");
	end(f);
}

static void
a_time_limit_is_told(void **state)
{
	struct fixture *f = *state;
	struct cnp_event e;

	begin(f);
	(void)query(f, "select 1");
	strcpy(f->page->words, "pool shop: too late");
	take_back(f, 0);
	f->len = 0;
	queue(f, "select 2", CNP_FRAME_SYNC);
	while (cnp_client_next(&f->client, &e) == CENOTE_AGAIN) {
		if (!push(f) && !pull(f))
			await_server(f);
	}
	say_event(f, &e);
	assert_string_equal(f->text, "error 57P05 pool shop: too late\n");
	end(f);
}

/* Another session. */
static void
begin_other(struct pg *other)
{
	pg_setup(other);
	assert_ok(pg_login(other));
}

/* Have another session call a function with the process id of the lent session. */
static void
call(const struct fixture *f, struct pg *other, const char *function)
{
	struct cnd_info info;
	char sql[128];

	f->pg.base.b->info(f->pg.base.s, &info);
	assert_string_equal(info.parameters[0].key, "backend_pid");
	snprintf(sql, sizeof(sql), "select %s(%s) as c", function,
		info.parameters[0].value);
	(void)pg_query(other, sql);
	assert_ok(other->base.last);
}

static void
a_time_limit_in_a_request_is_told(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->len = 0;
	queue(f, "select pg_sleep(20)", CNP_FRAME_SYNC);
	assert_int_equal(push(f), 1);
	strcpy(f->page->words, "pool shop: too late");
	atomic_store(&f->page->state, CNP_LOAN_ENDED);
	assert_int_equal(shutdown(f->server, SHUT_RDWR), 0);
	run_until(f, 0);
	assert_string_equal(f->text,
		"error 08007 the session was lost in QUERY, whose outcome is "
		"unknown: pool shop: too late\nready 3\n");
	end(f);
}

static void
a_cancel_by_query_timeout_is_told_as_such(void **state)
{
	struct fixture *f = *state;
	struct pg other;

	begin(f);
	begin_other(&other);
	f->len = 0;
	queue(f, "select pg_sleep(20)", CNP_FRAME_SYNC);
	assert_int_equal(push(f), 1);
	assert_int_equal(state_of(f), CNP_LOAN_BUSY);
	atomic_store(&f->page->timed_out, atomic_load(&f->page->request));
	/* the request may not have reached the server's process yet */
	do {
		call(f, &other, "pg_cancel_backend");
	} while (!pull(f));
	run_until(f, 0);
	assert_string_equal(f->text,
		"error 57014 canceled: the pool's query_timeout passed\nready 0\n");
	pg_teardown(&other);
	end(f);
}

/* ---- the server, while no request runs ---- */

static void
a_notification_between_requests_comes(void **state)
{
	struct fixture *f = *state;
	struct pg other;

	begin(f);
	begin_other(&other);
	(void)query(f, "listen news");
	(void)pg_query(&other, "notify news");
	f->len = 0;
	run_until(f, CNP_MSG_NOTIFICATION);
	assert_string_equal(f->text, "notification news\n");
	pg_teardown(&other);
	end(f);
}

static void
a_session_that_ends_while_idle_is_yielded(void **state)
{
	struct fixture *f = *state;
	struct pg other;

	begin(f);
	begin_other(&other);
	(void)query(f, "select 1");
	call(f, &other, "pg_terminate_backend");
	await_server(f);
	/* the server is not heard before a request that follows the last one within a millisecond */
	(void)usleep(2000);
	assert_string_equal(query(f, "select 2"), "yield 5 after 1\n");
	pg_teardown(&other);
	end(f);
}

/* ---- the end ---- */

/* Close in the middle of each kind of wait. The allocator knows whether something was left. */
static void
a_loan_can_be_closed_at_any_moment(void **state)
{
	static const char *const requests[] = {
		"select pg_sleep(20)",
		"select i, repeat('x', 500) from generate_series(1, 10000) i",
		"copy (select generate_series(1, 100000)) to stdout",
		"copy t from stdin",
		"do 'begin raise notice $$a$$; perform pg_sleep(20); end'",
	};
	struct fixture *f = *state;
	struct cnt_alloc a;

	for (size_t i = 0; i < CNT_COUNT(requests); i++) {
		for (int n_reads = 0; n_reads < 8; n_reads++) {
			cnt_alloc_init(&a, 0);
			f->mem = &a.mem;
			f->room = 20000;
			begin(f);
			(void)query(f, "create temp table t (a text)");
			queue(f, requests[i], CNP_FRAME_SYNC);
			assert_int_equal(push(f), 1);
			for (int j = 0; j < n_reads; j++) {
				struct cnp_event e;

				(void)pull(f);
				while (cnp_client_next(&f->client, &e) == CENOTE_OK)
					;
			}
			end(f);
			assert_int_equal(cnt_alloc_leaks(&a), 0);
			pg_logout(&f->pg);
			assert_ok(pg_login(&f->pg));
		}
	}
}

static void
every_lack_of_memory_is_survived(void **state)
{
	struct fixture *f = *state;
	struct cnt_alloc a;
	size_t n = 1;

	do {
		cnt_alloc_init(&a, n++);
		f->mem = &a.mem;
		if (try_open(f) == CENOTE_OK) {
			(void)attach(f);
			if (cnp_client_state(&f->client) == CNP_CLIENT_READY)
				(void)query(f, "select i, repeat('x', 3000) from "
					       "generate_series(1, 100) i");
			end(f);
		}
		unmap_page(f);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		pg_logout(&f->pg);
		assert_ok(pg_login(&f->pg));
	} while (cnt_alloc_has_failed(&a));
	assert_in_range(n, 10, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_page_that_makes_no_sense_is_refused),
		TEST(no_standard_descriptor_is_taken),
		TEST(requests_are_answered),
		TEST(single_bytes_are_enough),
		TEST(a_large_result_needs_little_memory),
		TEST(rows_do_not_wait_for_the_end_of_the_result),
		TEST(a_pipeline_is_answered_in_order),
		TEST(prepared_statements_work),
		TEST(copies_go_both_ways),
		TEST(a_copy_that_the_client_gives_up_fails),
		TEST(a_large_request_is_sent),
		TEST(a_row_that_is_too_long_is_refused),
		TEST(a_client_that_holds_something_keeps_the_session),
		TEST(a_function_holds_the_session_until_the_worker_wants_it),
		TEST(a_session_that_was_taken_back_is_yielded),
		TEST(a_loan_that_ends_at_once_still_attaches),
		TEST(a_time_limit_is_told),
		TEST(a_time_limit_in_a_request_is_told),
		TEST(a_cancel_by_query_timeout_is_told_as_such),
		TEST(a_notification_between_requests_comes),
		TEST(a_session_that_ends_while_idle_is_yielded),
		TEST(a_loan_can_be_closed_at_any_moment),
		TEST(every_lack_of_memory_is_survived),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
