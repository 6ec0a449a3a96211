/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "protocol/msg.h"

/* Sessions that are taken back or lost. */

static void
wait_for_end(const struct fixture *f)
{
	/* The pool closed its end: the library sees it at its next call. */
	while (1) {
		struct cnt_peer *p = (struct cnt_peer *)&f->peer;
		size_t n = 0;

		(void)pthread_mutex_lock(&p->lock);
		for (size_t i = 0; i < CNT_PEER_CONNS; i++)
			n += p->conns[i].fd >= 0;
		(void)pthread_mutex_unlock(&p->lock);
		if (n == 0)
			return;
		(void)usleep(1000);
	}
}

/* Run a statement after which the pool ends the session. */
static void
run_and_lose(struct fixture *f, const char *sql)
{
	assert_ok(run(f, sql));
	wait_for_end(f);
}

static int64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
a_yield_when_idle_is_not_noticed(void **state)
{
	struct fixture *f = *state;

	run_and_lose(f, "yield");
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS |
						     CNP_ATTACH_LISTENS |
						     CNP_ATTACH_RESTORES);
	assert_int_equal(f->peer.seen.generation, 1);
	assert_string_equal(f->peer.seen.carry, "yield1");
	assert_string_equal(f->peer.seen.commands, "yield;cmd;");
	assert_string_equal(cenote_info(f->conn, "attaches"), "2");
	assert_string_equal(cenote_info(f->conn, "session"), "102");
}

static void
process_sees_a_yield_and_stays_connected(void **state)
{
	struct fixture *f = *state;

	run_and_lose(f, "yield");
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_int_equal(cenote_wants(f->conn), 0);
	assert_int_equal(cenote_is_connected(f->conn), 1);
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(f->peer.seen.n_attaches, 1);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
}

/* A program may begin to wait on the descriptor after its session has ended. */
static void
there_is_a_descriptor_between_two_sessions(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	run_and_lose(f, "yield");
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	p.fd = cenote_fd(f->conn);
	assert_true(p.fd > STDERR_FILENO);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_BLOCKING));
	for (int i = 0; i < 2; i++) {
		assert_ok(run(f, i == 0 ? "yield" : "cmd"));
		assert_int_equal(cenote_fd(f->conn), p.fd);
		if (i == 0)
			wait_for_end(f);
	}
	cenote_close(f->conn);
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_int_equal(fcntl(p.fd, F_GETFD), -1);
}

static void
a_request_that_a_yield_did_not_reach_is_sent_again(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "yield_now"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_string_equal(f->peer.seen.commands, "yield_now;");
}

static void
requests_behind_the_last_one_run_once_each(void **state)
{
	static const char *const sqls[] = { "cmd 1", "yield 2", "rows 3", "yield 4",
		"cmd 5" };
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_pipeline_begin(f->conn));
	for (size_t i = 0; i < 5; i++) {
		send_query(f, sqls[i]);
		if (i != 2)
			assert_ok(cenote_send_sync(f->conn));
	}
	for (size_t i = 0; i < 9; i++) {
		assert_ok(cenote_get_result(f->conn, &res));
		assert_int_not_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
		finish_request(f, res);
	}
	assert_ok(cenote_pipeline_end(f->conn));
	assert_string_equal(f->peer.seen.commands, "cmd 1;yield 2;rows 3;yield 4;cmd 5;");
	assert_int_equal(f->peer.seen.n_attaches, 3);
	assert_string_equal(f->peer.seen.carry, "yield3");
}

static void
statements_are_prepared_again(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt, *idle;
	cenote_result *res;

	stmt = create_stmt(f, "rows 3");
	idle = create_stmt(f, "cmd");
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_stmt_prepare(idle));
	for (int i = 0; i < 3; i++) {
		assert_ok(run(f, "yield"));
		if (i > 0)
			wait_for_end(f);
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_int_equal(cenote_result_n_rows(res), 3);
		cenote_result_destroy(res);
	}
	/* Only the statement that is used was prepared again. */
	assert_int_equal(f->peer.seen.n_prepares, 2 + 3);
	cenote_stmt_destroy(stmt);
	cenote_stmt_destroy(idle);
}

/* A request may need a statement while the next session is being attached. The PREPARE goes
 * after the requests that already wait. */
static void
a_statement_is_prepared_behind_what_waits_for_the_session(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 3");
	cenote_result *res;

	assert_ok(cenote_stmt_prepare(stmt));
	run_and_lose(f, "yield");
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	assert_ok(cenote_pipeline_begin(f->conn));
	assert_true(cenote_send_sync(f->conn) >= 0);
	assert_true(cenote_flush(f->conn) >= 0);
	assert_true(cenote_send_execute(stmt, NULL, NULL) >= 0);
	assert_true(cenote_send_describe(stmt) >= 0);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_BLOCKING));
	assert_true(cenote_send_sync(f->conn) >= 0);
	for (int i = 0; i < 4; i++) {
		assert_ok(cenote_get_result(f->conn, &res));
		assert_int_not_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
		finish_request(f, res);
	}
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_int_equal(f->peer.seen.n_prepares, 2);
	assert_ok(cenote_pipeline_end(f->conn));
	cenote_stmt_destroy(stmt);
}

static void
a_statement_destroyed_while_its_request_waits_is_still_prepared(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "rows 3");
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_pipeline_begin(f->conn));
	send_unit(f, "yield");
	assert_ok(cenote_send_execute(stmt, NULL, NULL));
	cenote_stmt_destroy(stmt);
	assert_ok(cenote_send_sync(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
	cenote_result_destroy(res);
	assert_int_equal(f->peer.seen.n_attaches, 2);
}

static void
a_statement_that_cannot_be_prepared_again_says_why(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "rows 3");
	assert_ok(cenote_stmt_prepare(stmt));
	run_and_lose(f, "yield");
	f->peer.knobs.fail_prepare = 1;
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "42P01");
	f->peer.knobs.fail_prepare = 0;
	execute(stmt);
	cenote_stmt_destroy(stmt);
}

/* The table may have changed between two sessions. */
static void
columns_are_not_taken_from_the_session_before(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt;
	cenote_result *res;

	stmt = create_stmt(f, "rows 3");
	execute(stmt);
	/* This request is sent before the library sees the yield, and then again. */
	f->peer.knobs.n_columns = 2;
	assert_ok(cenote_pipeline_begin(f->conn));
	send_unit(f, "yield");
	assert_ok(cenote_send_execute(stmt, NULL, NULL));
	assert_ok(cenote_send_sync(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_n_columns(res), 2);
	assert_string_equal(cenote_result_text(res, 2, 1, NULL), "row 2");
	cenote_result_destroy(res);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cenote_get_result(f->conn, &res),
			i == 1 ? CENOTE_OK : CENOTE_DONE);
		if (i == 1)
			cenote_result_destroy(res);
	}
	assert_ok(cenote_pipeline_end(f->conn));
	/* This request is sent after the library has seen the yield. */
	f->peer.knobs.n_columns = 3;
	assert_ok(run(f, "yield"));
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_columns(res), 3);
	assert_int_equal(cenote_result_n_rows(res), 3);
	cenote_result_destroy(res);
	assert_int_equal(f->peer.seen.n_attaches, 3);
	cenote_stmt_destroy(stmt);
}

static void
autocommit_off_is_told_to_the_next_session(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_set_autocommit(f->conn, 0));
	f->peer.seen.autocommit_off = 0;
	assert_ok(run(f, "yield"));
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_int_equal(f->peer.seen.autocommit_off, 1);
}

static void
a_reset_leaves_nothing_to_be_told_to_the_next_session(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "cmd"));
	assert_ok(cenote_set_autocommit(f->conn, 0));
	assert_ok(cenote_reset(f->conn));
	f->peer.seen.autocommit_off = 0;
	cnt_peer_drop(&f->peer, 0);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_string_equal(f->peer.seen.carry, "");
	assert_int_equal(f->peer.seen.autocommit_off, 0);
}

static void
a_loss_while_idle_and_holding_nothing_is_not_noticed(void **state)
{
	struct fixture *f = *state;

	run_and_lose(f, "last");
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 2);
	assert_string_equal(f->peer.seen.carry, "carry1");
	assert_string_equal(f->peer.seen.commands, "last;cmd;");
	cnt_peer_drop(&f->peer, 0);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_is_connected(f->conn), 1);
	assert_ok(cenote_begin(f->conn, 0, 0));
	assert_int_equal(f->peer.seen.n_attaches, 3);
}

static void
reattach_no_makes_every_loss_an_error(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "reattach", "no"));
	assert_ok(cenote_connect(f->conn));
	run_and_lose(f, "last");
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_int_equal(cenote_is_connected(f->conn), 0);
	assert_ok(cenote_connect(f->conn));
	run_and_lose(f, "yield");
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_non_null(strstr(message_of(f), "reattach=no"));
}

static void
a_loss_with_pins_is_told(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "pin 1"));
	assert_int_equal(cenote_pins(f->conn), CENOTE_PIN_TEMP);
	run_and_lose(f, "last");
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_int_equal(cenote_pins(f->conn), 0);
	/* The error stays the same until the program connects again. */
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_int_equal(f->peer.seen.n_attaches, 1);
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(f->peer.seen.flags,
		CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS | CNP_ATTACH_RESTORES);
	assert_ok(run(f, "cmd"));
}

static void
process_tells_of_a_loss_with_pins(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "pin 2"));
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(cenote_process(f->conn), CENOTE_ERR_CONN);
	assert_non_null(strstr(message_of(f), "it held changed settings"));
	assert_int_equal(cenote_is_connected(f->conn), 0);
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_UNKNOWN);
}

static void
who_waits_on_the_descriptor_of_a_lost_session_finds_its_end(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .fd = cenote_fd(f->conn), .events = POLLIN };

	assert_ok(run(f, "pin 1"));
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_int_equal(cenote_wants(f->conn), 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents & (POLLIN | POLLNVAL), POLLIN);
	cenote_close(f->conn);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLNVAL);
}

static void
a_loss_in_a_transaction_is_told(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_begin(f->conn, 0, 0));
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_UNKNOWN);
	assert_int_equal(cenote_commit(f->conn), CENOTE_ERR_CONN);
	assert_string_equal(f->peer.seen.commands, "");
}

static void
a_loss_in_commit_leaves_the_outcome_unknown(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_begin(f->conn, 0, 0));
	f->peer.knobs.die_on = CNP_MSG_COMMIT;
	assert_int_equal(cenote_commit(f->conn), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	assert_non_null(strstr(message_of(f), "is not known"));
	assert_int_equal(f->peer.seen.n_attaches, 1);
}

/* The error when the connection ends while a statement runs. */
static const struct {
	const char *sql;
	int in_tx;
	const char *sqlstate;
} lost_cases[] = {
	{ "die", 0, "08007" },
	{ "die", 1, "08007" }, /* the library does not know this statement */
	{ "begin", 0, "08006" },
	{ "begin", 1, "08007" },
	{ "create table x", 1, "08007" },
	{ "/* c */ -- x\n commit", 1, "08007" },
	{ "COMMIT", 0, "08007" },
	{ "end", 1, "08007" },
	{ "endless", 1, "08007" },
	{ "insert; commit", 1, "08007" },
	{ "release savepoint a", 1, "08007" },
	{ "rollback", 1, "08006" },
	{ "rollback ; -- c", 1, "08006" },
	{ "rollback; insert", 1, "08007" },
	{ "insert; abort; insert", 1, "08007" },
	{ "rollback", 0, "08006" },
	{ "insert; rollback", 0, "08007" },
	{ "insert; rollback", 1, "08007" },
	{ "update", 0, "08007" },
	{ "update", 1, "08006" },
	{ "select 1", 0, "08006" },
	{ " -- c\n (select 1)", 0, "08007" },
	{ "SELECT f(1)", 0, "08007" },
	{ "SELECT f(1)", 1, "08006" },
	{ "select 1; drop table x", 0, "08007" },
	{ "select 1 ; ", 0, "08006" },
	{ "values", 0, "08006" },
	{ "selects", 0, "08007" },
};

static void
a_loss_while_a_request_runs_tells_the_truth(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(lost_cases) / sizeof(lost_cases[0]); i++) {
		f->peer.knobs.die_on = 0;
		cenote_close(f->conn);
		assert_ok(cenote_connect(f->conn));
		if (lost_cases[i].in_tx)
			assert_ok(cenote_begin(f->conn, 0, 0));
		f->peer.knobs.die_on = CNP_MSG_QUERY;
		assert_int_equal(run(f, lost_cases[i].sql), CENOTE_ERR_CONN);
		if (strcmp(sqlstate_of(f), lost_cases[i].sqlstate) != 0)
			fail_msg("%s: %s", lost_cases[i].sql, sqlstate_of(f));
	}
	assert_string_equal(f->peer.seen.commands, "");
}

/* What was sent before the first of the requests does not count for those behind it. */
static void
a_loss_behind_set_up_is_told(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmts[8];
	cenote_result *res;

	for (int i = 0; i < 8; i++) {
		stmts[i] = create_stmt(f, "cmd");
		execute(stmts[i]);
	}
	for (int i = 0; i < 8; i++)
		cenote_stmt_destroy(stmts[i]);
	assert_ok(cenote_process(f->conn));
	assert_ok(cenote_pipeline_begin(f->conn));
	send_unit(f, "cmd");
	send_unit(f, "die");
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	assert_int_equal(f->peer.seen.n_attaches, 1);
}

/* What was answered may be half of a unit that only its synchronisation point commits. */
static void
a_loss_before_the_synchronisation_point_is_told(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	for (int has_write = 0; has_write < 2; has_write++) {
		assert_ok(cenote_pipeline_begin(f->conn));
		send_query(f, has_write ? "insert" : "select");
		assert_ok(cenote_flush(f->conn));
		take_kind(f, has_write ? CENOTE_RESULT_COMMAND : CENOTE_RESULT_ROWS);
		cnt_peer_drop(&f->peer, 0);
		(void)!cenote_send_sync(f->conn);
		assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
		assert_string_equal(sqlstate_of(f), has_write ? "08007" : "08006");
		cenote_close(f->conn);
		assert_ok(cenote_connect(f->conn));
	}
}

static void
a_begin_in_the_same_pipeline_makes_it_no_autocommit(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_pipeline_begin(f->conn));
	f->peer.knobs.die_on = CNP_MSG_BEGIN;
	assert_ok(cenote_send_begin(f->conn, 0, 0));
	send_unit(f, "insert");
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
}

static void
a_write_behind_a_rollback_is_no_more_in_the_transaction(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_begin(f->conn, 0, 0));
	assert_ok(cenote_pipeline_begin(f->conn));
	f->peer.knobs.die_on = CNP_MSG_QUERY;
	send_query(f, "rollback");
	send_unit(f, "insert");
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
}

static void
a_pragma_acts_also_where_autocommit_is_off(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_set_autocommit(f->conn, 0));
	f->peer.knobs.die_on = CNP_MSG_QUERY;
	assert_int_equal(run(f, "PRAGMA user_version = 5"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
}

static void
what_was_answered_before_a_loss_can_be_read(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_pipeline_begin(f->conn));
	send_query(f, "rows 3");
	send_unit(f, "die");
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_n_rows(res), 3);
	finish_request(f, res);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
}

static void
a_stream_is_lost_with_its_session(void **state)
{
	struct fixture *f = *state;
	const cenote_exec_options options = { sizeof(options), 0, 1, 0, 0, 0 };
	cenote_result *res;
	int r;

	assert_ok(
		cenote_query(f->conn, "rows_die 500", CENOTE_NTS, NULL, &options, &res));
	while ((r = cenote_result_next(res)) == CENOTE_ROW)
		continue;
	assert_int_equal(r, CENOTE_ERR_CONN);
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_CONN);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "08007");
	cenote_result_destroy(res);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
}

static void
a_portal_is_lost_with_its_session(void **state)
{
	struct fixture *f = *state;
	const cenote_exec_options options = { sizeof(options), 0, 1, 10, 0, 0 };
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "rows 500", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_int_equal(cenote_pins(f->conn), CENOTE_PIN_CURSOR);
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_CONN);
	assert_int_equal(int_at(res, 9, 0), 9);
	cenote_result_destroy(res);
}

static void
the_servers_own_session_lost_ends_ours(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, "fail 08006"), CENOTE_ERR_CONN);
	assert_string_equal(message_of(f), "it failed");
	assert_int_equal(cenote_is_connected(f->conn), 0);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_ok(cenote_connect(f->conn));
}

static void *
listen_later(void *arg)
{
	(void)usleep(100000);
	(void)cnt_peer_listen(arg);
	return NULL;
}

static void
attaching_anew_is_tried_until_cenoted_is_back(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	assert_ok(run(f, "yield"));
	cnt_peer_unlisten(&f->peer);
	wait_for_end(f);
	assert_int_equal(pthread_create(&thread, NULL, listen_later, &f->peer), 0);
	assert_ok(run(f, "cmd"));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(f->peer.seen.n_attaches, 2);
}

static void
attaching_anew_survives_workers_that_die(void **state)
{
	struct fixture *f = *state;

	run_and_lose(f, "yield");
	f->peer.knobs.n_die_on_attach = 3;
	assert_ok(run(f, "cmd"));
	assert_string_equal(f->peer.seen.commands, "yield;cmd;");
	run_and_lose(f, "yield");
	f->peer.knobs.refuse = "57P01";
	f->peer.knobs.n_refuse = 2;
	assert_ok(run(f, "cmd"));
	assert_string_equal(f->peer.seen.commands, "yield;cmd;yield;cmd;");
}

/* The session that finally serves the waiting requests gets their statements and the autocommit
 * mode. */
static void
statements_are_prepared_again_behind_workers_that_die(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 3");
	cenote_result *res;

	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_set_autocommit(f->conn, 0));
	f->peer.seen.autocommit_off = 0;
	run_and_lose(f, "yield");
	f->peer.knobs.n_die_on_attach = 2;
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 3);
	cenote_result_destroy(res);
	assert_int_equal(f->peer.seen.n_prepares, 2);
	assert_int_equal(f->peer.seen.autocommit_off, 1);
	cenote_stmt_destroy(stmt);
}

static void
a_session_taken_back_at_once_is_a_session(void **state)
{
	struct fixture *f = *state;

	/* READY and YIELD come in one read. */
	cenote_close(f->conn);
	f->peer.knobs.n_yield_on_attach = 1;
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(cenote_is_connected(f->conn), 1);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 3);
	assert_string_equal(f->peer.seen.commands, "cmd;");
	cenote_close(f->conn);
	f->peer.knobs.n_yield_on_attach = 1;
	assert_ok(cenote_conn_set(f->conn, "reattach", "no"));
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_CONN);
	assert_non_null(strstr(message_of(f), "reattach=no"));
}

static void
a_pool_that_sends_everyone_away_is_not_stormed(void **state)
{
	struct fixture *f = *state;
	int64_t begun;

	run_and_lose(f, "yield");
	f->peer.knobs.n_yield_on_attach = 4;
	begun = now_ms();
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_attaches, 6);
	assert_string_equal(f->peer.seen.commands, "yield;cmd;");
	/* There were pauses from the second attempt on, of 5, 10 and 20 ms, each at least half
	 * as long. */
	assert_true(now_ms() - begun >= 15);
}

static void
attaching_anew_ends_at_its_time_limit(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "reattach_timeout", "50ms"));
	assert_ok(cenote_connect(f->conn));
	run_and_lose(f, "yield");
	cnt_peer_unlisten(&f->peer);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "HYT01");
	assert_non_null(strstr(message_of(f), "reattach_timeout (50ms)"));
	/* the socket of the last session */
	assert_string_equal(cenote_info(f->conn, "socket"), f->peer.path);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_int_equal(cenote_is_connected(f->conn), 0);
}

static void
a_refusal_while_attaching_anew_is_final(void **state)
{
	struct fixture *f = *state;

	run_and_lose(f, "yield");
	f->peer.knobs.refuse = "57P03";
	f->peer.knobs.n_refuse = 1;
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "57P03");
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(f->peer.seen.commands, "yield;");
}

static void
connecting_fails_with_the_pools_words(void **state)
{
	static const struct {
		const char *sqlstate;
		int status;
	} cases[] = {
		{ "28000", CENOTE_ERR_AUTH },
		{ "28P01", CENOTE_ERR_AUTH },
		{ "3D000", CENOTE_ERR_AUTH },
		{ "57P03", CENOTE_ERR_CONN },
		{ "08001", CENOTE_ERR_CONN },
		{ "0A000", CENOTE_ERR_UNSUPPORTED },
	};
	struct fixture *f = *state;

	cenote_close(f->conn);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f->peer.knobs.refuse = cases[i].sqlstate;
		f->peer.knobs.n_refuse = 1;
		assert_int_equal(cenote_connect(f->conn), cases[i].status);
		assert_string_equal(sqlstate_of(f), cases[i].sqlstate);
		assert_string_equal(message_of(f), "refused");
	}
	f->peer.knobs.n_die_on_attach = 1;
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_CONN);
	assert_non_null(strstr(message_of(f), "closed by the other end"));
	f->peer.knobs.auth = CNP_AUTH_SASL;
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_AUTH);
	assert_string_equal(sqlstate_of(f), "28P01");
	assert_non_null(strstr(message_of(f), "asks for a password"));
	f->peer.knobs.auth = CNP_AUTH_NONE;
	assert_ok(cenote_connect(f->conn));
}

static void
connecting_ends_at_its_time_limit(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	cnt_peer_stop(&f->peer);
	assert_ok(cenote_conn_set(f->conn, "connect_timeout", "30ms"));
	assert_int_equal(cenote_connect(f->conn), CENOTE_ERR_TIMEOUT);
	assert_string_equal(sqlstate_of(f), "HYT01");
	assert_non_null(strstr(message_of(f), "connect_timeout (30ms)"));
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_int_equal(cnt_peer_start(&f->peer), 0);
	assert_ok(cenote_conn_set(f->conn, "connect_timeout", "10s"));
	assert_ok(cenote_connect(f->conn));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_connected, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_yield_when_idle_is_not_noticed),
		TEST(process_sees_a_yield_and_stays_connected),
		TEST(there_is_a_descriptor_between_two_sessions),
		TEST(a_request_that_a_yield_did_not_reach_is_sent_again),
		TEST(requests_behind_the_last_one_run_once_each),
		TEST(statements_are_prepared_again),
		TEST(a_statement_is_prepared_behind_what_waits_for_the_session),
		TEST(a_statement_destroyed_while_its_request_waits_is_still_prepared),
		TEST(a_statement_that_cannot_be_prepared_again_says_why),
		TEST(columns_are_not_taken_from_the_session_before),
		TEST(autocommit_off_is_told_to_the_next_session),
		TEST(a_reset_leaves_nothing_to_be_told_to_the_next_session),
		TEST(a_loss_while_idle_and_holding_nothing_is_not_noticed),
		TEST(reattach_no_makes_every_loss_an_error),
		TEST(a_loss_with_pins_is_told),
		TEST(process_tells_of_a_loss_with_pins),
		TEST(who_waits_on_the_descriptor_of_a_lost_session_finds_its_end),
		TEST(a_loss_in_a_transaction_is_told),
		TEST(a_loss_in_commit_leaves_the_outcome_unknown),
		TEST(a_loss_while_a_request_runs_tells_the_truth),
		TEST(a_loss_behind_set_up_is_told),
		TEST(a_loss_before_the_synchronisation_point_is_told),
		TEST(a_begin_in_the_same_pipeline_makes_it_no_autocommit),
		TEST(a_write_behind_a_rollback_is_no_more_in_the_transaction),
		TEST(a_pragma_acts_also_where_autocommit_is_off),
		TEST(what_was_answered_before_a_loss_can_be_read),
		TEST(a_stream_is_lost_with_its_session),
		TEST(a_portal_is_lost_with_its_session),
		TEST(the_servers_own_session_lost_ends_ours),
		TEST(attaching_anew_is_tried_until_cenoted_is_back),
		TEST(attaching_anew_survives_workers_that_die),
		TEST(statements_are_prepared_again_behind_workers_that_die),
		TEST(a_session_taken_back_at_once_is_a_session),
		TEST(a_pool_that_sends_everyone_away_is_not_stormed),
		TEST(attaching_anew_ends_at_its_time_limit),
		TEST(a_refusal_while_attaching_anew_is_final),
		TEST(connecting_fails_with_the_pools_words),
		TEST(connecting_ends_at_its_time_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
