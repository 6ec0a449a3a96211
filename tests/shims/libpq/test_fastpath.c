/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "pq.h"
#include "support/cnt_guard.h"
#include "support/cnt_peer.h"

/*
 * Function calls whose results are longer than the caller expects. No real server returns such a
 * result for a large object, so the test plays the pool. It answers a call of function N with one
 * value of N bytes.
 */

#define ID_TWO  2
#define ID_FOUR 4

struct fixture {
	struct cnt_peer peer;
	struct cnt_guard guard;
	PGconn *conn;
};

static int
setup(void **state)
{
	static struct fixture f;
	char server[160];

	if (cnt_peer_create(&f.peer) < 0 || cnt_peer_start(&f.peer) < 0)
		return -1;
	snprintf(server, sizeof(server), "unix:%s", f.peer.dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "play", 1);
	cnt_guard_init(&f.guard, 64);
	f.conn = PQconnectdb("user=otto");
	if (PQstatus(f.conn) != CONNECTION_OK) {
		print_error("%s\n", PQerrorMessage(f.conn));
		return -1;
	}
	/* pretend that the server is PostgreSQL, and that its functions have been looked up */
	cpq_dialect_leave(f.conn);
	f.conn->server_version = 150000;
	f.conn->has_large_objects = 1;
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	PQfinish(f->conn);
	cnt_guard_finish(&f->guard);
	cnt_peer_stop(&f->peer);
	cnt_peer_destroy(&f->peer);
	return 0;
}

static void
is_refused(const struct fixture *f, const char *why)
{
	assert_string_equal(PQerrorMessage(f->conn), why);
	/* the session goes on */
	assert_int_equal(PQstatus(f->conn), CONNECTION_OK);
	assert_int_equal(PQtransactionStatus(f->conn), PQTRANS_IDLE);
}

static void
large_objects_take_what_was_asked_for(void **state)
{
	static const char zeroes[64];
	struct fixture *f = *state;
	/* it ends at a guard page: writing one byte more crashes the test */
	char *piece = (char *)cnt_guard_put(&f->guard, zeroes, sizeof(zeroes));

	assert_int_equal(lo_read(f->conn, 1, piece, sizeof(zeroes)), -1);
	is_refused(f, "server returned too much data\n");
	assert_memory_equal(piece, zeroes, sizeof(zeroes));
	assert_int_equal(lo_lseek64(f->conn, 1, 0, 0), -1);
	is_refused(f, "server returned too much data\n");
	assert_int_equal(lo_tell64(f->conn, 1), -1);
	is_refused(f, "server returned too much data\n");
	assert_int_equal(lo_tell(f->conn, 1), -1);
	is_refused(f, "server returned an integer of unexpected size\n");
}

static void
a_result_as_long_as_the_room_is_taken(void **state)
{
	struct fixture *f = *state;
	char room[1024] = "";

	assert_int_equal(lo_read(f->conn, 1, room, 953), -1);
	is_refused(f, "server returned too much data\n");
	assert_int_equal(lo_read(f->conn, 1, room, 954), 954);
	assert_string_equal(PQerrorMessage(f->conn), "");
	assert_int_equal(strspn(room, "x"), 954);
}

static void
an_integer_has_two_bytes_or_four(void **state)
{
	struct fixture *f = *state;
	int value = 7, len = 7;
	PGresult *res = PQfn(f->conn, ID_FOUR, &value, &len, 1, NULL, 0);

	assert_int_equal(PQresultStatus(res), PGRES_COMMAND_OK);
	assert_int_equal(len, 4);
	assert_int_equal(value, 0x78787878);
	PQclear(res);
	res = PQfn(f->conn, ID_TWO, &value, &len, 1, NULL, 0);
	assert_int_equal(len, 2);
	assert_int_equal(value, 0x7878);
	PQclear(res);
	for (int id = 5; id < 100; id += 45) {
		assert_null(PQfn(f->conn, id, &value, &len, 1, NULL, 0));
		is_refused(f, "server returned an integer of unexpected size\n");
		assert_int_equal(value, 0x7878);
		assert_int_equal(len, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_objects_take_what_was_asked_for),
		cmocka_unit_test(a_result_as_long_as_the_room_is_taken),
		cmocka_unit_test(an_integer_has_two_bytes_or_four),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
