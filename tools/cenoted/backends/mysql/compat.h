/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_COMPAT_H
#define CND_MY_COMPAT_H

/*
 * MariaDB's libmariadb and Oracle's libmysqlclient. Their differences are here, so that no other file
 * asks which library it is compiled against.
 */
#include <mysql.h>
#include <errmsg.h>

#include <stdint.h>

#ifdef MARIADB_PACKAGE_VERSION_ID
#define CND_MY_IS_MARIADB 1
typedef my_bool cnd_my_bool;
#else
#define CND_MY_IS_MARIADB 0
typedef bool cnd_my_bool;
typedef int my_socket;
#endif

/* Status flags of the server: another result follows; a cursor is open; and two flags of sql_mode that decide how
 * string literals are read. MySQL's server reports only NO_BACKSLASH_ESCAPES of these two. */
#define CND_MY_STATUS_MORE         8u
#define CND_MY_STATUS_CURSOR       64u
#define CND_MY_STATUS_NO_BACKSLASH 512u
#define CND_MY_STATUS_ANSI_QUOTES  32768u

/* Error codes of the server that change what the backend does. */
#define CND_MY_ER_ACCESS_DENIED  1045u
#define CND_MY_ER_PARSE          1064u
#define CND_MY_ER_EMPTY          1065u
#define CND_MY_ER_UNSUPPORTED_PS 1295u
#define CND_MY_ER_INTERRUPTED    1317u

struct cnd_my_options;

/* The library calls this before it would block. Returns 1 if the socket is ready, 0 after timeout_ms (-1: no
 * limit), -1 on failure. */
typedef int cnd_my_wait_fn(my_socket fd, cnd_my_bool is_read, int timeout_ms);

/* Install the hook. Returns whether the library has such a hook and accepted it. */
int cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait);
/* The library calls this when the server reports its progress, in per cent of a stage; `doing` is borrowed. */
typedef void cnd_my_progress_fn(const MYSQL *my, unsigned stage, unsigned n_stages,
	double percent, const char *doing, unsigned n_doing);
/* MariaDB's library only. */
void cnd_my_hook_progress(MYSQL *my, cnd_my_progress_fn *progress);
void cnd_my_set_tls(MYSQL *my, const struct cnd_my_options *o);
/* Log in with the password only, not with credentials of this host (Kerberos). MariaDB's library only. */
void cnd_my_insist_on_password(MYSQL *my, int has_cleartext);
/* Why a login with ssl_mode=required fails on a server without TLS. */
#define CND_MY_NO_TLS                                                                    \
	"the server has no TLS, and the server line asks for it (ssl_mode=preferred "    \
	"would do without)"
/* Parts of the errors of a login whose password cenoted does not send. */
#define CND_MY_NO_KEY                                                                    \
	"without TLS, the password would go encrypted with an RSA key that the server "  \
	"sends, and nothing proves whose key that is. Use TLS (ssl_mode=required, "      \
	"ssl_ca and ssl_verify_server_cert=yes), or copy the server's public_key.pem "   \
	"and name it in server_public_key. get_server_public_key=yes takes any key"
#define CND_MY_NO_CLEARTEXT "which only cleartext_password=yes allows, and only with TLS"
/* Let the library prove the password only in the ways that the options allow (plugins.c). `o` must live as long as `my`. */
void cnd_my_watch_login(MYSQL *my, const struct cnd_my_options *o);
/* The server's status flags, as of its last answer. */
unsigned cnd_my_status(const MYSQL *my);
/* Whether the status flags also arrive with a result's columns: true with MariaDB's library. */
int cnd_my_has_status_with_columns(void);
/* The library does not read the answers of the simplest commands (reset, ping, set option, database).
 * Take the status flags from the last answer. */
void cnd_my_take_status(MYSQL *my);
/* Take the status flags and the number of warnings from the end of a statement's rows, where
 * MariaDB's library does not read them. */
void cnd_my_take_end(MYSQL *my);
my_socket cnd_my_socket(const MYSQL *my);
size_t cnd_my_buffer_size(const MYSQL *my);
/* Look at the packet that the library will read next. Returns 1 if the library's buffer holds all of
 * it, else 0. */
int cnd_my_peek(const MYSQL *my, const uint8_t **ret_packet, size_t *ret_len);
/* Mark the packet of cnd_my_peek(), of `len` bytes, as read. */
void cnd_my_take(MYSQL *my, size_t len);
/* Whether commands can be sent without waiting for the answers in between. True for MariaDB's library without
 * encryption and compression. */
int cnd_my_can_send_ahead(const MYSQL *my);
/* Send a reset (COM_RESET_CONNECTION) and a query in one piece. 0: the library is in the state after
 * mysql_send_query(), except that the reset's answer comes first. -1: nothing was sent, or the connection is gone. */
int cnd_my_send_reset_and_query(MYSQL *my, const char *sql, size_t len);
/* Read the reset's answer. 0, or -1 with the library's error set. */
int cnd_my_read_reset(MYSQL *my);
/* Close the socket, so that nothing waits for the server any longer. */
void cnd_my_break(MYSQL *my);
/* Ask the server for its status flags and nothing else. 0, or nonzero with the library's error set. */
int cnd_my_refresh_status(MYSQL *my, int is_single);
/* Mark that this parameter's value was sent ahead in pieces. */
void cnd_my_mark_long(MYSQL_STMT *stmt, unsigned param);
/* Prepare for sending the first piece of this parameter. 0, or -1: no memory. */
int cnd_my_ready_long(MYSQL_STMT *stmt, unsigned param);
/* The n columns of a statement's current result. */
const MYSQL_FIELD *cnd_my_stmt_fields(MYSQL_STMT *stmt, const MYSQL *my, unsigned n);
/* Before the column is bound: let the library read its vectors. */
void cnd_my_read_as_blob(MYSQL_STMT *stmt, unsigned column);
/* Make room for the columns of an executed statement that differ from those at its preparation, which the library
 * cannot handle (CR_NEW_STMT_METADATA). 0, or -1. Pass `*memory` to free() when the statement is closed. */
int cnd_my_adopt_fields(MYSQL_STMT *stmt, const MYSQL *my, void **memory);
/* MariaDB gets one of these with each value in a row of parameters. */
enum cnd_my_indicator {
	CND_MY_IS_VALUE = 0,
	CND_MY_IS_NULL = 1,
	CND_MY_IS_DEFAULT = 2,
	CND_MY_IS_IGNORED = 3
};
void cnd_my_set_indicator(MYSQL_BIND *b, char *indicator);
/* Several rows of parameters, for one execution. */
struct cnd_my_param_rows {
	const MYSQL_BIND *binds;
	uint32_t n_params;
	uint32_t n_rows;
};
/* Use these rows for the next execution, and keep them until then. 0, or -1: the library cannot do
 * this. */
int cnd_my_set_rows(MYSQL_STMT *stmt, struct cnd_my_param_rows *rows);
/* Call it after the execution. */
void cnd_my_unset_rows(MYSQL_STMT *stmt);
int cnd_my_knows_charset(const char *name);
/* The server's own version, "10.11.6-MariaDB", and as a number, 101106. */
const char *cnd_my_server_version(const MYSQL *my);
unsigned long cnd_my_server_number(const MYSQL *my);

/* The capabilities that only MariaDB's server has. 0: another server, or Oracle's library. */
unsigned long cnd_my_more_capabilities(MYSQL *my);
int cnd_my_is_mariadb(const MYSQL *my);
/* Begin or continue to read the next result of a text. */
enum cnd_my_next {
	CND_MY_NEXT_HERE,
	CND_MY_NEXT_NONE,
	CND_MY_NEXT_FAILED,
	/* try again when the socket has more data; only without a hook */
	CND_MY_NEXT_LATER
};
enum cnd_my_next cnd_my_try_next(MYSQL *my);

#endif
