/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications, parameters and options of a connection, and a change of its user and
 * database. The test plays the pool.
 */
#include "fixture.h"

struct heard {
	unsigned n;
	char text[256];
};

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct heard *h = user;
	size_t n = strlen(h->text);

	h->n++;
	(void)snprintf(
		h->text + n, sizeof(h->text) - n, "%u %s %s;", pid, channel, payload);
}

static void
on_parameter(const char *name, const char *value, void *user)
{
	struct heard *h = user;
	size_t n = strlen(h->text);

	h->n++;
	(void)snprintf(h->text + n, sizeof(h->text) - n, "%s=%s;", name, value);
}

static void
notifications_come_with_replies_and_while_idle(void **state)
{
	struct fixture *f = *state;
	struct heard h = { 0 };

	assert_ok(run(f, "notify"));
	cenote_set_notification_handler(f->conn, on_notification, &h);
	assert_ok(run(f, "notify"));
	assert_string_equal(h.text, "7 chan payload;");
	cnt_peer_notify(&f->peer, "idle");
	assert_ok(cenote_wait(f->conn, 10000));
	assert_string_equal(h.text, "7 chan payload;7 idle payload;");
	/* the parameter that came with the notification may not have been read yet */
	while (cenote_wait(f->conn, 20) == CENOTE_OK)
		continue;
	assert_int_equal(cenote_wait(f->conn, 0), CENOTE_DONE);
	cnt_peer_notify(&f->peer, "again");
	while (h.n < 3)
		assert_ok(cenote_process(f->conn));
	assert_ok(run(f, "cmd"));
	assert_int_equal(h.n, 3);
}

static void
waiting_needs_a_session_with_nothing_outstanding(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_int_equal(cenote_wait(NULL, 0), CENOTE_ERR_ARG);
	send_query(f, "cmd");
	assert_int_equal(cenote_wait(f->conn, 0), CENOTE_ERR_STATE);
	assert_ok(cenote_get_result(f->conn, &res));
	cenote_result_destroy(res);
	/* a session that the pool took back sends nothing more */
	assert_ok(run(f, "yield"));
	assert_int_equal(cenote_wait(f->conn, -1), CENOTE_DONE);
	assert_ok(run(f, "pin 8"));
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(cenote_wait(f->conn, -1), CENOTE_ERR_CONN);
	cenote_close(f->conn);
	assert_int_equal(cenote_wait(f->conn, -1), CENOTE_ERR_STATE);
}

static void
parameters_can_be_looked_up_and_listed(void **state)
{
	struct fixture *f = *state;
	struct heard h = { 0 };
	uint32_t n = 0;

	assert_string_equal(cenote_parameter(f->conn, "server_encoding"), "UTF8");
	assert_string_equal(cenote_info(f->conn, "server_encoding"), "UTF8");
	assert_null(cenote_parameter(f->conn, "said"));
	assert_null(cenote_parameter(f->conn, "backend"));
	cenote_set_parameter_handler(f->conn, on_parameter, &h);
	assert_ok(run(f, "notify"));
	assert_ok(run(f, "notify"));
	assert_non_null(strstr(h.text, "said=chan;"));
	/* the handler is called again if the server sends a parameter again */
	assert_non_null(strstr(strstr(h.text, "said=chan;") + 1, "said=chan;"));
	assert_string_equal(cenote_parameter(f->conn, "said"), "chan");
	while (cenote_parameter_name(f->conn, n))
		assert_non_null(
			cenote_parameter(f->conn, cenote_parameter_name(f->conn, n++)));
	assert_int_equal(n, 3);
	cenote_close(f->conn);
	assert_null(cenote_parameter(f->conn, "said"));
	assert_null(cenote_parameter_name(f->conn, 0));
}

static void
another_session_brings_its_own_parameters(void **state)
{
	struct fixture *f = *state;
	struct heard h = { 0 };

	cenote_close(f->conn);
	f->peer.knobs.zone = "UTC";
	cenote_set_parameter_handler(f->conn, on_parameter, &h);
	assert_ok(cenote_connect(f->conn));
	assert_ok(run(f, "notify"));
	assert_null(strstr(h.text, "TimeZone"));
	assert_string_equal(cenote_parameter(f->conn, "TimeZone"), "UTC");
	f->peer.knobs.zone = "Europe/Rome";
	assert_ok(run(f, "yield"));
	assert_ok(run(f, "cmd"));
	assert_non_null(strstr(h.text, "TimeZone=Europe/Rome;"));
	assert_string_equal(cenote_parameter(f->conn, "TimeZone"), "Europe/Rome");
	assert_null(cenote_parameter(f->conn, "said"));
}

static void
options_travel_with_the_attach_and_with_each_anew(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	assert_int_equal(cenote_set_session_option(NULL, "a", "1"), CENOTE_ERR_ARG);
	assert_ok(cenote_set_session_option(f->conn, "a", "1"));
	assert_ok(cenote_set_session_option(f->conn, "gone", "1"));
	assert_ok(cenote_set_session_option(f->conn, "gone", NULL));
	assert_ok(cenote_connect(f->conn));
	assert_string_equal(f->peer.seen.options, "a=1;");
	assert_int_equal(cenote_set_session_option(f->conn, "b", NULL), CENOTE_ERR_ARG);
	assert_ok(cenote_set_session_option(f->conn, "b", "2"));
	assert_int_equal(
		cenote_set_session_option(f->conn, "bad", "2"), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "22023");
	assert_ok(cenote_set_session_option(f->conn, "a", "3"));
	assert_string_equal(f->peer.seen.options, "a=1;b=2;bad=2;a=3;");
	assert_ok(run(f, "yield"));
	assert_ok(run(f, "cmd"));
	assert_string_equal(f->peer.seen.options, "a=3;b=2;");
	assert_ok(cenote_reset(f->conn));
	assert_ok(run(f, "cmd"));
	assert_string_equal(f->peer.seen.options, "a=3;b=2;a=3;b=2;");
}

static void
options_are_bounded(void **state)
{
	struct fixture *f = *state;
	char name[16], value[1000];

	cenote_close(f->conn);
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (unsigned i = 0; i < 8; i++) {
		(void)snprintf(name, sizeof(name), "o%u", i);
		assert_ok(cenote_set_session_option(f->conn, name, value));
	}
	assert_int_equal(
		cenote_set_session_option(f->conn, "more", value), CENOTE_ERR_LIMIT);
	assert_ok(cenote_connect(f->conn));
}

static void
the_session_s_user_and_database_can_be_changed(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "rows 2");

	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_set_session_option(f->conn, "a", "1"));
	assert_int_equal(cenote_change_user(f->conn, NULL, "pw", "db"), CENOTE_ERR_ARG);
	assert_ok(cenote_change_user(f->conn, "ann", "pw", NULL));
	assert_int_equal(cenote_select_database(f->conn, NULL), CENOTE_ERR_ARG);
	assert_ok(cenote_select_database(f->conn, "shop"));
	assert_string_equal(
		f->peer.seen.asked, "CHANGE_USER ann pw ;SELECT_DATABASE shop;");
	assert_string_equal(f->peer.seen.options, "a=1;a=1;");
	/* the change of user dropped the statements; they were prepared again, before the change
	 * of database */
	assert_int_equal(f->peer.seen.n_prepares, 2);
	execute(stmt);
	assert_int_equal(f->peer.seen.n_prepares, 2);
	/* otherwise a statement is prepared again when it is used */
	assert_ok(cenote_change_user(f->conn, "bob", "pw", NULL));
	assert_int_equal(f->peer.seen.n_prepares, 2);
	execute(stmt);
	assert_int_equal(f->peer.seen.n_prepares, 3);
	cenote_stmt_destroy(stmt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_connected, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(notifications_come_with_replies_and_while_idle),
		TEST(waiting_needs_a_session_with_nothing_outstanding),
		TEST(parameters_can_be_looked_up_and_listed),
		TEST(another_session_brings_its_own_parameters),
		TEST(options_travel_with_the_attach_and_with_each_anew),
		TEST(options_are_bounded),
		TEST(the_session_s_user_and_database_can_be_changed),
	};

	return cmocka_run_group_tests_name("lib_facts", tests, NULL, NULL);
}
