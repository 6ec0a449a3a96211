/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests have SQL for MariaDB. For tests/versions, which runs them on MySQL, this file replaces the words that MySQL does not know
 * with its own.
 */
#include "support/cnt_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATE "create or replace "

static const struct {
	const char *mariadb;
	const char *mysql;
} words[] = {
	/* SLEEP() that is stopped is an error only where its value is a condition */
	{ "select sleep(20)", "select seq from app.seq_1_to_2 where sleep(20)" },
	{ "select sleep(30)", "select seq from app.seq_1_to_2 where sleep(30)" },
	{ "select sleep(60)", "select seq from app.seq_1_to_2 where sleep(60)" },
	{ "tx_isolation", "transaction_isolation" },
	{ "tx_read_only", "transaction_read_only" },
	{ "information_schema.session_status", "performance_schema.session_status" },
	{ "connection admin", "connection_admin" },
	{ "; set global progress_report_time = 1", "" },
	{ "kill hard user app", "call mysql.kill_app()" },
	{ "kill user app@localhost", "call mysql.kill_app()" },
	/* types */
	{ " uuid, i6 inet6, i4 inet4", " char(36), i6 char(39), i4 char(15)" },
};

/* For these, MySQL has no CREATE OR REPLACE: "create or replace table NAME" becomes "drop table if exists NAME; create table NAME". */
static const char *const replaced[] = { "table ", "temporary table ", "procedure ",
	"function ", "database ", "user ", "role " };

/* Write the next character, or the words of MySQL for those here. Returns how many characters of `sql` that took. */
static size_t
write_word(const char *sql, FILE *to)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].mariadb);

		if (strncmp(sql, words[i].mariadb, len) == 0) {
			fputs(words[i].mysql, to);
			return len;
		}
	}
	fputc(*sql, to);
	return 1;
}

/* A name ends behind its second backtick, or where another word begins. */
static size_t
name_length(const char *name)
{
	return name[0] == '`' ? strcspn(name + 1, "`") + 2 : strcspn(name, " (;");
}

/* Write DROP and CREATE in place of a CREATE OR REPLACE up to the name. Returns how many characters of `sql` that took; 0: MySQL
 * knows this statement. */
static size_t
write_create(const char *sql, FILE *to)
{
	const char *what = sql + sizeof(CREATE) - 1;

	for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
		size_t len = strlen(replaced[i]);
		const char *name = what + len;

		if (strncmp(what, replaced[i], len) != 0)
			continue;
		fprintf(to, "drop %sif exists %.*s; create %s", replaced[i],
			(int)name_length(name), name, replaced[i]);
		return (size_t)(name - sql);
	}
	return 0;
}

/* The last text that was written for MySQL. */
static char *kept;

static void
write_text(const char *sql)
{
	char *text;
	size_t size, n;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL)
		abort();
	while (*sql != '\0') {
		n = strncmp(sql, CREATE, sizeof(CREATE) - 1) == 0 ? write_create(sql, to)
								  : 0;
		sql += n > 0 ? n : write_word(sql, to);
	}
	fclose(to);
	free(kept);
	kept = text;
}

const char *
cnt_server_text(const char *sql)
{
	if (!cnt_server_is_mysql())
		return sql;
	write_text(sql);
	return kept;
}

const char *
cnt_server_statement(const char *sql, const char **ret_first)
{
	const char *text = cnt_server_text(sql);
	char *end;

	*ret_first = NULL;
	if (text == sql || strncmp(sql, CREATE, sizeof(CREATE) - 1) != 0 ||
		strncmp(text, "drop ", 5) != 0)
		return text;
	end = strstr(kept, "; ");
	*end = '\0';
	*ret_first = kept;
	return end + 2;
}
