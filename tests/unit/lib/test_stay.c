/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/msg.h"

/*
 * The peer plays a pool that takes the session back and lets the connection stay. The client gets its next session on
 * the same connection, and sends its first request together with ATTACH.
 */

static int
setup_staying(void **state)
{
	struct fixture *f;

	if (setup_connected(state) < 0)
		return -1;
	f = *state;
	f->peer.knobs.lets_stay = 1;
	return 0;
}

/* As setup_staying(), over TCP. */
static int
setup_staying_tcp(void **state)
{
	struct fixture *f;

	if (setup_peer(state) < 0)
		return -1;
	f = *state;
	f->peer.knobs.lets_stay = 1;
	if (cnt_peer_listen_tcp(&f->peer) < 0 ||
		cenote_conn_set(f->conn, "run_dir", NULL) < 0 ||
		cenote_conn_set_uri(f->conn, f->peer.uri) < 0 ||
		cnt_peer_start(&f->peer) < 0 || cenote_connect(f->conn) < 0)
		return -1;
	return 0;
}

/* Run a statement after which the peer takes the session back. Return once the library has read the YIELD. */
static void
stay(struct fixture *f)
{
	unsigned before = f->peer.seen.n_stays;

	assert_ok(run(f, "yield"));
	while (f->peer.seen.n_stays == before) {
		assert_ok(cenote_process(f->conn));
		(void)usleep(1000);
	}
	assert_ok(cenote_process(f->conn));
}

static void
wait_for_end(struct fixture *f)
{
	struct pollfd p = { .fd = cenote_fd(f->conn), .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
}

static void
the_next_session_comes_on_the_same_connection(void **state)
{
	struct fixture *f = *state;
	int fd = cenote_fd(f->conn);

	for (unsigned i = 1; i < 4; i++) {
		char session[16];

		stay(f);
		assert_int_equal(cenote_fd(f->conn), fd);
		assert_int_equal(cenote_is_connected(f->conn), 1);
		assert_int_equal(cenote_tx_state(f->conn), CENOTE_TX_IDLE);
		assert_ok(run(f, "cmd"));
		(void)snprintf(session, sizeof(session), "%u", 200 + i);
		assert_string_equal(cenote_info(f->conn, "session"), session);
		assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS |
							     CNP_ATTACH_LISTENS |
							     CNP_ATTACH_RESTORES);
		assert_int_equal(f->peer.seen.generation, i);
		assert_int_equal(f->peer.seen.n_attaches, i + 1);
	}
	assert_int_equal(f->peer.seen.n_connects, 1);
	assert_string_equal(f->peer.seen.program, "");
	assert_string_equal(f->peer.seen.commands, "yield;cmd;yield;cmd;yield;cmd;");
	assert_int_equal(strncmp(f->peer.seen.carry, "yield", 5), 0);
}

static void
what_the_pool_does_not_say_again_is_as_it_was(void **state)
{
	static const char *const names[] = { "backend", "server", "server_version",
		"database", "pool", "user", "socket", "features", "server_encoding",
		"zone", "protocol" };
	struct fixture *f = *state;
	char before[16][64];

	assert_ok(run(f, "cmd"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(cenote_info(f->conn, names[i]));
		(void)snprintf(before[i], sizeof(before[i]), "%s",
			cenote_info(f->conn, names[i]));
	}
	for (int all = 0; all < 2; all++) {
		f->peer.knobs.says_all = all;
		stay(f);
		assert_ok(run(f, "cmd"));
		/* A new list of parameters replaces the old one, and the peer's list has no "zone". */
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (!all || strcmp(names[i], "zone") != 0)
				assert_string_equal(
					cenote_info(f->conn, names[i]), before[i]);
		}
	}
	assert_int_equal(f->peer.seen.n_connects, 1);
}

static void
count_changes(const char *name, const char *value, void *user)
{
	(void)snprintf(user, 64, "%s=%s", name, value);
}

static void
what_the_pool_says_again_is_news(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";

	stay(f);
	f->peer.knobs.says_all = 1;
	f->peer.knobs.zone = "Mars";
	cenote_set_parameter_handler(f->conn, count_changes, told);
	assert_ok(run(f, "cmd"));
	assert_string_equal(told, "TimeZone=Mars");
	assert_string_equal(cenote_parameter(f->conn, "TimeZone"), "Mars");
	assert_int_equal(f->peer.seen.n_connects, 1);
}

static void
statements_autocommit_and_options_come_again(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 3");
	cenote_result *res;

	assert_ok(cenote_set_session_option(f->conn, "a", "1"));
	assert_ok(cenote_set_autocommit(f->conn, 0));
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_int_equal(cenote_result_n_rows(res), 3);
		cenote_result_destroy(res);
		assert_int_equal(f->peer.seen.n_prepares, i + 1);
		f->peer.seen.autocommit_off = 0;
		stay(f);
	}
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.autocommit_off, 1);
	assert_string_equal(f->peer.seen.options, "a=1;");
	assert_int_equal(f->peer.seen.n_connects, 1);
	cenote_stmt_destroy(stmt);
}

static void
a_statement_that_cannot_be_prepared_again_says_why(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 3");
	cenote_result *res;

	execute(stmt);
	stay(f);
	f->peer.knobs.fail_prepare = 1;
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "42P01");
	f->peer.knobs.fail_prepare = 0;
	execute(stmt);
	assert_int_equal(f->peer.seen.n_connects, 1);
	cenote_stmt_destroy(stmt);
}

static void
who_waits_on_the_descriptor_is_not_woken_for_nothing(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	stay(f);
	p.fd = cenote_fd(f->conn);
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_wait(f->conn, 0), CENOTE_DONE);
	assert_int_equal(f->peer.seen.n_attaches, 1);
	/* If the pool ends the connection, nothing is lost. */
	for (int with_yield = 0; with_yield < 2; with_yield++) {
		cnt_peer_drop(&f->peer, with_yield);
		wait_for_end(f);
		assert_ok(cenote_process(f->conn));
		assert_int_equal(cenote_fd(f->conn), -1);
		assert_int_equal(cenote_wants(f->conn), 0);
		assert_int_equal(cenote_is_connected(f->conn), 1);
		stay(f);
	}
	assert_int_equal(f->peer.seen.n_connects, 3);
}

static void
a_passive_handle_keeps_its_number(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLIN };

	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_BLOCKING));
	p.fd = cenote_fd(f->conn);
	stay(f);
	assert_int_equal(cenote_fd(f->conn), p.fd);
	cnt_peer_drop(&f->peer, 0);
	wait_for_end(f);
	assert_ok(cenote_process(f->conn));
	assert_int_equal(cenote_fd(f->conn), p.fd);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_ok(run(f, "cmd"));
	assert_int_equal(cenote_fd(f->conn), p.fd);
	assert_int_equal(f->peer.seen.n_connects, 2);
}

/* The client first sees the end of the connection when it sends its next request. */
static void
an_end_while_it_stays_is_no_loss(void **state)
{
	struct fixture *f = *state;

	for (unsigned with_yield = 0; with_yield < 2; with_yield++) {
		stay(f);
		cnt_peer_drop(&f->peer, (int)with_yield);
		assert_ok(run(f, "cmd"));
		assert_int_equal(f->peer.seen.n_connects, with_yield + 2);
	}
	assert_string_equal(f->peer.seen.commands, "yield;cmd;yield;cmd;");
}

static void
sent_away_it_attaches_with_a_new_connection(void **state)
{
	struct fixture *f = *state;

	stay(f);
	f->peer.knobs.n_send_away = 1;
	assert_ok(run(f, "cmd"));
	assert_string_equal(f->peer.seen.commands, "yield;cmd;");
	assert_int_equal(f->peer.seen.n_connects, 2);
	/* on a new connection, ATTACH names the program */
	assert_string_equal(f->peer.seen.program, "test_lib_stay");
}

static void
a_pool_that_shuts_down_is_left_and_a_refusal_is_final(void **state)
{
	struct fixture *f = *state;

	stay(f);
	f->peer.knobs.refuse = "57P01";
	f->peer.knobs.n_refuse = 1;
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_connects, 2);
	stay(f);
	f->peer.knobs.refuse = "57P03";
	f->peer.knobs.n_refuse = 1;
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "57P03");
	assert_string_equal(f->peer.seen.commands, "yield;cmd;yield;");
}

/* The pool had the request. If it may have been committed, the error says that the outcome is unknown. */
static void
a_loss_behind_a_request_tells_the_truth(void **state)
{
	struct fixture *f = *state;

	stay(f);
	f->peer.knobs.n_die_on_attach = 1;
	assert_int_equal(run(f, "update"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	assert_ok(cenote_connect(f->conn));
	stay(f);
	f->peer.knobs.n_die_on_attach = 1;
	assert_int_equal(run(f, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_string_equal(f->peer.seen.commands, "yield;yield;");
}

static void
waiting_has_its_time_limit(void **state)
{
	struct fixture *f = *state;

	f->peer.knobs.keeps_waiting = 1;
	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "reattach_timeout", "50ms"));
	assert_ok(cenote_connect(f->conn));
	stay(f);
	assert_int_equal(run(f, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "HYT01");
	assert_ok(cenote_connect(f->conn));
	stay(f);
	assert_int_equal(run(f, "update"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	assert_non_null(strstr(message_of(f), "reattach_timeout (50ms)"));
}

static void
who_may_not_reattach_does_not_stay(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "reattach", "no"));
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(f->peer.seen.flags, 0);
	assert_ok(run(f, "yield"));
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_int_equal(f->peer.seen.n_stays, 0);
	/* With reattach=planned, a loss is an error, but a client that stays has nothing to lose. */
	assert_ok(cenote_conn_set(f->conn, "reattach", "planned"));
	assert_ok(cenote_connect(f->conn));
	stay(f);
	cnt_peer_drop(&f->peer, 0);
	assert_ok(run(f, "cmd"));
}

static void
it_can_be_closed_suspended_and_left_to_a_child(void **state)
{
	struct fixture *f = *state;
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res;
	int status;
	pid_t pid;

	stay(f);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int bad = cenote_query(f->conn, "cmd", 3, NULL, NULL, &res) !=
			  CENOTE_ERR_STATE;

		cenote_conn_destroy(f->conn);
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_connects, 1);
	stay(f);
	assert_ok(cenote_suspend(f->conn, NULL, 0, token));
	assert_ok(cenote_resume(f->conn, token, &res));
	assert_null(res);
	assert_ok(run(f, "cmd"));
	cenote_close(f->conn);
	assert_ok(cenote_connect(f->conn));
	stay(f);
	cenote_close(f->conn);
	assert_int_equal(cenote_fd(f->conn), -1);
	assert_int_equal(cenote_is_connected(f->conn), 0);
}

static void
a_cancel_names_the_new_session(void **state)
{
	struct fixture *f = *state;
	cenote_cancel *cancel;

	stay(f);
	send_query(f, "hang");
	assert_ok(cenote_cancel_create(f->conn, &cancel));
	while (cenote_cancel_send(cancel) == CENOTE_DONE)
		continue; /* the request has not come to the peer yet */
	take_kind(f, CENOTE_RESULT_ERROR);
	cenote_cancel_destroy(cancel);
	assert_ok(run(f, "cmd"));
	assert_int_equal(
		f->peer.seen.n_connects, 2); /* the second connection is the cancel's */
}

/* Requests that were sent before the session was taken back run on the next session, and so do later requests. */
static void
a_pipeline_goes_on_across_sessions(void **state)
{
	static const char *const sqls[] = { "cmd 1", "yield 2", "rows 3", "yield 4",
		"cmd 5" };
	struct fixture *f = *state;
	cenote_result *res;

	assert_ok(cenote_pipeline_begin(f->conn));
	for (size_t i = 0; i < 5; i++) {
		send_unit(f, sqls[i]);
		assert_ok(cenote_flush(f->conn));
	}
	for (size_t i = 0; i < 10; i++) {
		assert_ok(cenote_get_result(f->conn, &res));
		assert_int_not_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
		finish_request(f, res);
	}
	assert_ok(cenote_pipeline_end(f->conn));
	assert_string_equal(f->peer.seen.commands, "cmd 1;yield 2;rows 3;yield 4;cmd 5;");
	assert_int_equal(f->peer.seen.n_attaches, 3);
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, setup_staying, teardown)
#define TEST_TCP(name) cmocka_unit_test_setup_teardown(name, setup_staying_tcp, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_session_comes_on_the_same_connection),
		TEST(what_the_pool_does_not_say_again_is_as_it_was),
		TEST(what_the_pool_says_again_is_news),
		TEST(statements_autocommit_and_options_come_again),
		TEST(a_statement_that_cannot_be_prepared_again_says_why),
		TEST(who_waits_on_the_descriptor_is_not_woken_for_nothing),
		TEST(a_passive_handle_keeps_its_number),
		TEST(an_end_while_it_stays_is_no_loss),
		TEST_TCP(an_end_while_it_stays_is_no_loss),
		TEST_TCP(the_next_session_comes_on_the_same_connection),
		TEST(sent_away_it_attaches_with_a_new_connection),
		TEST(a_pool_that_shuts_down_is_left_and_a_refusal_is_final),
		TEST(a_loss_behind_a_request_tells_the_truth),
		TEST(waiting_has_its_time_limit),
		TEST(who_may_not_reattach_does_not_stay),
		TEST(it_can_be_closed_suspended_and_left_to_a_child),
		TEST(a_cancel_names_the_new_session),
		TEST(a_pipeline_goes_on_across_sessions),
	};

	return cmocka_run_group_tests_name("lib_stay", tests, NULL, NULL);
}
