/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to a pool: connecting, statements, transactions, and the table's primary key. The exporter and the
 * importer call it. The state is struct link.
 */
#include "link.h"

#include <stdlib.h>
#include <string.h>

/* cenote asks for the process at each call, to see a fork. These programs do not fork. This saves a system call for each row. */
static long
same_process(void)
{
	return 1;
}

/* Connect. If the pool asks for a password, take it from the environment, as sqlsh does. */
static int
connect_link(struct link *l)
{
	const char *password = getenv("CENOTE_PASSWORD");
	int r = cenote_connect(l->conn);

	if (r < 0 && password && *password &&
		strcmp(cenote_diag_sqlstate(cenote_conn_diag(l->conn)), "28P01") == 0 &&
		cenote_conn_set(l->conn, "password", password) == CENOTE_OK)
		r = cenote_connect(l->conn);
	return r;
}

int
link_open(struct link *l, const char *target)
{
	*l = (struct link){ 0 };
	if (cenote_conn_create(NULL, &l->conn) < 0) {
		port_say("out of memory");
		return PORT_USAGE;
	}
	cenote_conn_set_getpid(l->conn, same_process);
	if (cenote_conn_set_uri(l->conn, target) < 0 || connect_link(l) < 0) {
		port_say("%s", cenote_diag_message(cenote_conn_diag(l->conn)));
		return PORT_USAGE;
	}
	l->backend = cenote_info(l->conn, "backend");
	l->dialect = dialect_find(l->backend ? l->backend : "");
	if (!l->dialect)
		l->dialect = dialect_find("standard");
	l->backend = l->dialect->backend;
	return PORT_OK;
}

void
link_close(struct link *l)
{
	cenote_conn_destroy(l->conn);
	*l = (struct link){ 0 };
}

int
link_failed(struct link *l, int status)
{
	const cenote_diag *diag = cenote_conn_diag(l->conn);

	if (!*cenote_diag_message(diag))
		port_say("%s", cenote_status_name(status));
	else
		(void)link_refused(diag);
	return cenote_status_is_fatal(status) ? PORT_STOPPED : PORT_FAILED;
}

int
link_refused(const cenote_diag *diag)
{
	const char *detail = cenote_diag_field(diag, 'D'),
		   *where = cenote_diag_field(diag, 'W');

	port_say("ERROR %s: %s%s%s%s%s", cenote_diag_sqlstate(diag),
		cenote_diag_message(diag), detail ? "; " : "", detail ? detail : "",
		where ? "; " : "", where ? where : "");
	return PORT_FAILED;
}

int
link_finish(struct link *l)
{
	cenote_result *res;
	int r, status = PORT_OK;

	while ((r = cenote_get_result(l->conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR && status == PORT_OK)
			status = link_refused(cenote_result_diag(res));
		cenote_result_destroy(res);
	}
	return r < 0 ? link_failed(l, r) : status;
}

int
link_query(struct link *l, const char *sql, const cenote_params *params,
	cenote_result **ret_res)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	int r;

	options.format = CENOTE_FORMAT_CANONICAL;
	r = cenote_query(l->conn, sql, CENOTE_NTS, params, &options, &res);
	if (r < 0)
		return link_failed(l, r);
	r = link_finish(l);
	if (r == PORT_OK)
		*ret_res = res;
	else
		cenote_result_destroy(res);
	return r;
}

int
link_run(struct link *l, const char *sql)
{
	cenote_result *res;
	int r = link_query(l, sql, NULL, &res);

	if (r == PORT_OK)
		cenote_result_destroy(res);
	return r;
}

int
link_params_create(cenote_params **ret_params)
{
	if (cenote_params_create(NULL, ret_params) == CENOTE_OK)
		return PORT_OK;
	port_say("out of memory");
	return PORT_USAGE;
}

int
link_begin(struct link *l, uint32_t flags)
{
	int r = cenote_begin(l->conn, CENOTE_ISOLATION_DEFAULT, flags);

	return r < 0 ? link_failed(l, r) : PORT_OK;
}

int
link_commit(struct link *l)
{
	int r = cenote_commit(l->conn);

	return r < 0 ? link_failed(l, r) : PORT_OK;
}

void
link_rollback(struct link *l)
{
	if (cenote_is_connected(l->conn) && cenote_tx_state(l->conn) != CENOTE_TX_IDLE)
		(void)!cenote_rollback(l->conn);
}

/* ---- the table ---- */

/* Add a name as a pattern of LIKE that matches only this name. */
static void
add_pattern(struct text *t, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (name[i] == '%' || name[i] == '_' || name[i] == '\\')
			text_add_char(t, '\\');
		text_add_char(t, name[i]);
	}
}

static bool
is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '#' || (c & 0x80);
}

static char
small_letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c | 0x20);
	return c;
}

/* Read a name, perhaps in quotes. PostgreSQL folds a name without quotes to small letters. Returns what follows; NULL: there is no name. */
static const char *
parse_name(struct text *name, const struct link *l, const char *s)
{
	char open = *s, close = open;
	bool folds = strcmp(l->backend, "postgresql") == 0;

	if (open == '[')
		close = ']';
	if (open != '"' && open != '`' && open != '[') {
		for (; is_name_char(*s); s++) {
			if (folds)
				text_add_char(name, small_letter(*s));
			else
				text_add_char(name, *s);
		}
		return name->len > 0 ? s : NULL;
	}
	for (s++; *s; s++) {
		if (*s == close && s[1] != close)
			return name->len > 0 ? s + 1 : NULL;
		if (*s == close)
			s++;
		text_add_char(name, *s);
	}
	return NULL;
}

int
table_name_parse(struct table_name *t, const struct link *l, const char *typed)
{
	struct text first = { 0 }, second = { 0 };
	const char *s = parse_name(&first, l, typed);
	const char *database = cenote_info(l->conn, "database");

	*t = (struct table_name){ .typed = typed };
	t->filter = (cenote_catalog_filter)CENOTE_CATALOG_FILTER_INIT;
	if (s && *s == '.')
		s = parse_name(&second, l, s + 1);
	if (s && second.len > 0)
		text_add(&t->schema, first.data, first.len);
	if (s && *s == '\0')
		add_pattern(&t->object, second.len > 0 ? second.data : first.data,
			second.len > 0 ? second.len : first.len);
	text_finish(&first);
	text_finish(&second);
	if (t->object.len == 0) {
		port_say("%s: TABLE or SCHEMA.TABLE expected", typed);
		return -1;
	}
	t->filter.object = text_str(&t->object);
	/* MySQL has databases in place of schemas. */
	if (strcmp(l->backend, "mysql") == 0)
		t->filter.catalog = t->schema.len > 0 ? text_str(&t->schema) : database;
	else if (t->schema.len > 0)
		t->filter.schema = text_str(&t->schema);
	return 0;
}

void
table_name_finish(struct table_name *t)
{
	text_finish(&t->schema);
	text_finish(&t->object);
}

static const char *
value_of(const cenote_result *res, uint64_t row, const char *column)
{
	int64_t col = cenote_result_find_column(res, column);
	const char *value =
		col >= 0 ? cenote_result_text(res, row, (uint32_t)col, NULL) : NULL;

	return value ? value : "";
}

/* Whether two rows are about tables of the same schema. */
static bool
is_same_schema(const cenote_result *res, uint64_t a, uint64_t b)
{
	return strcmp(value_of(res, a, "table_schem"), value_of(res, b, "table_schem")) ==
		       0 &&
	       strcmp(value_of(res, a, "table_cat"), value_of(res, b, "table_cat")) == 0;
}

int
link_primary_key(struct link *l, const struct table_name *t, struct columns *ret_key)
{
	cenote_result *res;
	uint64_t row;
	int r = cenote_catalog(l->conn, CENOTE_CATALOG_PRIMARY_KEYS, &t->filter, &res);

	if (r == CENOTE_ERR_UNSUPPORTED)
		return PORT_OK;
	if (r < 0)
		return link_failed(l, r);
	r = link_finish(l);
	for (row = 0; r == PORT_OK && row < cenote_result_n_rows(res); row++) {
		const char *name = value_of(res, row, "column_name");

		if (!is_same_schema(res, 0, row)) {
			port_say("%s: several schemas have a table of this name; write "
				 "SCHEMA.TABLE",
				t->typed);
			r = PORT_USAGE;
		}
		(void)columns_add(ret_key, name, strlen(name));
	}
	cenote_result_destroy(res);
	return r;
}
