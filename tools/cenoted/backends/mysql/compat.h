/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_COMPAT_H
#define CND_MY_COMPAT_H

/*
 * MariaDB's libmariadb and Oracle's libmysqlclient: what one has and the other has not is here, so
 * that no other file asks which of them it is compiled against.
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

/* Among the server's status flags: another result follows; a cursor is open; of sql_mode, what texts are read by, of which
 * MySQL's server tells NO_BACKSLASH_ESCAPES only. */
#define CND_MY_STATUS_MORE         8u
#define CND_MY_STATUS_CURSOR       64u
#define CND_MY_STATUS_NO_BACKSLASH 512u
#define CND_MY_STATUS_ANSI_QUOTES  32768u

/* Error codes of the server that decide something. */
#define CND_MY_ER_PARSE          1064u
#define CND_MY_ER_EMPTY          1065u
#define CND_MY_ER_UNSUPPORTED_PS 1295u
#define CND_MY_ER_INTERRUPTED    1317u

struct cnd_my_options;

/* What the library calls before it would block: 1 ready, 0 the time (ms, -1 no bound) is up, -1 failed. */
typedef int cnd_my_wait_fn(my_socket fd, cnd_my_bool is_read, int timeout_ms);

/* Whether the library has such a hook, and took it. */
int cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait);
/* What it calls when the server tells how far it is, in per cent of a stage; `doing` is borrowed. */
typedef void cnd_my_progress_fn(const MYSQL *my, unsigned stage, unsigned n_stages,
	double percent, const char *doing, unsigned n_doing);
/* MariaDB's library only. */
void cnd_my_hook_progress(MYSQL *my, cnd_my_progress_fn *progress);
void cnd_my_set_tls(MYSQL *my, const struct cnd_my_options *o);
/* Log in by nothing but the password: not by what this host has (Kerberos). MariaDB's library only. */
void cnd_my_insist_on_password(MYSQL *my, int has_cleartext);
/* The server's status flags, as of its last answer. */
unsigned cnd_my_status(const MYSQL *my);
/* With the columns of a result they come, too: with MariaDB's library. */
int cnd_my_has_status_with_columns(void);
/* The library does not look into the answer of the simplest commands (reset, ping, set option,
 * database): take the status flags from it. */
void cnd_my_take_status(MYSQL *my);
/* The same, and how many warnings there were, behind the last row of a statement, where MariaDB's library does not look. */
void cnd_my_take_end(MYSQL *my);
my_socket cnd_my_socket(const MYSQL *my);
size_t cnd_my_buffer_size(const MYSQL *my);
/* The packet that the library will read next, if all of it lies in its buffer: 1, else 0. */
int cnd_my_peek(const MYSQL *my, const uint8_t **ret_packet, size_t *ret_len);
/* It was read, with its len bytes. */
void cnd_my_take(MYSQL *my, size_t len);
/* Whether commands can be sent without waiting for the answers in between: to MariaDB's library, and where
 * it neither encrypts nor compresses. */
int cnd_my_can_send_ahead(const MYSQL *my);
/* Send a reset (COM_RESET_CONNECTION) and a query in one piece. 0: the library is as behind mysql_send_query(),
 * but that the reset's answer comes first. -1: nothing was sent, or the connection is gone. */
int cnd_my_send_reset_and_query(MYSQL *my, const char *sql, size_t len);
/* The reset's answer. 0, or -1 and the library's error is set. */
int cnd_my_read_reset(MYSQL *my);
/* Close the socket, so that nothing waits for the server any more. */
void cnd_my_break(MYSQL *my);
/* Ask the server for its status flags and nothing else. 0, or the library's error is set. */
int cnd_my_refresh_status(MYSQL *my, int is_single);
/* The value of this parameter was sent ahead, in pieces. */
void cnd_my_mark_long(MYSQL_STMT *stmt, unsigned param);
/* Before the first piece of it is sent. 0, or -1: no memory. */
int cnd_my_ready_long(MYSQL_STMT *stmt, unsigned param);
/* The columns of what a statement has just given: its n fields. */
const MYSQL_FIELD *cnd_my_stmt_fields(MYSQL_STMT *stmt, const MYSQL *my, unsigned n);
/* A statement was executed and has other columns than when it was prepared, with which the library does not cope
 * (CR_NEW_STMT_METADATA): give it room for them. 0, or -1. `*ret_memory` is to be given to free()
 * when the statement is closed. */
int cnd_my_adopt_fields(MYSQL_STMT *stmt, const MYSQL *my, void **memory);
/* What MariaDB is told beside a value of a row, or in its place. */
enum cnd_my_indicator {
	CND_MY_IS_VALUE = 0,
	CND_MY_IS_NULL = 1,
	CND_MY_IS_DEFAULT = 2,
	CND_MY_IS_IGNORED = 3
};
void cnd_my_set_indicator(MYSQL_BIND *b, char *indicator);
/* Row after row. */
struct cnd_my_param_rows {
	const MYSQL_BIND *binds;
	uint32_t n_params;
	uint32_t n_rows;
};
/* The next execution is of these; it reads them. 0, or -1: the library has no such thing. */
int cnd_my_set_rows(MYSQL_STMT *stmt, struct cnd_my_param_rows *rows);
/* It was executed. */
void cnd_my_unset_rows(MYSQL_STMT *stmt);
int cnd_my_knows_charset(const char *name);
/* The server's own version, "10.11.6-MariaDB", and as a number, 101106. */
const char *cnd_my_server_version(const MYSQL *my);
unsigned long cnd_my_server_number(const MYSQL *my);
int cnd_my_is_mariadb(const MYSQL *my);
/* Begin to read the next result of a text, or go on with it. */
enum cnd_my_next {
	CND_MY_NEXT_HERE,
	CND_MY_NEXT_NONE,
	CND_MY_NEXT_FAILED,
	CND_MY_NEXT_LATER /* when the socket has more; only without a hook */
};
enum cnd_my_next cnd_my_try_next(MYSQL *my);

#endif
