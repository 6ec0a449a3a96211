/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include "placeholder.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- errors ---- */

void
cmy_stmt_error_text(
	MYSQL_STMT *stmt, unsigned code, const char *sqlstate, const char *text)
{
	stmt->last_errno = code;
	snprintf(stmt->sqlstate, sizeof(stmt->sqlstate), "%s", sqlstate);
	snprintf(stmt->last_error, sizeof(stmt->last_error), "%s", text);
}

void
cmy_stmt_error(MYSQL_STMT *stmt, unsigned code)
{
	cmy_stmt_error_text(stmt, code, "HY000", cmy_error_words(code));
}

void
cmy_stmt_error_with(MYSQL_STMT *stmt, unsigned code, ...)
{
	const char *words = cmy_error_words(code);
	char text[CMY_ERRMSG_SIZE];
	va_list args;

	va_start(args, code);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	cmy_stmt_error_text(stmt, code, "HY000", text);
}

void
cmy_stmt_error_both(MYSQL_STMT *stmt, unsigned code)
{
	cmy_error(stmt->mysql, code, NULL);
	cmy_stmt_error(stmt, code);
}

void
cmy_stmt_take_error(MYSQL_STMT *stmt)
{
	const NET *net;

	/* where the connection went, the statement has been told */
	if (!stmt->mysql)
		return;
	net = &stmt->mysql->net;
	cmy_stmt_error_text(stmt, net->last_errno, net->sqlstate, net->last_error);
}

void
cmy_stmt_clear(MYSQL_STMT *stmt)
{
	/* sic: a SQLSTATE that mysql_stmt_prepare() has left stays */
	if (CMY_ORACLE && stmt->last_errno == 0)
		return;
	stmt->last_errno = 0;
	stmt->last_error[0] = '\0';
	memcpy(stmt->sqlstate, "00000", sizeof(stmt->sqlstate));
}

MYSQL *
cmy_stmt_connection(MYSQL_STMT *stmt)
{
	if (!stmt->mysql)
		cmy_stmt_error(stmt, CR_SERVER_LOST);
	return stmt->mysql;
}

unsigned int
cmy_mysql_stmt_errno(MYSQL_STMT *stmt)
{
	return stmt->last_errno;
}

const char *
cmy_mysql_stmt_error(MYSQL_STMT *stmt)
{
	return stmt->last_error;
}

const char *
cmy_mysql_stmt_sqlstate(MYSQL_STMT *stmt)
{
	return stmt->sqlstate;
}

/* ---- the connection's list ---- */

static void
enlist(MYSQL *my, LIST *item)
{
	item->prev = NULL;
	item->next = my->stmts;
	if (my->stmts)
		my->stmts->prev = item;
	my->stmts = item;
}

static void
delist(MYSQL *my, LIST *item)
{
	if (item->prev)
		item->prev->next = item->next;
	else
		my->stmts = item->next;
	if (item->next)
		item->next->prev = item->prev;
}

/* What it has of the session that goes. */
static void
leave_session(struct cmy_stmt *st)
{
	int is_stream = st->reading == CMY_READ_STREAM;
	int is_cursor = st->reading == CMY_READ_BATCHES;

	/* a row that was fetched of a cursor may be asked for its columns again */
	if (is_cursor && st->at != CMY_NO_ROW && !st->kept &&
		cmy_kept_add(&st->kept, st->res, st->at) == 0)
		st->at = 0;
	if (is_stream || is_cursor) {
		cenote_result_destroy(st->res);
		st->res = NULL;
		st->reading = CMY_ORACLE && is_stream ? CMY_READ_LOST : CMY_READ_NO_MORE;
	}
	cmy_long_clear(st);
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
}

void
cmy_stmts_forget(struct cmy_session *s, unsigned code, const char *function)
{
	MYSQL *my = s->my;
	LIST *item;

	s->using = NULL;
	for (item = my->stmts; item; item = item->next) {
		struct cmy_stmt *st = item->data;

		leave_session(st);
		if (!function && st->pub.state == CMY_STMT_NEW)
			continue;
		st->pub.state = function ? st->pub.state : CMY_STMT_NEW;
		cmy_stmt_error_with(&st->pub, code, function);
		if (function)
			st->pub.mysql = NULL;
	}
	if (function)
		my->stmts = NULL;
}

#if CMY_ORACLE
void
cmy_stmts_prune(struct cmy_session *s)
{
	MYSQL *my = s->my;
	LIST *item, *next;

	s->using = NULL;
	for (item = my->stmts; item; item = next) {
		struct cmy_stmt *st = item->data;

		next = item->next;
		if (st->pub.state == CMY_STMT_NEW)
			continue;
		leave_session(st);
		cmy_stmt_error(&st->pub, CR_SERVER_LOST);
		st->pub.mysql = NULL;
		delist(my, item);
	}
}
#endif

/* ---- making ---- */

MYSQL_STMT *
cmy_mysql_stmt_init(MYSQL *mysql)
{
	struct cmy_stmt *st = calloc(1, sizeof(*st));

	if (!st || cenote_params_create(NULL, &st->params) < 0) {
		free(st);
		cmy_error(mysql, CR_OUT_OF_MEMORY, NULL);
		return NULL;
	}
	st->pub.extension = (void *)(uintptr_t)&cmy_tag;
	st->pub.mysql = mysql;
	st->pub.list.data = st;
	enlist(mysql, &st->pub.list);
	st->pub.state = CMY_STMT_NEW;
	st->pub.prefetch_rows = 1;
	st->portion = 1;
	memcpy(st->pub.sqlstate, "00000", sizeof(st->pub.sqlstate));
#if !CMY_ORACLE
	cmy_stmt_methods(&st->pub);
#endif
	return &st->pub;
}

/* The pieces of one allocation each; all may be NULL. */
static void
free_fields(struct cmy_stmt *st)
{
	free(st->pub.fields);
	free(st->pub.bind);
	st->pub.fields = NULL;
	st->pub.bind = NULL;
	st->pub.field_count = 0;
}

int
cmy_stmt_set_fields(struct cmy_stmt *st, MYSQL_FIELD *fields, unsigned n)
{
	free_fields(st);
	st->pub.fields = fields;
	st->pub.bind = calloc((size_t)n + 1, sizeof(*st->pub.bind));
	st->pub.field_count = n;
	if (fields && st->pub.bind)
		return 0;
	free_fields(st);
	cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
	return -1;
}

/* As one that was just made, but for its attributes. */
static void
unprepare(struct cmy_stmt *st)
{
	free_fields(st);
	cmy_long_clear(st);
	free(st->pub.params);
	st->pub.params = NULL;
	st->pub.param_count = 0;
#if CMY_ORACLE
	st->pub.bind_param_done = 0;
	st->pub.bind_result_done = 0;
	st->pub.result.rows = 0;
	st->reading = CMY_READ_NOTHING;
#endif
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
	free(st->sql);
	st->sql = NULL;
	st->pub.state = CMY_STMT_NEW;
}

/* ---- preparing ---- */

static int
begins_with(const char *sql, size_t n, const char *word)
{
	while (n > 0 && strchr(" \t\r\n\f\v({", *sql)) {
		sql++;
		n--;
	}
	return n >= strlen(word) && strncasecmp(sql, word, strlen(word)) == 0;
}

/* What its text begins with says more than its description. */
static void
take_kind(struct cmy_stmt *st)
{
	static const char *const several[] = { "call", "begin", "execute" };
	static const char *const told[] = { "analyze", "check", "delete", "explain",
		"help", "insert", "optimize", "repair", "replace", "show create" };

	st->is_select = begins_with(st->sql, st->sql_length, "select");
	st->may_give_several = 0;
	for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++)
		st->may_give_several |= begins_with(st->sql, st->sql_length, several[i]);
	st->has_no_cursor = st->may_give_several;
	for (size_t i = 0; CMY_ORACLE && i < sizeof(told) / sizeof(told[0]); i++)
		st->has_no_cursor |= begins_with(st->sql, st->sql_length, told[i]);
}

void
cmy_stmt_warnings(struct cmy_stmt *st, MYSQL *my, unsigned n)
{
	my->warning_count = n;
#if !CMY_ORACLE
	st->pub.upsert_status.warning_count = n;
#else
	(void)st;
#endif
}

/* A server tells its status behind the descriptions of parameters and of columns, unless the protocol is Oracle's. */
static int
tells_status(const struct cmy_stmt *st)
{
	return !CMY_ORACLE && (cenote_stmt_n_params(st->prepared) > 0 ||
				      cenote_stmt_n_columns(st->prepared) > 0);
}

static int
take_description(struct cmy_stmt *st, struct cmy_session *s)
{
	cenote_result *res = NULL, *none = NULL;
	int r = cmy_get_result(s, &res);

	if (r != CENOTE_OK)
		return -1;
	while (cmy_get_result(s, &none) == CENOTE_OK)
		cenote_result_destroy(none);
	if (cenote_result_kind(res) == CENOTE_RESULT_ERROR) {
		cmy_error_diag(s->my, cenote_result_diag(res));
		r = -1;
	} else {
		cmy_stmt_warnings(st, s->my, cenote_result_warnings(res));
		if (tells_status(st))
			cmy_take_bits(s, res);
	}
	cenote_result_destroy(res);
	return r;
}

int
cmy_stmt_prepare_again(struct cmy_stmt *st, struct cmy_session *s)
{
	if (cmy_check(s, cenote_send_prepare(st->prepared)) < 0)
		return -1;
	return take_description(st, s);
}

int
cmy_stmt_prepare(struct cmy_stmt *st, struct cmy_session *s)
{
	st->is_binary = cmy_is_binary(s);
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
	if (cmy_check(s, cenote_stmt_create(
				 s->conn, st->sql, st->sql_length, &st->prepared)) < 0)
		return -1;
	return cmy_stmt_prepare_again(st, s);
}

/* Programs may look at it, and 0 is none. */
static unsigned long
next_id(struct cmy_session *s)
{
	return ++s->last_stmt_id;
}

static int
take_params(struct cmy_stmt *st)
{
	unsigned n = cenote_stmt_n_params(st->prepared);

	st->pub.param_count = n;
#if !CMY_ORACLE
	if (st->pub.prebind_params > 0 && n > 0) {
		st->pub.param_count = st->pub.prebind_params;
		if (st->pub.prebind_params != n) {
			cmy_stmt_error_both(&st->pub, CR_INVALID_PARAMETER_NO);
			return -1;
		}
		/* unless those were another text's */
		if (st->pub.params)
			return 0;
	}
#endif
	if (!CMY_ORACLE && n == 0)
		return 0;
	free(st->pub.params);
	st->pub.params = calloc((size_t)n + 1, sizeof(*st->pub.params));
	if (st->pub.params)
		return 0;
	cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
	return -1;
}

static int
take_shape(struct cmy_stmt *st, struct cmy_session *s)
{
	unsigned n = cenote_stmt_n_columns(st->prepared);

	st->id = st->pub.stmt_id = next_id(s);
	if (take_params(st) < 0)
		return -1;
	return n == 0 ? 0
		      : cmy_stmt_set_fields(st, cmy_fields_of_stmt(s, st->prepared), n);
}

static int
keep_text(struct cmy_stmt *st, const struct cmy_session *s, const char *query,
	size_t length)
{
	int is_numbered = s->backend == CMY_BACKEND_POSTGRESQL;

	free(st->sql);
	st->sql = malloc(is_numbered ? CMY_PLACEHOLDER_SIZE(length) : length + 1);
	if (!st->sql) {
		cmy_error(st->pub.mysql, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	if (is_numbered)
		length = cmy_placeholders(query, length, st->sql);
	else
		memcpy(st->sql, query, length);
	st->sql_length = length;
	take_kind(st);
	return 0;
}

static int
prepare_anew(struct cmy_stmt *st, const char *query, size_t length)
{
	struct cmy_session *s = cmy_enter(st->pub.mysql);

	if (s && CMY_ORACLE)
		cmy_forget_query(s->my);
	if (!s || keep_text(st, s, query, length) < 0 || cmy_stmt_prepare(st, s) < 0)
		return -1;
	return take_shape(st, s);
}

int
cmy_mysql_stmt_prepare(MYSQL_STMT *stmt, const char *query, unsigned long length)
{
	struct cmy_stmt *st = cmy_stmt(stmt);

	if (!cmy_stmt_connection(stmt))
		return 1;
	if (length == (unsigned long)-1)
		length = (unsigned long)strlen(query);
#if CMY_ORACLE
	/* sic: it leaves the SQLSTATE */
	stmt->last_errno = 0;
	stmt->last_error[0] = '\0';
#else
	cmy_stmt_clear(stmt);
	cmy_clear(stmt->mysql);
	stmt->CMY_STMT_AFFECTED = stmt->mysql->affected_rows = MYSQL_COUNT_ERROR;
#endif
	if (stmt->state != CMY_STMT_NEW) {
#if CMY_ORACLE
		cmy_rows_cancel(st);
		cmy_rows_drop(st);
#else
		cmy_rows_give_up_all(st);
		cmy_rows_drop(st);
#endif
		unprepare(st);
	}
	if (prepare_anew(st, query, length) < 0) {
		cenote_stmt_destroy(st->prepared);
		st->prepared = NULL;
		stmt->state = CMY_STMT_NEW;
		cmy_stmt_take_error(stmt);
		return 1;
	}
	stmt->state = CMY_STMT_PREPARED;
	return 0;
}

/* ---- what it tells ---- */

unsigned long
cmy_mysql_stmt_param_count(MYSQL_STMT *stmt)
{
	return stmt->param_count;
}

unsigned int
cmy_mysql_stmt_field_count(MYSQL_STMT *stmt)
{
	return stmt->field_count;
}

uint64_t
cmy_mysql_stmt_affected_rows(MYSQL_STMT *stmt)
{
	return stmt->CMY_STMT_AFFECTED;
}

uint64_t
cmy_mysql_stmt_insert_id(MYSQL_STMT *stmt)
{
	return stmt->CMY_STMT_INSERT_ID;
}

uint64_t
cmy_mysql_stmt_num_rows(MYSQL_STMT *stmt)
{
	return stmt->result.rows;
}

/* The fields stay the statement's, so that a max_length that is found later is seen. */
MYSQL_RES *
cmy_mysql_stmt_result_metadata(MYSQL_STMT *stmt)
{
	MYSQL_RES *res;

	if (stmt->field_count == 0)
		return NULL;
	res = cmy_result_borrowing(stmt->fields, stmt->field_count);
	if (!res)
		cmy_stmt_error(stmt, CR_OUT_OF_MEMORY);
	return res;
}

/* Neither original has ever told any. */
MYSQL_RES *
cmy_mysql_stmt_param_metadata(MYSQL_STMT *stmt)
{
	(void)stmt;
	return NULL;
}

#if !CMY_ORACLE
MYSQL_FIELD *
cmy_mariadb_stmt_fetch_fields(MYSQL_STMT *stmt)
{
	return stmt ? stmt->fields : NULL;
}

int
cmy_mysql_stmt_warning_count(MYSQL_STMT *stmt)
{
	return (int)stmt->upsert_status.warning_count;
}
#endif

/* COM_STMT_CLOSE: libcenote closes it by itself. What is left is read only where the statement has rows in hand. */
static int
close_at_server(struct cmy_stmt *st)
{
	MYSQL *my = st->pub.mysql;

	cmy_clear(my);
	if (my->status != MYSQL_STATUS_READY) {
		cmy_rows_flush(my->extension);
		cmy_drain(my->extension);
	}
	/* sic: Oracle's library also closes what has taken another one's results and was not prepared */
	if (!CMY_ORACLE && st->pub.stmt_id == 0)
		return 0;
	if (my->server_status & SERVER_MORE_RESULTS_EXISTS) {
		cmy_stmt_error_both(&st->pub, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	/* what was wrong with the rows that were left is not told */
	cmy_clear(my);
	my->info = NULL;
	my->affected_rows = MYSQL_COUNT_ERROR;
	return 0;
}

/* ---- attributes ---- */

#if !CMY_ORACLE
static void
set_prebind_params(struct cmy_stmt *st, unsigned n)
{
	if (st->pub.state != CMY_STMT_NEW) {
		cmy_rows_give_up_all(st);
		cmy_rows_drop(st);
		(void)close_at_server(st);
		unprepare(st);
	}
	/* those of a text that could not be prepared */
	if (n > st->pub.param_count) {
		free(st->pub.params);
		st->pub.params = NULL;
	}
	st->pub.prebind_params = st->pub.param_count = n;
}

/* What only Connector/C has. 0 done, 1 there is no such attribute. */
static int
set_more(struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value)
{
	switch (type) {
	case STMT_ATTR_PREBIND_PARAMS:
		set_prebind_params(st, *(const unsigned *)value);
		return 0;
	case STMT_ATTR_ARRAY_SIZE:
		st->pub.array_size = *(const unsigned *)value;
		cmy_request_drop(st);
		return 0;
	case STMT_ATTR_ROW_SIZE:
		st->pub.row_size = *(const size_t *)value;
		return 0;
	case STMT_ATTR_CB_RESULT:
		memcpy(&st->pub.result_callback, &value, sizeof(value));
		return 0;
	case STMT_ATTR_CB_PARAM:
		memcpy(&st->pub.param_callback, &value, sizeof(value));
		return 0;
	case STMT_ATTR_CB_USER_DATA:
		st->pub.user_data = (void *)(uintptr_t)value;
		return 0;
	default:
		return 1;
	}
}

static int
get_more(const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value)
{
	switch (type) {
	case STMT_ATTR_STATE:
		*(enum enum_mysql_stmt_state *)ret_value = stmt->state;
		return 0;
	case STMT_ATTR_PREBIND_PARAMS:
		*(unsigned *)ret_value = stmt->prebind_params;
		return 0;
	case STMT_ATTR_ARRAY_SIZE:
		*(unsigned *)ret_value = stmt->array_size;
		return 0;
	case STMT_ATTR_ROW_SIZE:
		*(size_t *)ret_value = stmt->row_size;
		return 0;
	case STMT_ATTR_CB_USER_DATA:
		*(void **)ret_value = stmt->user_data;
		return 0;
	default:
		return 1;
	}
}
#else
static int
set_more(struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value)
{
	(void)st;
	(void)type;
	(void)value;
	return 1;
}

static int
get_more(const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value)
{
	(void)stmt;
	(void)type;
	(void)ret_value;
	return 1;
}
#endif

/* A value that is not given is nothing to Oracle's, and a crash with Connector/C. */
static unsigned long
number_or_0(const void *value)
{
	return value ? *(const unsigned long *)value : 0;
}

my_bool
cmy_mysql_stmt_attr_set(
	MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, const void *attr)
{
	int is_unknown = 0;

	switch (attr_type) {
	case STMT_ATTR_UPDATE_MAX_LENGTH:
		/* whatever it is: mysql_stmt_attr_get() gives it back */
		stmt->update_max_length = 0;
		if (attr)
			stmt->update_max_length = *(const my_bool *)attr;
		break;
	case STMT_ATTR_CURSOR_TYPE:
		is_unknown = number_or_0(attr) > CURSOR_TYPE_READ_ONLY;
		if (!is_unknown)
			stmt->flags = number_or_0(attr);
		break;
	case STMT_ATTR_PREFETCH_ROWS:
		if (!attr)
			return 1;
		if (CMY_ORACLE || number_or_0(attr) > 0)
			stmt->prefetch_rows = number_or_0(attr);
		break;
	default:
		is_unknown = set_more(cmy_stmt(stmt), attr_type, attr);
		break;
	}
	if (is_unknown)
		cmy_stmt_error(stmt, CR_NOT_IMPLEMENTED);
	return cmy_bool(is_unknown != 0);
}

my_bool
cmy_mysql_stmt_attr_get(MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, void *attr)
{
	switch (attr_type) {
	case STMT_ATTR_UPDATE_MAX_LENGTH:
		*(my_bool *)attr = stmt->update_max_length;
		return 0;
	case STMT_ATTR_CURSOR_TYPE:
		*(unsigned long *)attr = stmt->flags;
		return 0;
	case STMT_ATTR_PREFETCH_ROWS:
		*(unsigned long *)attr = stmt->prefetch_rows;
		return 0;
	default:
		return cmy_bool(get_more(stmt, attr_type, attr) != 0);
	}
}

/* ---- the end ---- */

/* What the connection knows of it. */
static int
leave_connection(struct cmy_stmt *st)
{
#if CMY_ORACLE
	cmy_clear(st->pub.mysql);
	if (st->pub.state == CMY_STMT_NEW)
		return 0;
#else
	if (st->pub.mysql->net.CMY_VIO)
		cmy_rows_give_up_all(st);
#endif
	return close_at_server(st);
}

my_bool
cmy_mysql_stmt_close(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int r = 0;

	if (!stmt)
		return 1;
	if (stmt->mysql) {
		r = leave_connection(st);
		delist(stmt->mysql, &stmt->list);
	}
	cmy_rows_drop(st);
	unprepare(st);
#if !CMY_ORACLE
	cmy_request_drop(st);
	free(st->raw);
#endif
	cenote_params_destroy(st->params);
	free(st);
	return cmy_bool(r);
}
