/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: stock DATABASE
 *
 * A program for MySQL: it is written for libmariadb, and its SQL is MySQL's. It knows nothing of Cenote or PostgreSQL.
 * README.md says how it runs on PostgreSQL, and tests/shims/test_mysql_program.c runs it.
 */
#include <mysql.h>
#include <stdio.h>
#include <string.h>

static void
complain(MYSQL *my, const char *sql)
{
	printf("%s: error %u (%s): %s\n", sql, mysql_errno(my), mysql_sqlstate(my),
		mysql_error(my));
}

/* Run a statement, and print its rows. */
static void
run(MYSQL *my, const char *sql)
{
	MYSQL_RES *res;
	MYSQL_ROW row;

	if (mysql_query(my, sql) != 0) {
		complain(my, sql);
		return;
	}
	res = mysql_store_result(my);
	if (res == NULL) {
		printf("%llu rows: %s\n", (unsigned long long)mysql_affected_rows(my),
			sql);
		return;
	}
	printf("%s:", sql);
	while ((row = mysql_fetch_row(res)) != NULL)
		printf(" %s", row[0] != NULL ? row[0] : "NULL");
	printf("\n");
	mysql_free_result(res);
}

/* Add an article by a prepared statement. */
static int
add(MYSQL *my, int id, const char *name)
{
	static const char sql[] = "INSERT INTO `stock` (`id`, `name`) VALUES (?, ?)";
	MYSQL_STMT *stmt = mysql_stmt_init(my);
	MYSQL_BIND values[2] = { { .buffer_type = MYSQL_TYPE_LONG },
		{ .buffer_type = MYSQL_TYPE_STRING } };
	unsigned long length = strlen(name);
	int is_added;

	values[0].buffer = &id;
	values[1].buffer = (void *)(size_t)name;
	values[1].buffer_length = length;
	values[1].length = &length;
	is_added = mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) == 0 &&
		   mysql_stmt_bind_param(stmt, values) == 0 &&
		   mysql_stmt_execute(stmt) == 0;
	if (!is_added)
		printf("%s: error %u\n", name, mysql_stmt_errno(stmt));
	mysql_stmt_close(stmt);
	return is_added;
}

int
main(int argc, char **argv)
{
	MYSQL *my = mysql_init(NULL);

	if (argc != 2 ||
		mysql_real_connect(my, NULL, NULL, NULL, argv[1], 0, NULL, 0) == NULL) {
		fprintf(stderr, "%s\n",
			argc != 2 ? "usage: stock DATABASE" : mysql_error(my));
		return 1;
	}
	run(my, "CREATE TABLE `stock` (`id` int PRIMARY KEY, `name` varchar(40)) # all");
	add(my, 1, "apples");
	add(my, 2, "cox's \"orange\" `pippin`");
	add(my, 2, "pears");
	run(my, "INSERT IGNORE INTO `stock` VALUES (2, 'pears'), (3, NULL)");
	run(my, "SELECT IFNULL(`name`, 'nothing') FROM `stock` ORDER BY `id`");
	run(my, "SHOW TABLES");
	run(my, "SELECT * FROM `sales`");
	run(my, "DROP TABLE `stock`");
	mysql_close(my);
	return 0;
}
