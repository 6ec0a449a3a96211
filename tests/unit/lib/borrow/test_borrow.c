/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/msg.h"
#include "relay.h"

/*
 * The peer plays a pool that lends its server's socket, and it plays that server, which speaks the pool's protocol. So
 * the module (relay.c) only passes bytes on.
 */

static struct relay *relay;

static int
setup_lending(void **state)
{
	struct fixture *f;

	memset(relay, 0, sizeof(*relay));
	if (setup_connected(state) < 0)
		return -1;
	f = *state;
	f->peer.knobs.lends = 1;
	return 0;
}

static int
teardown_lending(void **state)
{
	int r = teardown(state);

	assert_int_equal(relay->n_closed, relay->n_opened);
	return r;
}

static void
wait_returned(struct fixture *f, unsigned n)
{
	for (int i = 0; f->peer.seen.n_returned < n && i < 10000; i++)
		(void)usleep(1000);
	assert_int_equal(f->peer.seen.n_returned, n);
}

/* Return once the next session is that of a loan. */
static void
borrow(struct fixture *f)
{
	unsigned before = f->peer.seen.n_loans;

	assert_ok(run(f, "yield"));
	while (f->peer.seen.n_loans == before)
		(void)usleep(1000);
	assert_ok(run(f, "cmd"));
	assert_string_equal(cenote_info(f->conn, "data_path"), "lent");
}

static void
a_lent_session_goes_on_at_the_server(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 3");
	char socket[128];

	assert_int_equal(f->peer.seen.flags, CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS |
						     CNP_ATTACH_RESTORES |
						     CNP_ATTACH_BORROWS);
	assert_string_equal(cenote_info(f->conn, "data_path"), "relayed");
	(void)snprintf(socket, sizeof(socket), "%s", cenote_info(f->conn, "socket"));
	execute(stmt);
	assert_ok(cenote_set_session_option(f->conn, "a", "1"));
	borrow(f);
	execute(stmt);
	assert_int_equal(f->peer.seen.n_prepares, 2);
	assert_string_equal(f->peer.seen.options, "a=1;");
	assert_string_equal(cenote_info(f->conn, "session"), "301");
	assert_string_equal(cenote_info(f->conn, "socket"), socket);
	assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_RESTORES);
	assert_int_equal(strncmp(f->peer.seen.carry, "yield", 5), 0);
	assert_int_equal(f->peer.seen.n_connects, 1);
	assert_int_equal(f->peer.seen.n_returned, 0);
	cenote_stmt_destroy(stmt);
}

static void
a_yield_of_the_loan_leads_back_to_the_pool(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 1; i < 4; i++) {
		borrow(f);
		assert_ok(run(f, "yield"));
		assert_ok(run(f, "cmd"));
		assert_string_equal(cenote_info(f->conn, "data_path"), "relayed");
		wait_returned(f, i);
		assert_int_equal(f->peer.seen.n_connects, i + 1);
		assert_int_equal(f->peer.seen.flags,
			CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS |
				CNP_ATTACH_RESTORES | CNP_ATTACH_BORROWS);
	}
	assert_int_equal(relay->n_closed, 3);
}

static void
closing_gives_it_back(void **state)
{
	struct fixture *f = *state;

	borrow(f);
	cenote_close(f->conn);
	assert_int_equal(cenote_fd(f->conn), -1);
	wait_returned(f, 1);
	/* a loan that was not used yet */
	assert_ok(cenote_connect(f->conn));
	assert_ok(run(f, "yield"));
	while (f->peer.seen.n_loans < 2)
		(void)usleep(1000);
	(void)usleep(1000);
	cenote_close(f->conn);
	wait_returned(f, 2);
}

static void
requests_that_were_sent_go_along(void **state)
{
	static const char *const sqls[] = { "cmd 1", "yield 2", "rows 3", "cmd 4" };
	struct fixture *f = *state;
	cenote_result *res;

	for (int chokes = 0; chokes < 2; chokes++) {
		relay->chokes = chokes;
		f->peer.seen.commands[0] = '\0';
		assert_ok(cenote_pipeline_begin(f->conn));
		for (size_t i = 0; i < 4; i++) {
			send_unit(f, sqls[i]);
			assert_ok(cenote_flush(f->conn));
		}
		for (size_t i = 0; i < 8; i++) {
			assert_ok(cenote_get_result(f->conn, &res));
			assert_int_not_equal(
				cenote_result_kind(res), CENOTE_RESULT_ERROR);
			finish_request(f, res);
		}
		assert_ok(cenote_pipeline_end(f->conn));
		assert_string_equal(f->peer.seen.commands, "cmd 1;yield 2;rows 3;cmd 4;");
		assert_string_equal(cenote_info(f->conn, "data_path"), "lent");
		assert_ok(run(f, "yield"));
		assert_ok(run(f, "cmd"));
	}
}

/* poll() says that there is room to write, but the module takes nothing until it has read. */
static void
who_waits_for_an_answer_does_not_spin(void **state)
{
	struct fixture *f = *state;

	borrow(f);
	relay->chokes = 1;
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_NONBLOCKING));
	assert_ok(cenote_pipeline_begin(f->conn));
	send_unit(f, "hang");
	assert_ok(cenote_flush(f->conn));
	send_unit(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	assert_int_equal(cenote_process(f->conn), CENOTE_AGAIN);
	assert_int_equal(cenote_wants(f->conn), CENOTE_WANTS_READ);
	assert_int_equal(cenote_wait_ms(f->conn), -1);
}

static void
answers_of_the_module_are_found_without_the_socket(void **state)
{
	struct fixture *f = *state;

	relay->reads_ahead = 1;
	borrow(f);
	for (int i = 0; i < 10; i++)
		assert_ok(run(f, "rows 100"));
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_NONBLOCKING));
	send_query(f, "cmd");
	assert_int_equal(cenote_wait_ms(f->conn), 0);
	assert_ok(cenote_process(f->conn));
	assert_false(cenote_is_busy(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	send_query(f, "cmd");
	assert_false(cenote_is_busy(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
}

static void
wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
}

static void
the_number_stays_the_same(void **state)
{
	struct fixture *f = *state;
	int fd = cenote_fd(f->conn);

	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_BLOCKING));
	borrow(f);
	assert_int_equal(cenote_fd(f->conn), fd);
	assert_int_equal(relay->fd, fd);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_PASSIVE));
	send_query(f, "cmd");
	wait_readable(fd);
	assert_ok(cenote_process(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	send_query(f, "yield");
	wait_readable(fd);
	while (relay->n_closed == 0) {
		(void)usleep(1000);
		assert_ok(cenote_process(f->conn));
	}
	assert_int_equal(cenote_fd(f->conn), fd);
	wait_returned(f, 1);
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_ok(cenote_set_nonblocking(f->conn, CENOTE_BLOCKING));
	assert_ok(run(f, "cmd"));
	assert_int_equal(cenote_fd(f->conn), fd);
}

/* An event loop that reads the YIELD is attached to the loan at once: no other descriptor would wake it for that. */
static void
processing_goes_on_to_the_loan(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "yield"));
	while (f->peer.seen.n_loans == 0)
		(void)usleep(1000);
	for (int i = 0; strcmp(cenote_info(f->conn, "session"), "301") != 0 && i < 1000;
		i++) {
		(void)usleep(1000);
		assert_true(cenote_process(f->conn) >= 0);
	}
	assert_string_equal(cenote_info(f->conn, "session"), "301");
	assert_string_equal(cenote_info(f->conn, "data_path"), "lent");
	assert_string_equal(f->peer.seen.commands, "yield;");
}

static void
a_module_that_cannot_serve_it_is_not_asked_again(void **state)
{
	static const int why[] = { CENOTE_ERR_UNSUPPORTED, CENOTE_ERR_NOMEM,
		CENOTE_ERR_PROTOCOL };
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3; i++) {
		unsigned n = f->peer.seen.n_connects;

		relay->refuses = why[i];
		assert_ok(run(f, "yield"));
		assert_ok(run(f, "cmd"));
		wait_returned(f, i + 1);
		assert_int_equal(f->peer.seen.n_connects, n + 1);
		assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS |
							     CNP_ATTACH_LISTENS |
							     CNP_ATTACH_RESTORES);
		assert_ok(run(f, "yield"));
		assert_ok(run(f, "cmd"));
		assert_int_equal(f->peer.seen.n_loans, i + 1);
		cenote_conn_destroy(f->conn);
		assert_ok(cenote_conn_create(&f->alloc.mem, &f->conn));
		assert_ok(cenote_conn_set_uri(f->conn, f->peer.uri));
		assert_ok(cenote_connect(f->conn));
	}
	assert_int_equal(relay->n_opened, 0);
}

static void
a_loan_that_refuses_or_ends_at_once_leads_back_to_the_pool(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "yield"));
	f->peer.knobs.n_die_on_attach = 1;
	assert_ok(run(f, "update"));
	assert_int_equal(f->peer.seen.n_connects, 2);
	wait_returned(f, 1);
	assert_ok(run(f, "yield"));
	f->peer.knobs.refuse = "57P03";
	f->peer.knobs.n_refuse = 1;
	assert_ok(run(f, "update"));
	assert_int_equal(f->peer.seen.n_connects, 3);
	assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS |
						     CNP_ATTACH_LISTENS |
						     CNP_ATTACH_RESTORES);
	assert_int_equal(f->peer.seen.n_loans, 2);
	assert_string_equal(f->peer.seen.commands, "yield;update;yield;update;");
}

static void
a_loan_without_its_descriptors_is_a_violation(void **state)
{
	struct fixture *f = *state;

	f->peer.knobs.n_lent = 1;
	send_query(f, "yield");
	while (cenote_process(f->conn) == CENOTE_OK)
		(void)usleep(1000);
	assert_int_equal(cenote_process(f->conn), CENOTE_ERR_PROTOCOL);
	assert_string_equal(sqlstate_of(f), "08P01");
}

static void
who_may_not_borrow_does_not_offer_it(void **state)
{
	static const char *const options[][2] = { { "borrow", "no" },
		{ "reattach", "no" } };
	struct fixture *f = *state;

	for (size_t i = 0; i < 2; i++) {
		cenote_close(f->conn);
		assert_ok(cenote_conn_set(f->conn, options[i][0], options[i][1]));
		assert_ok(cenote_connect(f->conn));
		assert_int_equal(f->peer.seen.flags & CNP_ATTACH_BORROWS, 0);
		cenote_close(f->conn);
		assert_ok(cenote_conn_set(f->conn, options[i][0], NULL));
	}
	assert_ok(cenote_connect(f->conn));
	assert_true(f->peer.seen.flags & CNP_ATTACH_BORROWS);
	(void)setenv("CENOTE_BORROW", "no", 1);
	cenote_conn_destroy(f->conn);
	assert_ok(cenote_conn_create(&f->alloc.mem, &f->conn));
	assert_ok(cenote_conn_set_uri(f->conn, f->peer.uri));
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(f->peer.seen.flags & CNP_ATTACH_BORROWS, 0);
	(void)setenv("CENOTE_BORROW", "auto", 1);
	cenote_conn_destroy(f->conn);
	assert_ok(cenote_conn_create(&f->alloc.mem, &f->conn));
	assert_int_equal(cnt_peer_listen_tcp(&f->peer), 0);
	assert_ok(cenote_conn_set_uri(f->conn, f->peer.uri));
	assert_ok(cenote_connect(f->conn));
	assert_int_equal(f->peer.seen.flags & CNP_ATTACH_BORROWS, 0);
}

/* The server ends the connection: the loss is told as any loss, and the worker gets its session back. */
static void
a_loss_tells_the_truth_and_gives_it_back(void **state)
{
	struct fixture *f = *state;
	int fd;

	borrow(f);
	assert_int_equal(run(f, "die"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	wait_returned(f, 1);
	assert_ok(cenote_connect(f->conn));
	borrow(f);
	fd = cenote_fd(f->conn);
	assert_ok(run(f, "pin 2"));
	assert_ok(run(f, "last"));
	wait_readable(cenote_fd(f->conn));
	assert_int_equal(run(f, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	wait_returned(f, 2);
	/* who waits on the descriptor wakes up */
	wait_readable(fd);
	assert_ok(cenote_connect(f->conn));
	borrow(f);
	assert_ok(run(f, "last"));
	wait_readable(cenote_fd(f->conn));
	assert_ok(run(f, "cmd"));
	wait_returned(f, 3);
}

static void
a_child_that_closes_its_copy_disturbs_nobody(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	borrow(f);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		cenote_conn_destroy(f->conn);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_connects, 1);
	assert_int_equal(f->peer.seen.n_returned, 0);
}

static void
a_cancel_goes_to_the_pool(void **state)
{
	struct fixture *f = *state;
	cenote_cancel *cancel;

	borrow(f);
	send_query(f, "hang");
	assert_ok(cenote_cancel_create(f->conn, &cancel));
	while (cenote_cancel_send(cancel) == CENOTE_DONE)
		continue; /* the request has not come to the peer yet */
	take_kind(f, CENOTE_RESULT_ERROR);
	cenote_cancel_destroy(cancel);
	assert_ok(run(f, "cmd"));
	assert_string_equal(cenote_info(f->conn, "data_path"), "lent");
}

static void
the_pool_itself_suspends(void **state)
{
	struct fixture *f = *state;
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res;

	borrow(f);
	assert_ok(run(f, "pin 2"));
	assert_int_equal(cenote_suspend(f->conn, NULL, 0, token), CENOTE_ERR_STATE);
	assert_non_null(strstr(message_of(f), "borrow=no"));
	assert_ok(run(f, "pin 0"));
	assert_ok(cenote_suspend(f->conn, NULL, 0, token));
	wait_returned(f, 1);
	assert_int_equal(f->peer.seen.flags, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS |
						     CNP_ATTACH_LISTENS |
						     CNP_ATTACH_RESTORES);
	assert_int_equal(f->peer.seen.n_connects, 2);
	assert_ok(cenote_resume(f->conn, token, &res));
	assert_null(res);
	/* the loan comes while the program asks to suspend */
	cenote_close(f->conn);
	assert_ok(cenote_connect(f->conn));
	assert_ok(run(f, "yield"));
	assert_ok(cenote_suspend(f->conn, NULL, 0, token));
	wait_returned(f, 2);
	assert_ok(cenote_connect(f->conn));
	assert_true(f->peer.seen.flags & CNP_ATTACH_BORROWS);
}

/* Every failing allocation is told, and a repeated call goes on. */
static void
each_failing_allocation_is_told_and_loses_nothing(void **state)
{
	struct fixture *f = *state;
	int failed = 1;
	size_t n;

	for (n = 1; failed; n++) {
		struct cnt_alloc alloc;
		unsigned before = f->peer.seen.n_loans;
		int r;

		cenote_conn_destroy(f->conn);
		cnt_alloc_init(&alloc, 0);
		assert_ok(cenote_conn_create(&alloc.mem, &f->conn));
		assert_ok(cenote_conn_set_uri(f->conn, f->peer.uri));
		assert_ok(cenote_connect(f->conn));
		assert_ok(run(f, "yield"));
		while (f->peer.seen.n_loans == before)
			(void)usleep(1000);
		alloc.fail_at = alloc.n_calls + n;
		r = run(f, "cmd");
		failed = cnt_alloc_has_failed(&alloc);
		if (r != CENOTE_OK)
			assert_true(failed &&
				    (r == CENOTE_ERR_NOMEM || r == CENOTE_ERR_STATE));
		cenote_conn_destroy(f->conn);
		assert_int_equal(cnt_alloc_leaks(&alloc), 0);
		assert_ok(cenote_conn_create(&f->alloc.mem, &f->conn));
	}
	assert_true(n > 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_lending, teardown_lending)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lent_session_goes_on_at_the_server),
		TEST(a_yield_of_the_loan_leads_back_to_the_pool),
		TEST(closing_gives_it_back),
		TEST(requests_that_were_sent_go_along),
		TEST(who_waits_for_an_answer_does_not_spin),
		TEST(answers_of_the_module_are_found_without_the_socket),
		TEST(the_number_stays_the_same),
		TEST(processing_goes_on_to_the_loan),
		TEST(a_module_that_cannot_serve_it_is_not_asked_again),
		TEST(a_loan_that_refuses_or_ends_at_once_leads_back_to_the_pool),
		TEST(a_loan_without_its_descriptors_is_a_violation),
		TEST(who_may_not_borrow_does_not_offer_it),
		TEST(a_loss_tells_the_truth_and_gives_it_back),
		TEST(a_child_that_closes_its_copy_disturbs_nobody),
		TEST(a_cancel_goes_to_the_pool),
		TEST(the_pool_itself_suspends),
		TEST(each_failing_allocation_is_told_and_loses_nothing),
	};
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	(void)setenv("CENOTE_BORROW", "auto", 1);
	relay = module != NULL ? dlsym(module, "relay") : NULL;
	if (relay == NULL) {
		(void)fprintf(stderr, "usage: test_lib_borrow MODULE\n");
		return 1;
	}
	return cmocka_run_group_tests_name("lib_borrow", tests, NULL, NULL);
}
