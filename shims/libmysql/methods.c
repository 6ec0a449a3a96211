/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <string.h>

/*
 * MYSQL.methods: the table through which the original calls itself. Some programs (mysqltest,
 * MariaDB Connector/Python) call it because no public function does the same. A command goes to the
 * function that does the same. A command without such a function gives CR_NOT_IMPLEMENTED. Reading
 * rows in the form of the protocol also gives this error: a pool does not have these bytes.
 */

static int
refuse(MYSQL *my)
{
	cmy_error(my, CR_NOT_IMPLEMENTED, NULL);
	return 1;
}

static int
quit(MYSQL *my)
{
	if (my->extension)
		cmy_lose(my->extension);
	return 0;
}

static int
statistics(MYSQL *my)
{
	(void)cmy_mysql_stat(my);
	return cmy_mysql_errno(my) != 0;
}

static int
shut_down(MYSQL *my, unsigned level)
{
	return cmy_mysql_shutdown(my, (enum mysql_enum_shutdown_level)level);
}

static int
process_kill(MYSQL *my, unsigned pid)
{
	return cmy_mysql_kill(my, pid);
}

static int
set_option(MYSQL *my, unsigned option)
{
	return cmy_mysql_set_server_option(my, (enum enum_mysql_set_option)option);
}

/* The function for each command, by its argument: none, a number, or a name. */
static const struct command {
	int (*plain)(MYSQL *my);
	int (*with_number)(MYSQL *my, unsigned n);
	int (*with_name)(MYSQL *my, const char *name);
} commands[] = {
	[COM_QUIT] = { .plain = quit },
	[COM_INIT_DB] = { .with_name = cmy_mysql_select_db },
	[COM_REFRESH] = { .with_number = cmy_mysql_refresh },
	[COM_SHUTDOWN] = { .with_number = shut_down },
	[COM_STATISTICS] = { .plain = statistics },
	[COM_PROCESS_KILL] = { .with_number = process_kill },
	[COM_DEBUG] = { .plain = cmy_mysql_dump_debug_info },
	[COM_PING] = { .plain = cmy_mysql_ping },
	[COM_SET_OPTION] = { .with_number = set_option },
	[COM_RESET_CONNECTION] = { .plain = cmy_mysql_reset_connection },
};

/* Read a little-endian number of up to four bytes. */
static unsigned
number(const char *arg, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len && i < 4; i++)
		n |= (unsigned)(unsigned char)arg[i] << (8 * i);
	return n;
}

static int
run_query(MYSQL *my, const char *arg, size_t len, int is_sent_only)
{
	int r = cmy_mysql_send_query(my, arg, len ? len : strlen(arg));

	return r != 0 || is_sent_only ? r : cmy_mysql_read_query_result(my);
}

static int
run_command(MYSQL *my, unsigned code, const char *arg, size_t len, int is_sent_only)
{
	const struct command *c;

	if (!arg) {
		arg = "";
		len = 0;
	}
	if (code == COM_QUERY)
		return run_query(my, arg, len, is_sent_only);
	if (code >= sizeof(commands) / sizeof(*commands))
		return refuse(my);
	c = &commands[code];
	if (c->plain)
		return c->plain(my);
	if (c->with_number)
		return c->with_number(my, number(arg, len));
	return c->with_name ? c->with_name(my, arg) : refuse(my);
}

static int
read_query_result(MYSQL *my)
{
	struct cmy_session *s = my->extension;

	if (s && s->state == CMY_MORE)
		return cmy_next_head(s) < 0;
	return cmy_mysql_read_query_result(my);
}

#if CMY_ORACLE

static my_bool
read_answer(MYSQL *my)
{
	return read_query_result(my) != 0;
}

static my_bool
command_of(MYSQL *my, int command, const unsigned char *header, size_t header_length,
	const unsigned char *arg, size_t arg_length, my_bool skip_check, MYSQL_STMT *stmt)
{
	(void)stmt;
	if (header_length > 0) {
		arg = header;
		arg_length = header_length;
	}
	return run_command(my, (unsigned)command, (const char *)arg, arg_length,
		       skip_check) != 0;
}

static const struct cmy_methods methods = {
	.read_query_result = read_answer,
	.advanced_command = command_of,
};

#else

static int
command_of(MYSQL *my, int command, const char *arg, size_t length, my_bool skip_check,
	void *opt_arg)
{
	(void)opt_arg;
	return run_command(my, (unsigned)command, arg, length, skip_check);
}

/* Close the connection. The program still owns the handle. */
static void
hang_up(MYSQL *my)
{
	(void)quit(my);
}

static void
skip_result(MYSQL *my)
{
	if (my->extension)
		cmy_drain(my->extension);
}

static MYSQL_DATA *
read_rows(MYSQL *my, MYSQL_FIELD *fields, unsigned int n)
{
	(void)fields;
	(void)n;
	(void)refuse(my);
	return NULL;
}

static int
read_one_row(MYSQL *my, unsigned int n, MYSQL_ROW row, unsigned long *lengths)
{
	(void)n;
	(void)row;
	(void)lengths;
	(void)refuse(my);
	return -1;
}

static int
refuse_stmt(MYSQL_STMT *stmt)
{
	if (cmy_stmt_connection(stmt))
		cmy_stmt_error_both(stmt, CR_NOT_IMPLEMENTED);
	return 1;
}

/* The answer to a statement was read when the statement was sent, whatever
 * MARIADB_OPT_SKIP_READ_RESPONSE says. Report that result. */
static my_bool
prepare_response(MYSQL_STMT *stmt)
{
	return cmy_bool(stmt->last_errno != 0);
}

static int
execute_response(MYSQL_STMT *stmt)
{
	return cmy_bool(stmt->last_errno != 0);
}

/* The descriptions of parameters and columns were read at that time, too. */
static my_bool
description(MYSQL_STMT *stmt)
{
	return prepare_response(stmt);
}

static int
refuse_row(MYSQL_STMT *stmt, unsigned char **row, unsigned long *length)
{
	(void)row;
	(void)length;
	return refuse_stmt(stmt);
}

static int
refuse_bind(MYSQL_STMT *stmt, unsigned char *row, unsigned long length)
{
	(void)row;
	(void)length;
	return refuse_stmt(stmt);
}

static void
flush_unbuffered(MYSQL_STMT *stmt)
{
	if (stmt->mysql && stmt->mysql->extension)
		cmy_rows_flush(stmt->mysql->extension);
	stmt->state = MYSQL_STMT_FETCH_DONE;
}

/* The statement keeps the request. The program gets only the first bytes of the request, which are
 * the statement's number. */
static unsigned char *
generate_request(MYSQL_STMT *stmt, size_t *request_len, my_bool internal)
{
	struct cmy_stmt *st = cmy_stmt(stmt);

	*request_len = 0;
	if (!internal)
		(void)refuse_stmt(stmt);
	if (!internal || cmy_request_take(st) < 0)
		return NULL;
	*request_len = sizeof(st->request_head);
	return st->request_head;
}

static my_bool
is_supported(enum enum_field_types type)
{
	return cmy_bool(type < MYSQL_TYPE_VARCHAR || type == MYSQL_TYPE_BIT ||
			(type >= MYSQL_TYPE_JSON && type != MYSQL_TYPE_ENUM &&
				type != MYSQL_TYPE_SET));
}

static void set_error(MYSQL *my, unsigned int code, const char *sqlstate,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static void
set_error(MYSQL *my, unsigned int code, const char *sqlstate, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cmy_error_textv(my, code, sqlstate, format, args);
	va_end(args);
}

static void
invalidate(MYSQL *my, const char *function_name)
{
	if (my->extension)
		cmy_stmts_forget(my->extension, CR_STMT_CLOSED,
			function_name ? function_name : "");
}

static const struct cmy_methods methods = {
	.db_connect = cmy_mysql_real_connect,
	.db_close = hang_up,
	.db_command = command_of,
	.db_skip_result = skip_result,
	.db_read_query_result = read_query_result,
	.db_read_rows = read_rows,
	.db_read_one_row = read_one_row,
	.db_supported_buffer_type = is_supported,
	.db_read_prepare_response = prepare_response,
	.db_read_stmt_result = read_query_result,
	.db_stmt_get_result_metadata = description,
	.db_stmt_get_param_metadata = description,
	.db_stmt_read_all_rows = cmy_mysql_stmt_store_result,
	.db_stmt_fetch = refuse_row,
	.db_stmt_fetch_to_bind = refuse_bind,
	.db_stmt_flush_unbuffered = flush_unbuffered,
	.set_error = set_error,
	.invalidate_stmts = invalidate,
	.api = &cmy_api,
	.db_read_execute_response = execute_response,
	.db_execute_generate_request = generate_request,
};

/* MYSQL_STMT.default_rset_handler: the program will fetch the rows one by one. */
static MYSQL_RES *
use_rows(MYSQL_STMT *stmt)
{
	if (stmt->state == MYSQL_STMT_WAITING_USE_OR_STORE)
		stmt->state = MYSQL_STMT_USE_OR_STORE_CALLED;
	else if (cmy_stmt_connection(stmt))
		cmy_error(stmt->mysql, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return NULL;
}

void
cmy_stmt_methods(MYSQL_STMT *stmt)
{
	stmt->fetch_row_func = refuse_row;
	stmt->default_rset_handler = use_rows;
}

#endif

const struct cmy_methods *
cmy_methods(void)
{
	return &methods;
}
