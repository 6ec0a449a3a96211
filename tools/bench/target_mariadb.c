/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets mariadb, peer-mariadb and mysql-shim: libmariadb, or the shim that replaces it. targets.c lists
 * them.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mariadb_library.h"

/* The widest value of the workloads' prepared statements. */
#define MAX_VALUE 64

/* Buffers for the columns of a prepared statement. */
struct buffers {
	char values[CNB_COLUMNS][MAX_VALUE];
	unsigned long lengths[CNB_COLUMNS];
	MYSQL_BIND binds[CNB_COLUMNS];
	unsigned n;
};

struct session {
	const struct cnb_mariadb *lib;
	MYSQL *mysql;
	MYSQL_STMT *stmt;
	struct buffers *buffers;
	int is_trying; /* try_query has begun a query and waits for its answer */
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

static int
failed(const struct session *s, struct cnb_error *ret_error)
{
	return say(s->lib->mysql_error(s->mysql), ret_error);
}

static int
stmt_failed(const struct session *s, struct cnb_error *ret_error)
{
	return say(s->lib->mysql_stmt_error(s->stmt), ret_error);
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
				"%.*s: host, port, socket, user, password or "
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
		s->lib->mysql_stmt_close(s->stmt);
	free(s->buffers);
	s->lib->mysql_close(s->mysql);
	free(s);
}

static int
open_at(const struct cnb_mariadb *lib, const struct place *p, int may_try,
	struct cnb_session **ret_session, struct cnb_error *ret_error)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return say("out of memory", ret_error);
	s->lib = lib;
	s->mysql = lib->mysql_init(NULL);
	if (s->mysql == NULL) {
		free(s);
		return say("out of memory", ret_error);
	}
	lib->mysql_options(s->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (may_try)
		lib->mysql_options(s->mysql, MYSQL_OPT_NONBLOCK, NULL);
	if (lib->mysql_real_connect(s->mysql, or_null(p->host), or_null(p->user),
		    p->password, or_null(p->database),
		    (unsigned)strtoul(p->port, NULL, 10), or_null(p->socket),
		    0) == NULL) {
		failed(s, ret_error);
		mariadb_close((struct cnb_session *)s);
		return -1;
	}
	*ret_session = (struct cnb_session *)s;
	return 0;
}

static int
mariadb_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	struct place p;

	if (parse_place(env->places[CNB_PLACE_MARIADB], &p, ret_error) < 0)
		return -1;
	return open_at(cnb_mariadb(), &p, 1, ret_session, ret_error);
}

static int
peer_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	struct place p;

	if (parse_place(env->places[CNB_PLACE_PEER_MARIADB], &p, ret_error) < 0)
		return -1;
	return open_at(cnb_mariadb(), &p, 1, ret_session, ret_error);
}

/* Connect with the usual options of a program, and with the database of --mariadb if it is given. The
 * environment chooses the pool. */
static int
shim_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	const struct cnb_mariadb *shim =
		cnb_mariadb_shim(env->places[CNB_PLACE_POOL], ret_error);
	const char *direct = env->places[CNB_PLACE_MARIADB];
	struct place usual = { .host = "localhost", .user = "app", .password = "secret" };
	struct place p = { .database = "" };

	if (shim == NULL || (direct != NULL && parse_place(direct, &p, ret_error) < 0))
		return -1;
	memcpy(usual.database, p.database, sizeof(usual.database));
	return open_at(shim, &usual, 0, ret_session, ret_error);
}

/* -------------------------------------------------------------------- queries ----- */

static void
read_values(const struct cnb_mariadb *lib, MYSQL_RES *res, struct cnb_answer *answer)
{
	unsigned n_columns = lib->mysql_num_fields(res), col;
	MYSQL_ROW row;

	while ((row = lib->mysql_fetch_row(res)) != NULL) {
		const unsigned long *lengths = lib->mysql_fetch_lengths(res);

		for (col = 0; col < n_columns; col++) {
			if (row[col] != NULL)
				answer->bytes += lengths[col];
		}
		answer->rows++;
	}
}

static int
take_answer(const struct session *s, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	MYSQL_RES *res;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	res = s->lib->mysql_store_result(s->mysql);
	if (res != NULL) {
		read_values(s->lib, res, ret_answer);
		s->lib->mysql_free_result(res);
	}
	return s->lib->mysql_errno(s->mysql) != 0 ? failed(s, ret_error) : 0;
}

static int
mariadb_query(struct cnb_session *cs, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);

	if (s->lib->mysql_real_query(s->mysql, sql, strlen(sql)) != 0)
		return failed(s, ret_error);
	return take_answer(s, ret_answer, ret_error);
}

/* Only sending the query and waiting for the answer's first packet do not block. Reading the rows blocks,
 * but the answers are so small that their rows have already arrived. */
static int
mariadb_try_query(struct cnb_session *cs, const char *sql, struct pollfd *ret_wait,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	int failure = 0, wants;

	if (s->is_trying)
		wants = s->lib->mysql_real_query_cont(
			&failure, s->mysql, MYSQL_WAIT_READ);
	else
		wants = s->lib->mysql_real_query_start(
			&failure, s->mysql, sql, strlen(sql));
	s->is_trying = wants != 0;
	if (wants != 0) {
		*ret_wait = (struct pollfd){ s->lib->mysql_get_socket(s->mysql),
			(short)((wants & MYSQL_WAIT_READ ? POLLIN : 0) |
				(wants & MYSQL_WAIT_WRITE ? POLLOUT : 0)),
			0 };
		return 1;
	}
	return failure != 0 ? failed(s, ret_error)
			    : take_answer(s, ret_answer, ret_error);
}

static void
bind_column(struct buffers *b, unsigned i)
{
	b->binds[i].buffer_type = MYSQL_TYPE_STRING;
	b->binds[i].buffer = b->values[i];
	b->binds[i].buffer_length = MAX_VALUE;
	b->binds[i].length = &b->lengths[i];
}

static int
mariadb_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	unsigned i;

	s->stmt = s->lib->mysql_stmt_init(s->mysql);
	s->buffers = calloc(1, sizeof(*s->buffers));
	if (s->stmt == NULL || s->buffers == NULL)
		return say("out of memory", ret_error);
	if (s->lib->mysql_stmt_prepare(s->stmt, sql, strlen(sql)) != 0)
		return stmt_failed(s, ret_error);
	s->buffers->n = s->lib->mysql_stmt_field_count(s->stmt);
	if (s->buffers->n > CNB_COLUMNS)
		return say("a prepared statement has too many columns", ret_error);
	for (i = 0; i < s->buffers->n; i++)
		bind_column(s->buffers, i);
	return 0;
}

static int
mariadb_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	unsigned i;
	int r;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (s->lib->mysql_stmt_execute(s->stmt) != 0 ||
		s->lib->mysql_stmt_bind_result(s->stmt, s->buffers->binds) != 0 ||
		s->lib->mysql_stmt_store_result(s->stmt) != 0)
		return stmt_failed(s, ret_error);
	while ((r = s->lib->mysql_stmt_fetch(s->stmt)) == 0) {
		ret_answer->rows++;
		for (i = 0; i < s->buffers->n; i++)
			ret_answer->bytes += s->buffers->lengths[i];
	}
	if (r != MYSQL_NO_DATA)
		return stmt_failed(s, ret_error);
	s->lib->mysql_stmt_free_result(s->stmt);
	return 0;
}

#define MARIADB_CALLS                                                                    \
	.query = mariadb_query, .prepare = mariadb_prepare, .execute = mariadb_execute,  \
	.close = mariadb_close

const struct cnb_target *
cnb_target_mysql_shim(void)
{
	static const struct cnb_target target = {
		.name = "mysql-shim",
		.about = "a session of a pool, through the libmariadb shim",
		.place = CNB_PLACE_POOL,
		.only_by_name = 1,
		.open = shim_open,
		MARIADB_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_peer_mariadb(void)
{
	static const struct cnb_target target = {
		.name = "peer-mariadb",
		.about = "MariaDB or MySQL behind a pool or proxy, through libmariadb",
		.place = CNB_PLACE_PEER_MARIADB,
		.open = peer_open,
		.try_query = mariadb_try_query,
		MARIADB_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_mariadb(void)
{
	static const struct cnb_target target = {
		.name = "mariadb",
		.about = "MariaDB or MySQL itself, through libmariadb",
		.place = CNB_PLACE_MARIADB,
		.open = mariadb_open,
		.try_query = mariadb_try_query,
		MARIADB_CALLS,
	};

	return &target;
}
