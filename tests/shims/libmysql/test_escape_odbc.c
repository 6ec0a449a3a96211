/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "support/cnt_pool.h"
#include "support/cnt_process.h"

/* Escaping for MariaDB through an ODBC driver. The pool's backend is ODBC, not MySQL. A backslash
 * still escapes. */

struct fixture {
	struct cmy_original f;
	struct cnt_pool pool;
};

static int
setup(void **state)
{
	static struct fixture f;
	char server[160];

	cnt_clean_environment();
	if (cnt_pool_start(&f.pool, "libmaodbc", 4) < 0)
		return -1;
	cnt_library_open(&f.f, CNT_OURS);
	snprintf(server, sizeof(server), "unix:%s", f.pool.daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	return cnt_pool_stop(&f->pool);
}

static void
comes_back(const struct fixture *f, MYSQL *my, const char *text)
{
	char escaped[64], hex[64], sql[160];
	MYSQL_RES *res;

#if CMY_ORACLE
	f->f.mysql_real_escape_string_quote(my, escaped, text, strlen(text), '\'');
#else
	f->f.mysql_real_escape_string(my, escaped, text, strlen(text));
#endif
	f->f.mysql_hex_string(hex, text, strlen(text));
	snprintf(sql, sizeof(sql), "select hex('%s')", escaped);
	if (f->f.mysql_query(my, sql) != 0)
		fail_msg("%s: %s", sql, f->f.mysql_error(my));
	res = f->f.mysql_store_result(my);
	assert_string_equal(f->f.mysql_fetch_row(res)[0], hex);
	f->f.mysql_free_result(res);
}

static void
mariadb_behind_odbc_reads_one_literal(void **state)
{
	static const char *const texts[] = { "\\", "'", "\\'", "\\') or (1 = 1",
		"\\\\' or 1 -- ", "it''s", "\xc3\xa4\\'" };
	struct fixture *f = *state;
	MYSQL *my = f->f.mysql_init(NULL);

	if (!f->f.mysql_real_connect(my, NULL, "app", NULL, NULL, 0, NULL, 0))
		fail_msg("%s", f->f.mysql_error(my));
	assert_false(my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);
	for (size_t i = 0; i < CNT_COUNT(texts); i++)
		comes_back(f, my, texts[i]);
	f->f.mysql_close(my);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mariadb_behind_odbc_reads_one_literal),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
