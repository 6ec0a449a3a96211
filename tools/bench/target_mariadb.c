/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mysql.h>

#include "bench.h"

/* The widest value that a prepared statement of the workloads gives. */
#define MAX_VALUE 64

struct session {
	MYSQL *mysql;
	MYSQL_STMT *stmt;
};

static struct session *
session_of(struct cnb_session *s)
{
	return (struct session *)s;
}

static int
say(const char *message, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "libmariadb: %s", message);
	return -1;
}

/* ----------------------------------------------------------------- connecting ----- */

struct place {
	char host[128], socket[128], user[128], password[128], database[128], port[8];
};

static int
take_word(struct place *p, const char *word, size_t len)
{
	const struct {
		const char *name;
		char *value;
		size_t size;
	} names[] = {
		{ "host=", p->host, sizeof(p->host) },
		{ "socket=", p->socket, sizeof(p->socket) },
		{ "user=", p->user, sizeof(p->user) },
		{ "password=", p->password, sizeof(p->password) },
		{ "database=", p->database, sizeof(p->database) },
		{ "port=", p->port, sizeof(p->port) },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t skip = strlen(names[i].name);

		if (len < skip || strncmp(word, names[i].name, skip) != 0)
			continue;
		if (len - skip >= names[i].size)
			return -1;
		snprintf(names[i].value, names[i].size, "%.*s", (int)(len - skip),
			word + skip);
		return 0;
	}
	return -1;
}

static int
parse_place(const char *text, struct place *ret_place, struct cnb_error *ret_error)
{
	memset(ret_place, 0, sizeof(*ret_place));
	for (;;) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0)
			return 0;
		if (take_word(ret_place, text, len) < 0) {
			snprintf(ret_error->text, sizeof(ret_error->text),
				"--mariadb: %.*s: host, port, socket, user, password or "
				"database, with = and a value",
				(int)len, text);
			return -1;
		}
		text += len;
	}
}

static const char *
or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

static void
mariadb_close(struct cnb_session *cs)
{
	struct session *s = session_of(cs);

	if (s == NULL)
		return;
	if (s->stmt != NULL)
		mysql_stmt_close(s->stmt);
	mysql_close(s->mysql);
	free(s);
}

static int
mariadb_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	struct session *s;
	struct place p;

	if (parse_place(env->places[CNB_PLACE_MARIADB], &p, ret_error) < 0)
		return -1;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return say("out of memory", ret_error);
	s->mysql = mysql_init(NULL);
	if (s->mysql == NULL) {
		free(s);
		return say("out of memory", ret_error);
	}
	mysql_options(s->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (mysql_real_connect(s->mysql, or_null(p.host), or_null(p.user), p.password,
		    or_null(p.database), (unsigned)strtoul(p.port, NULL, 10),
		    or_null(p.socket), 0) == NULL) {
		say(mysql_error(s->mysql), ret_error);
		mariadb_close((struct cnb_session *)s);
		return -1;
	}
	*ret_session = (struct cnb_session *)s;
	return 0;
}

/* -------------------------------------------------------------------- queries ----- */

static void
read_values(MYSQL_RES *res, struct cnb_answer *answer)
{
	unsigned n_columns = mysql_num_fields(res), col;
	MYSQL_ROW row;

	while ((row = mysql_fetch_row(res)) != NULL) {
		const unsigned long *lengths = mysql_fetch_lengths(res);

		for (col = 0; col < n_columns; col++) {
			if (row[col] != NULL)
				answer->bytes += lengths[col];
		}
		answer->rows++;
	}
}

static int
mariadb_query(struct cnb_session *cs, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	MYSQL *mysql = session_of(cs)->mysql;
	MYSQL_RES *res;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (mysql_real_query(mysql, sql, strlen(sql)) != 0)
		return say(mysql_error(mysql), ret_error);
	res = mysql_store_result(mysql);
	if (res != NULL) {
		read_values(res, ret_answer);
		mysql_free_result(res);
	}
	return mysql_errno(mysql) != 0 ? say(mysql_error(mysql), ret_error) : 0;
}

static int
mariadb_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);

	s->stmt = mysql_stmt_init(s->mysql);
	if (s->stmt == NULL)
		return say("out of memory", ret_error);
	if (mysql_stmt_prepare(s->stmt, sql, strlen(sql)) != 0)
		return say(mysql_stmt_error(s->stmt), ret_error);
	if (mysql_stmt_field_count(s->stmt) != 1)
		return say("a prepared statement of one column was expected", ret_error);
	return 0;
}

static int
mariadb_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	MYSQL_STMT *stmt = session_of(cs)->stmt;
	char value[MAX_VALUE];
	unsigned long len = 0;
	MYSQL_BIND bind;
	int r;

	memset(&bind, 0, sizeof(bind));
	bind.buffer_type = MYSQL_TYPE_STRING;
	bind.buffer = value;
	bind.buffer_length = sizeof(value);
	bind.length = &len;
	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (mysql_stmt_execute(stmt) != 0 || mysql_stmt_bind_result(stmt, &bind) != 0 ||
		mysql_stmt_store_result(stmt) != 0)
		return say(mysql_stmt_error(stmt), ret_error);
	while ((r = mysql_stmt_fetch(stmt)) == 0) {
		ret_answer->rows++;
		ret_answer->bytes += len;
	}
	if (r != MYSQL_NO_DATA)
		return say(mysql_stmt_error(stmt), ret_error);
	mysql_stmt_free_result(stmt);
	return 0;
}

const struct cnb_target *
cnb_target_mariadb(void)
{
	static const struct cnb_target target = {
		.name = "mariadb",
		.about = "MariaDB or MySQL itself, through libmariadb",
		.place = CNB_PLACE_MARIADB,
		.open = mariadb_open,
		.query = mariadb_query,
		.prepare = mariadb_prepare,
		.execute = mariadb_execute,
		.close = mariadb_close,
	};

	return &target;
}
