/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Non-blocking use. The test plays the pool a step at a time in the same thread, so each run is the
 * same. It also sends bytes one at a time, ends at each byte, and lets each allocation fail.
 */

/* Repeat a call while it returns CENOTE_AGAIN, with a step of the pool in between. */
#define DRIVE(f, r, call)                                                                \
	do {                                                                             \
		unsigned turns_ = 0;                                                     \
		while (((r) = (call)) == CENOTE_AGAIN) {                                 \
			turn(f);                                                         \
			assert_true(++turns_ < 100000);                                  \
		}                                                                        \
	} while (0)

/* One step of the pool. If the library only waits for a time, let that time pass. */
static void
turn(struct fixture *f)
{
	if (cnt_peer_step(&f->peer))
		return;
	if (cenote_fd(f->conn) < 0 && cenote_wait_ms(f->conn) > 0)
		(void)poll(NULL, 0, cenote_wait_ms(f->conn));
}

static int
setup_nonblocking(void **state)
{
	struct fixture *f;

	if (setup_peer(state) < 0)
		return -1;
	f = *state;
	return cenote_set_nonblocking(f->conn, 1);
}

static int
drive_connect(struct fixture *f)
{
	int r;

	DRIVE(f, r, cenote_connect(f->conn));
	return r;
}

static int
drive_run(struct fixture *f, const char *sql)
{
	cenote_result *res;
	int r;

	DRIVE(f, r, cenote_query(f->conn, sql, CENOTE_NTS, NULL, NULL, &res));
	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

static void
a_connect_waits_for_the_descriptor_it_names(void **state)
{
	struct fixture *f = *state;
	struct pollfd p;

	assert_int_equal(cenote_connect(f->conn), CENOTE_AGAIN);
	assert_int_equal(cenote_is_connected(f->conn), 0);
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ);
	assert_true(cenote_wait_ms(f->conn) > 50000);
	p = (struct pollfd){ .fd = cenote_fd(f->conn), .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(cenote_query(f->conn, "x", 1, NULL, NULL, NULL), CENOTE_ERR_ARG);
	assert_int_equal(
		cenote_send_query(f->conn, "x", 1, NULL, NULL), CENOTE_ERR_STATE);
	while (cnt_peer_step(&f->peer))
		continue;
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(cenote_wait_ms(f->conn), -1);
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_STATE);
}

/* The five rows of a query that was sent come with no more waiting than poll() reports. */
static void
take_five_rows(struct fixture *f, struct pollfd *p)
{
	cenote_result *res;

	while (cnt_peer_step(&f->peer))
		continue;
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_AGAIN);
	assert_ok(cenote_flush(f->conn));
	assert_int_equal(poll(p, 1, 0), 1);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(poll(p, 1, 0), 0);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_n_rows(res), 5);
	finish_request(f, res);
}

/* A program that polls the descriptor sees that data has come. */
static void
a_passive_handle_reads_when_it_is_processed(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	assert_ok(drive_connect(f));
	p.fd = cenote_fd(f->conn);
	assert_ok(cenote_send_query(f->conn, "rows 5", 6, NULL, NULL));
	assert_ok(cenote_flush(f->conn));
	take_five_rows(f, &p);
}

/* When the session is replaced, no other file gets the descriptor's number in between. */
static void
a_passive_handle_keeps_the_number_of_its_descriptor(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	assert_ok(drive_connect(f));
	p.fd = cenote_fd(f->conn);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_NONBLOCKING));
	assert_ok(drive_run(f, "yield"));
	while (cenote_wants(f->conn) != 0) {
		turn(f);
		assert_ok(cenote_process(f->conn));
	}
	assert_int_equal(cenote_fd(f->conn), p.fd);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_true(fcntl(p.fd, F_GETFD) & FD_CLOEXEC);
	assert_ok(drive_run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_int_equal(cenote_fd(f->conn), p.fd);
	cenote_close(f->conn);
	assert_int_equal(fcntl(p.fd, F_GETFD), -1);
}

/* A connection that stays: the request goes out at once, and its answer waits in the socket. */
static void
a_passive_handle_reads_when_it_is_processed_after_staying(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	f->peer.knobs.lets_stay = 1;
	assert_ok(drive_connect(f));
	assert_ok(drive_run(f, "yield"));
	while (cnt_peer_step(&f->peer))
		continue;
	assert_int_equal(f->peer.seen.n_stays, 1);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ);
	p.fd = cenote_fd(f->conn);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	/* Collected requests wait to be written. */
	assert_ok(cenote_pipeline_begin(f->conn));
	assert_ok(cenote_send_query(f->conn, "rows 5", 6, NULL, NULL));
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ | CENOTE_WANTS_WRITE);
	assert_ok(cenote_send_sync(f->conn));
	assert_ok(cenote_flush(f->conn));
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ);
	take_five_rows(f, &p);
	assert_int_equal(f->peer.seen.n_connects, 1);
}

static void
is_busy_and_process_tell_when_a_result_is_there(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(drive_connect(f));
	assert_ok(cenote_send_query(f->conn, "rows 5", 6, NULL, NULL));
	assert_int_equal(cenote_is_busy(f->conn), 1);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_AGAIN);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_is_busy(f->conn), 1);
	while (cnt_peer_step(&f->peer))
		continue;
	assert_int_equal(cenote_is_busy(f->conn), 1);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_is_busy(f->conn), 0);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_n_rows(res), 5);
	finish_request(f, res);
}

static void
a_large_request_goes_out_in_parts(void **state)
{
	struct fixture *f = *state;
	size_t n = 8u << 20;
	char *sql = malloc(n + 1);
	cenote_result *res;
	int r;

	memset(sql, ' ', n);
	memcpy(sql, "rows 5", 6);
	sql[n] = '\0';
	assert_ok(drive_connect(f));
	assert_ok(cenote_send_query(f->conn, sql, n, NULL, NULL));
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ | CENOTE_WANTS_WRITE);
	assert_int_equal(cenote_process(f->conn), CENOTE_AGAIN);
	DRIVE(f, r, cenote_get_result(f->conn, &res));
	assert_ok(r);
	cenote_result_destroy(res);
	free(sql);
}

static void
a_reader_that_does_not_read_stops_the_writer(void **state)
{
	const cenote_exec_options options = { sizeof(options), 0, 1, 0, 0, 0 };
	struct fixture *f = *state;
	cenote_result *res;
	uint64_t n = 0;
	int r;

	assert_ok(drive_connect(f));
	DRIVE(f, r,
		cenote_query(f->conn, "rows 200000", CENOTE_NTS, NULL, &options, &res));
	assert_ok(r);
	for (int i = 0; i < 1000; i++) {
		(void)cnt_peer_step(&f->peer);
		assert_ok(cenote_process(f->conn));
	}
	assert_int_equal(cenote_wants(f->conn), 0);
	assert_true(f->alloc.live_bytes < 1000000);
	for (;;) {
		DRIVE(f, r, cenote_result_next(res));
		if (r != CENOTE_ROW)
			break;
		n += cenote_result_n_rows(res);
	}
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(n, 200000);
	cenote_result_destroy(res);
	assert_true(f->alloc.peak_bytes < 3000000);
}

static void
a_full_queue_of_connections_is_waited_for(void **state)
{
	struct fixture *f = *state;
	cenote_conn *others[64];
	size_t n = 0;

	/* Nobody accepts, so the socket's queue fills up. Then a connection has no descriptor,
	 * only a time to wait. */
	while (n < 64) {
		assert_ok(cenote_conn_create(NULL, &others[n]));
		assert_ok(cenote_conn_set_uri(others[n], f->peer.uri));
		assert_ok(cenote_set_nonblocking(others[n], 1));
		assert_int_equal(cenote_connect(others[n]), CENOTE_AGAIN);
		if (cenote_fd(others[n++]) < 0)
			break;
	}
	assert_true(n < 64);
	assert_int_equal(cenote_wants(others[n - 1]), 0);
	assert_true(
		cenote_wait_ms(others[n - 1]) >= 0 && cenote_wait_ms(others[n - 1]) <= 5);
	for (size_t i = 0; i < n - 1; i++)
		cenote_conn_destroy(others[i]);
	while (cnt_peer_step(&f->peer))
		continue;
	cenote_conn_destroy(f->conn);
	f->conn = others[n - 1];
	assert_ok(drive_connect(f));
	assert_ok(drive_run(f, "cmd"));
}

/* ------------------------------------------------- one scenario, with many disturbances */

/* Expect the statement's own result after a copy, and nothing more. */
static int
end_of_copy(struct fixture *f)
{
	cenote_result *res;
	int r;

	DRIVE(f, r, cenote_get_result(f->conn, &res));
	if (r != CENOTE_OK)
		return r == CENOTE_DONE ? CENOTE_ERR_STATE : r;
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COMMAND);
	cenote_result_destroy(res);
	DRIVE(f, r, cenote_get_result(f->conn, &res));
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

static int
copy_in(struct fixture *f)
{
	cenote_result *res;
	int r;

	DRIVE(f, r, cenote_query(f->conn, "copy_in", 7, NULL, NULL, &res));
	if (r != CENOTE_OK)
		return r;
	DRIVE(f, r, cenote_copy_put(f->conn, "some", 4));
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_copy_put(f->conn, " data", 5));
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_copy_end(f->conn, NULL));
	if (r == CENOTE_OK)
		r = end_of_copy(f);
	cenote_result_destroy(res);
	return r;
}

static int
copy_out(struct fixture *f)
{
	cenote_result *res;
	const char *data;
	size_t len, n = 0;
	int r;

	DRIVE(f, r, cenote_query(f->conn, "copy_out 9", 10, NULL, NULL, &res));
	if (r != CENOTE_OK)
		return r;
	for (;;) {
		DRIVE(f, r, cenote_copy_get(f->conn, &data, &len));
		if (r != CENOTE_OK)
			break;
		assert_int_equal(len, 2);
		n++;
	}
	if (r == CENOTE_DONE) {
		assert_int_equal(n, 9);
		r = end_of_copy(f);
	}
	cenote_result_destroy(res);
	return r;
}

/* Further calls, which the shims need. */
static int
extras(struct fixture *f)
{
	cenote_stmt *stmt;
	cenote_result *res;
	int r;

	r = cenote_stmt_create(f->conn, "cmd", 3, &stmt);
	if (r < 0)
		return r;
	DRIVE(f, r, cenote_set_session_option(f->conn, "a", "1"));
	if (r == CENOTE_OK)
		r = drive_run(f, "notify");
	if (r == CENOTE_OK)
		r = cenote_stmt_set_name(stmt, "named");
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_stmt_prepare(stmt));
	if (r == CENOTE_OK) {
		DRIVE(f, r, cenote_describe_named(f->conn, 0, "named", &res));
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	}
	/* the session may have been replaced between the two calls, and the new one does not
	 * know the name */
	if (r == CENOTE_ERR_SERVER && strcmp(sqlstate_of(f), "26000") == 0)
		r = CENOTE_ERR_CONN;
	if (r == CENOTE_OK) {
		DRIVE(f, r, cenote_function(f->conn, 5, NULL, 0, &res));
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	}
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_reset(f->conn));
	cenote_stmt_destroy(stmt);
	return r;
}

/* Read five rows in the pieces that the options ask for. */
static int
stream_rows(struct fixture *f, const cenote_exec_options *options)
{
	cenote_result *res;
	uint64_t n = 0;
	int r;

	DRIVE(f, r, cenote_query(f->conn, "rows 5", 6, NULL, options, &res));
	if (r != CENOTE_OK)
		return r;
	for (;;) {
		DRIVE(f, r, cenote_result_next(res));
		if (r != CENOTE_ROW)
			break;
		n += cenote_result_n_rows(res);
	}
	cenote_result_destroy(res);
	if (r != CENOTE_DONE)
		return r;
	assert_int_equal(n, 5);
	return CENOTE_OK;
}

/* What the pool has carried out by then. With a pool that lets its clients stay, that happens twice. */
static const char *
scenario_commands(const struct fixture *f)
{
	return f->peer.knobs.lets_stay
		       ? "notice;yield;params;rows 3;yield;rows 3;rows 5;rows 5;fail "
			 "42601;two;copy_in;copy_out 9;notify;"
		       : "notice;params;rows 3;rows 3;rows 5;rows 5;fail "
			 "42601;two;copy_in;copy_out 9;notify;";
}

/* The pool takes the session back, and the connection stays. */
static int
drive_stay(struct fixture *f)
{
	return f->peer.knobs.lets_stay ? drive_run(f, "yield") : CENOTE_OK;
}

/* Every kind of call once, leaving off at the first failure. */
static int
scenario(struct fixture *f)
{
	const cenote_exec_options stream = { sizeof(stream), 0, 1, 0, 0, 0 };
	const cenote_exec_options portal = { sizeof(portal), 0, 1, 2, 0, 0 };
	cenote_params *params = NULL;
	cenote_stmt *stmt = NULL;
	cenote_result *res;
	int r;

	r = drive_connect(f);
	if (r == CENOTE_OK)
		r = cenote_params_create(&f->alloc.mem, &params);
	if (r == CENOTE_OK)
		r = cenote_params_add_text(params, "value", 5);
	if (r == CENOTE_OK)
		r = cenote_stmt_create(f->conn, "rows 3", 6, &stmt);
	if (r == CENOTE_OK)
		r = drive_run(f, "notice");
	if (r == CENOTE_OK)
		r = drive_stay(f);
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_query(f->conn, "params", 6, params, NULL, &res));
	if (r == CENOTE_OK) {
		assert_string_equal(cenote_result_text(res, 0, 1, NULL), "value");
		cenote_result_destroy(res);
	}
	for (int i = 0; i < 2 && r == CENOTE_OK; i++) {
		DRIVE(f, r, cenote_stmt_execute(stmt, NULL, NULL, &res));
		if (r == CENOTE_OK) {
			assert_int_equal(cenote_result_n_rows(res), 3);
			cenote_result_destroy(res);
		}
		if (r == CENOTE_OK && i == 0)
			r = drive_stay(f);
	}
	if (r == CENOTE_OK)
		r = stream_rows(f, &stream);
	if (r == CENOTE_OK)
		r = stream_rows(f, &portal);
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_begin(f->conn, 0, 0));
	if (r == CENOTE_OK)
		r = drive_run(f, "fail 42601");
	if (r == CENOTE_ERR_SERVER)
		r = CENOTE_OK;
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_rollback(f->conn));
	if (r == CENOTE_OK)
		r = drive_run(f, "two");
	if (r == CENOTE_OK)
		DRIVE(f, r, cenote_get_result(f->conn, &res));
	if (r == CENOTE_OK) {
		cenote_result_destroy(res);
		DRIVE(f, r, cenote_get_result(f->conn, &res));
		if (r == CENOTE_DONE)
			r = CENOTE_OK;
	}
	if (r == CENOTE_OK)
		r = copy_in(f);
	if (r == CENOTE_OK)
		r = copy_out(f);
	if (r == CENOTE_OK)
		r = extras(f);
	cenote_params_destroy(params);
	cenote_stmt_destroy(stmt);
	return r;
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	(void)notice;
	++*(int *)user;
}

static void
bytes_may_come_one_at_a_time(void **state)
{
	struct fixture *f = *state;
	int notices = 0;

	f->peer.knobs.write_max = 1;
	cenote_set_notice_handler(f->conn, on_notice, &notices);
	for (int i = 0; i < 2; i++) {
		f->peer.knobs.lets_stay = i;
		f->peer.seen.commands[0] = '\0';
		assert_ok(scenario(f));
		assert_int_equal(notices, i + 1);
		assert_string_equal(f->peer.seen.commands, scenario_commands(f));
		assert_int_equal(f->peer.seen.n_stays, 2 * i);
		assert_int_equal(f->peer.seen.n_connects, i + 1);
		cenote_close(f->conn);
	}
}

/* How many bytes the scenario's answers have. */
static size_t
scenario_length(int lets_stay)
{
	void *state;
	struct fixture *f;
	size_t n;

	assert_int_equal(setup_nonblocking(&state), 0);
	f = state;
	f->peer.knobs.lets_stay = lets_stay;
	assert_ok(scenario(f));
	n = f->peer.seen.sent;
	assert_int_equal(teardown(&state), 0);
	return n;
}

/* The peer closes after each number of bytes. Every call returns success or reports the loss. */
static void
end_at_any_byte(int lets_stay)
{
	size_t n = scenario_length(lets_stay);
	unsigned n_ok = 0, n_lost = 0;

	assert_true(n > 1000);
	for (size_t i = 0; i < n; i++) {
		void *s;
		struct fixture *f;
		int r;

		assert_int_equal(setup_nonblocking(&s), 0);
		f = s;
		f->peer.knobs.lets_stay = lets_stay;
		f->peer.knobs.cut_after = (long)i;
		r = scenario(f);
		if (r == CENOTE_OK)
			n_ok++;
		else if (r == CENOTE_ERR_CONN)
			n_lost++;
		else
			fail_msg("cut after %zu bytes: %s", i, cenote_status_name(r));
		if (r < 0)
			assert_true(strlen(message_of(f)) > 0);
		/* Nothing ran twice. */
		if (r == CENOTE_OK)
			assert_string_equal(f->peer.seen.commands, scenario_commands(f));
		cenote_close(f->conn);
		assert_ok(drive_connect(f));
		assert_ok(drive_run(f, "cmd"));
		assert_int_equal(teardown(&s), 0);
	}
	/* Between two requests a session that holds nothing may end unnoticed. */
	assert_true(n_ok < n / 20);
	assert_int_equal(n_ok + n_lost, n);
}

static void
an_end_at_any_byte_is_survived(void **state)
{
	(void)state;
	end_at_any_byte(0);
	end_at_any_byte(1);
}

/* The scenario again when it ran out of memory: nothing is left behind, whatever
 * happened. */
static void
fail_each_allocation(struct fixture *f)
{
	size_t n;

	for (n = 1;; n++) {
		int r;

		cenote_close(f->conn);
		f->alloc.n_calls = 0;
		f->alloc.n_failed = 0;
		f->alloc.fail_at = n;
		r = scenario(f);
		f->alloc.fail_at = 0;
		if (f->alloc.n_failed == 0) {
			assert_ok(r);
			break;
		}
		if (r != CENOTE_OK && r != CENOTE_ERR_NOMEM)
			fail_msg("allocation %zu: %s: %s", n, cenote_status_name(r),
				message_of(f));
		cenote_close(f->conn);
		assert_ok(drive_connect(f));
		assert_ok(drive_run(f, "rows 2"));
	}
	assert_true(n > 20);
}

static void
each_allocation_may_fail(void **state)
{
	struct fixture *f = *state;

	fail_each_allocation(f);
	f->peer.knobs.lets_stay = 1;
	fail_each_allocation(f);
}

/* A call that ran out of memory is made again, and goes on where it was. */
static void
a_call_is_repeated_after_a_lack_of_memory(void **state)
{
	struct fixture *f = *state;

	assert_ok(drive_connect(f));
	for (size_t n = 1;; n++) {
		cenote_result *res;
		int r;

		f->alloc.n_calls = 0;
		f->alloc.n_failed = 0;
		f->alloc.fail_at = n;
		DRIVE(f, r, cenote_query(f->conn, "rows 300", 8, NULL, NULL, &res));
		f->alloc.fail_at = 0;
		if (r == CENOTE_ERR_NOMEM)
			DRIVE(f, r,
				cenote_query(f->conn, "rows 300", 8, NULL, NULL, &res));
		assert_ok(r);
		assert_int_equal(cenote_result_n_rows(res), 300);
		assert_int_equal(int_at(res, 299, 0), 299);
		cenote_result_destroy(res);
		f->peer.seen.commands[0] = '\0';
		if (f->alloc.n_failed == 0)
			break;
	}
	assert_int_equal(f->peer.seen.n_attaches, 1);
}

/* The same if the pool took the session back and the statement must be prepared again. */
static void
attach_anew_without_memory(struct fixture *f)
{
	char sql[20001];
	cenote_stmt *stmt;
	int r;

	/* Long, so that it needs memory each time. */
	(void)snprintf(sql, sizeof(sql), "rows 3%*s", (int)sizeof(sql) - 7, "");
	assert_ok(drive_connect(f));
	assert_ok(cenote_stmt_create(f->conn, sql, CENOTE_NTS, &stmt));
	DRIVE(f, r, cenote_stmt_prepare(stmt));
	for (size_t n = 1;; n++) {
		cenote_result *res;

		assert_ok(drive_run(f, "yield"));
		f->alloc.n_calls = 0;
		f->alloc.n_failed = 0;
		f->alloc.fail_at = n;
		DRIVE(f, r, cenote_stmt_execute(stmt, NULL, NULL, &res));
		f->alloc.fail_at = 0;
		if (r == CENOTE_ERR_NOMEM)
			DRIVE(f, r, cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_ok(r);
		assert_int_equal(cenote_result_n_rows(res), 3);
		cenote_result_destroy(res);
		f->peer.seen.commands[0] = '\0';
		if (f->alloc.n_failed == 0)
			break;
	}
	cenote_stmt_destroy(stmt);
}

static void
attaching_anew_is_repeated_after_a_lack_of_memory(void **state)
{
	struct fixture *f = *state;

	attach_anew_without_memory(f);
	cenote_close(f->conn);
	f->peer.knobs.lets_stay = 1;
	attach_anew_without_memory(f);
	assert_true(f->peer.seen.n_stays > 3);
}

/* A child that drops a result whose rest the server keeps says nothing on its parent's
 * session. */
static void
a_child_may_destroy_results_and_statements(void **state)
{
	const cenote_exec_options options = { sizeof(options), 0, 1, 2, 0, 0 };
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;
	pid_t pid;
	int r, status;

	assert_ok(drive_connect(f));
	assert_ok(cenote_stmt_create(f->conn, "rows 5", 6, &stmt));
	DRIVE(f, r, cenote_stmt_execute(stmt, NULL, &options, &res));
	assert_ok(r);
	DRIVE(f, r, cenote_result_next(res));
	assert_int_equal(r, CENOTE_ROW);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int bad = cenote_result_next(res) != CENOTE_ERR_STATE;

		cenote_result_destroy(res);
		cenote_stmt_destroy(stmt);
		cenote_conn_destroy(f->conn);
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	DRIVE(f, r, cenote_result_next(res));
	assert_int_equal(r, CENOTE_ROW);
	cenote_result_destroy(res);
	cenote_stmt_destroy(stmt);
	assert_ok(drive_run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_portals_closed, 1);
	assert_int_equal(f->peer.seen.n_closes, 1);
}

static void
a_result_destroyed_while_it_is_fetched_closes_its_portal(void **state)
{
	const cenote_exec_options options = { sizeof(options), 0, 1, 2, 0, 0 };
	struct fixture *f = *state;
	cenote_result *res;
	int r;

	assert_ok(drive_connect(f));
	DRIVE(f, r, cenote_query(f->conn, "rows 50", 7, NULL, &options, &res));
	assert_ok(r);
	DRIVE(f, r, cenote_result_next(res));
	assert_int_equal(r, CENOTE_ROW);
	assert_int_equal(cenote_result_next(res), CENOTE_AGAIN);
	cenote_result_destroy(res);
	assert_ok(drive_run(f, "cmd"));
	assert_ok(drive_run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_portals_closed, 1);
	assert_int_equal(cenote_pins(f->conn), 0);
}

static void
a_resume_that_is_given_up_leaks_nothing(void **state)
{
	const cenote_exec_options options = { sizeof(options), 0, 1, 2, 0, 0 };
	struct fixture *f = *state;
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res;
	int r;

	assert_ok(drive_connect(f));
	DRIVE(f, r, cenote_query(f->conn, "rows 5", 6, NULL, &options, &res));
	DRIVE(f, r, cenote_result_next(res));
	DRIVE(f, r, cenote_suspend(f->conn, res, 0, token));
	assert_ok(r);
	cenote_result_destroy(res);
	while (cenote_is_connected(f->conn) == 0) {
		assert_int_equal(cenote_resume(f->conn, token, &res), CENOTE_AGAIN);
		turn(f);
	}
	cenote_close(f->conn);
	assert_ok(drive_connect(f));
}

static void
tcp_is_as_good_as_a_unix_socket(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cnt_peer_listen_tcp(&f->peer), 0);
	assert_ok(cenote_conn_set(f->conn, "run_dir", NULL));
	assert_ok(cenote_conn_set_uri(f->conn, f->peer.uri));
	assert_ok(scenario(f));
	assert_int_equal(strncmp(cenote_info(f->conn, "socket"), "127.0.0.1:", 10), 0);
	assert_ok(drive_run(f, "yield"));
	assert_ok(drive_run(f, "cmd"));
	/* Hosts that do not answer, and one that does, in the given and in a random order; at
	 * last a blocking connect. */
	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "host", strstr(f->peer.uri, "//") + 2));
	for (int i = 0; i < 8; i++) {
		char hosts[128];
		int len = (int)strcspn(strstr(f->peer.uri, "//") + 2, "/");

		(void)snprintf(hosts, sizeof(hosts), "127.0.0.1:1,%.*s,[::1]:1", len,
			strstr(f->peer.uri, "//") + 2);
		assert_ok(cenote_conn_set(f->conn, "host", hosts));
		assert_ok(
			cenote_conn_set(f->conn, "hosts", i % 2 ? "random" : "ordered"));
		assert_ok(drive_connect(f));
		cenote_close(f->conn);
	}
	assert_int_equal(cnt_peer_start(&f->peer), 0);
	assert_ok(cenote_set_nonblocking(f->conn, 0));
	assert_ok(cenote_connect(f->conn));
	assert_ok(drive_run(f, "rows 1000"));
}

static void
creating_fails_for_memory_only(void **state)
{
	struct cnt_alloc a;

	for (size_t n = 1;; n++) {
		cenote_conn *conn = NULL;
		int r;

		cnt_alloc_init(&a, n);
		r = cenote_conn_create(&a.mem, &conn);
		if (r == CENOTE_OK) {
			r = cenote_conn_set_uri(conn, "cenote://u:p@h:1/pool?program=x");
			cenote_conn_destroy(conn);
		}
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a)) {
			assert_ok(r);
			break;
		}
		assert_int_equal(r, CENOTE_ERR_NOMEM);
	}
}

/* ------------------------------------------------------------- the process around us */

static long n_asked;

static long
count_and_tell_pid(void)
{
	n_asked++;
	return getpid();
}

static void
refuse_a_child(struct fixture *f)
{
	cenote_result *res;
	pid_t pid;
	int status;

	assert_ok(drive_connect(f));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int bad = cenote_query(f->conn, "cmd", 3, NULL, NULL, &res) !=
				  CENOTE_ERR_STATE ||
			  cenote_ping(f->conn) != CENOTE_ERR_STATE ||
			  cenote_get_result(f->conn, &res) != CENOTE_ERR_STATE ||
			  cenote_process(f->conn) != CENOTE_ERR_STATE;

		cenote_conn_destroy(f->conn);
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(drive_run(f, "cmd"));
	assert_string_equal(f->peer.seen.commands, "cmd;");
	assert_int_equal(f->peer.seen.n_connects, 1);
}

static void
a_child_may_only_destroy_its_parents_connection(void **state)
{
	refuse_a_child(*state);
}

static void
a_program_may_tell_the_process(void **state)
{
	struct fixture *f = *state;

	cenote_conn_set_getpid(f->conn, count_and_tell_pid);
	n_asked = 0;
	refuse_a_child(f);
	assert_true(n_asked > 1);
}

static volatile sig_atomic_t n_sigpipe;

static void
on_sigpipe(int signo)
{
	(void)signo;
	n_sigpipe++;
}

static void
a_dead_peer_raises_no_signal(void **state)
{
	struct fixture *f = *state;
	struct sigaction act = { .sa_handler = on_sigpipe }, old, after;
	int r;

	(void)sigemptyset(&act.sa_mask);
	assert_int_equal(sigaction(SIGPIPE, &act, &old), 0);
	for (int i = 0; i < 3; i++) {
		cenote_close(f->conn);
		assert_ok(drive_connect(f));
		DRIVE(f, r, cenote_begin(f->conn, 0, 0));
		assert_ok(r);
		cnt_peer_drop(&f->peer, 0);
		assert_int_equal(drive_run(f, "cmd"), CENOTE_ERR_CONN);
	}
	assert_int_equal(n_sigpipe, 0);
	assert_int_equal(sigaction(SIGPIPE, &old, &after), 0);
	assert_true(after.sa_handler == on_sigpipe);
}

static void
descriptors_close_on_exec(void **state)
{
	struct fixture *f = *state;

	assert_ok(drive_connect(f));
	assert_int_equal(fcntl(cenote_fd(f->conn), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_nonblocking, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_connect_waits_for_the_descriptor_it_names),
		TEST(a_passive_handle_reads_when_it_is_processed),
		TEST(a_passive_handle_reads_when_it_is_processed_after_staying),
		TEST(a_passive_handle_keeps_the_number_of_its_descriptor),
		TEST(is_busy_and_process_tell_when_a_result_is_there),
		TEST(a_large_request_goes_out_in_parts),
		TEST(a_reader_that_does_not_read_stops_the_writer),
		TEST(a_full_queue_of_connections_is_waited_for),
		TEST(bytes_may_come_one_at_a_time),
		cmocka_unit_test(an_end_at_any_byte_is_survived),
		TEST(each_allocation_may_fail),
		TEST(a_call_is_repeated_after_a_lack_of_memory),
		TEST(attaching_anew_is_repeated_after_a_lack_of_memory),
		TEST(a_child_may_destroy_results_and_statements),
		TEST(a_result_destroyed_while_it_is_fetched_closes_its_portal),
		TEST(a_resume_that_is_given_up_leaks_nothing),
		TEST(tcp_is_as_good_as_a_unix_socket),
		cmocka_unit_test(creating_fails_for_memory_only),
		TEST(a_program_may_tell_the_process),
		TEST(a_child_may_only_destroy_its_parents_connection),
		TEST(a_dead_peer_raises_no_signal),
		TEST(descriptors_close_on_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
