/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <stdio.h>

/* Move money between two accounts, completely or not at all, with values bound to placeholders. */

static int
run(cenote_conn *conn, const char *sql, const cenote_params *params)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, params, NULL, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

static int
add_to(cenote_conn *conn, int64_t account, int64_t amount)
{
	cenote_params *params;
	int r = cenote_params_create(NULL, &params);

	if (r < 0)
		return r;
	r = cenote_params_add_int64(params, amount);
	if (r == CENOTE_OK)
		r = cenote_params_add_int64(params, account);
	if (r == CENOTE_OK)
		r = run(conn, "update account set money = money + ? where id = ?",
			params);
	cenote_params_destroy(params);
	return r;
}

static int
transfer(cenote_conn *conn, int64_t from, int64_t to, int64_t amount)
{
	int r = cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0);

	if (r == CENOTE_OK)
		r = add_to(conn, from, -amount);
	if (r == CENOTE_OK)
		r = add_to(conn, to, amount);
	return r == CENOTE_OK ? cenote_commit(conn) : r;
}

static int
prepare_accounts(cenote_conn *conn)
{
	int r = run(conn,
		"create table if not exists account(id integer primary key, money "
		"integer check (money >= 0))",
		NULL);

	return r < 0 ? r
		     : run(conn, "insert or replace into account values (1, 100), (2, 0)",
			       NULL);
}

/* Print the server's error. After a lost commit the outcome is unknown: neither done nor failed. */
static void
explain(const cenote_conn *conn, const char *what)
{
	const cenote_diag *diag = cenote_conn_diag(conn);

	printf("%s: %s %s\n", what, cenote_diag_sqlstate(diag),
		cenote_diag_message(diag));
}

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	int is_done = 0;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	if (cenote_conn_set_uri(conn, argc > 1 ? argv[1] : "cenote:///demo") < 0 ||
		cenote_connect(conn) < 0 || prepare_accounts(conn) < 0 ||
		transfer(conn, 1, 2, 70) < 0) {
		explain(conn, "failed");
	} else {
		puts("70 moved");
		if (transfer(conn, 1, 2, 70) < 0)
			explain(conn, "not moved");
		is_done = cenote_rollback(conn) == CENOTE_OK;
	}
	cenote_conn_destroy(conn);
	return is_done ? 0 : 1;
}
