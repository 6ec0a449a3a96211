/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The differences between MariaDB's and Oracle's client library, which have the same functions but different
 * structures. All files of the backend call it through compat.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "my.h"

#if CND_MY_IS_MARIADB
#include <ma_pvio.h>
#endif

static void
set(MYSQL *my, enum mysql_option option, const char *value)
{
	if (value)
		(void)mysql_options(my, option, value);
}

static void
set_tls_files(MYSQL *my, const struct cnd_my_options *o)
{
	set(my, MYSQL_OPT_SSL_CA, o->tls_ca);
	set(my, MYSQL_OPT_SSL_CAPATH, o->tls_capath);
	set(my, MYSQL_OPT_SSL_CERT, o->tls_cert);
	set(my, MYSQL_OPT_SSL_KEY, o->tls_key);
	set(my, MYSQL_OPT_SSL_CIPHER, o->tls_cipher);
	set(my, MYSQL_OPT_SSL_CRL, o->tls_crl);
	set(my, MYSQL_OPT_SSL_CRLPATH, o->tls_crlpath);
	set(my, MYSQL_OPT_TLS_VERSION, o->tls_version);
}

unsigned
cnd_my_status(const MYSQL *my)
{
	return my->server_status;
}

/* The encoded size of a number in an OK packet; 0 if it does not fit in the packet. */
static size_t
number_size(const unsigned char *p, size_t left)
{
	size_t n = left == 0     ? 0
		   : p[0] < 251  ? 1
		   : p[0] == 252 ? 3
		   : p[0] == 253 ? 4
		   : p[0] == 254 ? 9
				 : 0;

	return n <= left ? n : 0;
}

void
cnd_my_take_status(MYSQL *my)
{
	const unsigned char *p = my->net.read_pos;
	size_t left = my->packet_length, n = 0, k;
	int i;

	if (left == (size_t)packet_error || left < 5)
		return;
	if (p[0] == 0xfe && left < 7) { /* EOF: warnings, status */
		my->server_status = (unsigned)(p[3] | p[4] << 8);
		return;
	}
	/* with Oracle's library, servers send an OK in place of an EOF, under the number of EOF */
	if (p[0] != 0 && p[0] != 0xfe)
		return;
	for (i = 0, n = 1; i < 2; i++) { /* affected rows, last insert id */
		k = number_size(p + n, left - n);
		if (k == 0)
			return;
		n += k;
	}
	if (left - n >= 2)
		my->server_status = (unsigned)(p[n] | p[n + 1] << 8);
}

/* Set an option to its present value. Unlike COM_PING, COM_SET_OPTION does not touch ROW_COUNT(). */
int
cnd_my_refresh_status(MYSQL *my, int is_single)
{
	if (mysql_set_server_option(my, is_single ? MYSQL_OPTION_MULTI_STATEMENTS_OFF
						  : MYSQL_OPTION_MULTI_STATEMENTS_ON))
		return -1;
	cnd_my_take_status(my);
	return 0;
}

/* MariaDB up to version 10 reports itself as MySQL 5.5.5, for the replicas of its time. Its own library undoes
 * that. */
const char *
cnd_my_server_version(const MYSQL *my)
{
	static const char disguise[] = "5.5.5-";
	const char *version = my->server_version;

	if (!version)
		return "";
	if (strncmp(version, disguise, sizeof(disguise) - 1) == 0 &&
		strstr(version, "MariaDB"))
		version += sizeof(disguise) - 1;
	return version;
}

int
cnd_my_is_mariadb(const MYSQL *my)
{
	return strstr(cnd_my_server_version(my), "MariaDB") != NULL;
}

unsigned long
cnd_my_server_number(const MYSQL *my)
{
	const char *p = cnd_my_server_version(my);
	unsigned long number = 0;
	char *end;
	int i;

	for (i = 0; i < 3; i++) {
		number = number * 100 + strtoul(p, &end, 10) % 100;
		p = *end == '.' ? end + 1 : end;
	}
	return number;
}

void
cnd_my_break(MYSQL *my)
{
	my_socket fd = cnd_my_socket(my);

	if (fd >= 0)
		(void)shutdown((int)fd, SHUT_RDWR);
}

size_t
cnd_my_buffer_size(const MYSQL *my)
{
	return my->net.max_packet;
}

void
cnd_my_mark_long(MYSQL_STMT *stmt, unsigned param)
{
	stmt->params[param].long_data_used = 1;
}

/* The library keeps a statement's columns from its preparation, and updates only their types. The
 * connection has the columns of the last execution, unless the server did not send them again. */
const MYSQL_FIELD *
cnd_my_stmt_fields(MYSQL_STMT *stmt, const MYSQL *my, unsigned n)
{
	return my->fields && my->field_count == n ? my->fields : stmt->fields;
}

/* A vector has the form of a blob. MariaDB's library reads values by the types in its own columns, and does not know vectors. */
void
cnd_my_read_as_blob(MYSQL_STMT *stmt, unsigned column)
{
	if (CND_MY_IS_MARIADB)
		stmt->fields[column].type = MYSQL_TYPE_BLOB;
}

int
cnd_my_adopt_fields(MYSQL_STMT *stmt, const MYSQL *my, void **memory)
{
	size_t n = my->field_count;
	size_t size = sizeof(MYSQL_FIELD) + sizeof(MYSQL_BIND);
	char *block;

	if (!my->fields || n == 0 || !(block = calloc(n, size)))
		return -1;
	/* nobody reads the strings of these columns: cnd_my_stmt_fields() returns better ones */
	memcpy(block, my->fields, n * sizeof(MYSQL_FIELD));
	free(*memory);
	*memory = block;
	stmt->fields = (MYSQL_FIELD *)(void *)block;
	stmt->bind = (MYSQL_BIND *)(void *)(block + n * sizeof(MYSQL_FIELD));
	stmt->field_count = (unsigned)n;
	stmt->bind_result_done = 0;
	return 0;
}

#if CND_MY_IS_MARIADB

#define PACKET_HEADER 4u /* the length in three bytes, a number */
#define COMMAND_QUERY 3u
#define COMMAND_RESET 31u
/* It is not worth copying a longer text. */
#define AHEAD_MAX     4000u

/* The library's stream; NULL: its structure is not as the library's header says, or the stream is
 * compressed. */
static const MARIADB_PVIO *
stream_of(const MYSQL *my)
{
	const MARIADB_PVIO *pvio = my->net.pvio;

	return pvio && pvio->mysql == my && pvio->cache && !my->net.compress ? pvio
									     : NULL;
}

/* The library's header says where its buffer is. The packet number in the buffer must be the next
 * one, which shows that the library's layout is the same. A compressed stream cannot be read here: it
 * has packets inside packets. */
int
cnd_my_peek(const MYSQL *my, const uint8_t **ret_packet, size_t *ret_len)
{
	const MARIADB_PVIO *pvio = stream_of(my);
	const uint8_t *p;
	size_t left, len;

	if (!pvio)
		return 0;
	p = pvio->cache_pos;
	left = (size_t)(pvio->cache + pvio->cache_size - p);
	if (left < PACKET_HEADER || p[3] != (uint8_t)my->net.pkt_nr)
		return 0;
	len = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;
	if (len > left - PACKET_HEADER)
		return 0;
	*ret_packet = p + PACKET_HEADER;
	*ret_len = len;
	return 1;
}

void
cnd_my_take(MYSQL *my, size_t len)
{
	my->net.pvio->cache_pos += PACKET_HEADER + len;
	my->net.compress_pkt_nr = ++my->net.pkt_nr;
}

int
cnd_my_can_send_ahead(const MYSQL *my)
{
	const MARIADB_PVIO *pvio = stream_of(my);

	return pvio && !pvio->ctls;
}

/* Write a packet whose first byte is the command. Returns its length. */
static size_t
put_packet(uint8_t *out, uint8_t command, const char *text, size_t len)
{
	size_t n = len + 1;

	out[0] = (uint8_t)n;
	out[1] = (uint8_t)(n >> 8);
	out[2] = (uint8_t)(n >> 16);
	out[3] = 0;
	out[4] = command;
	if (len > 0)
		memcpy(out + PACKET_HEADER + 1, text, len);
	return PACKET_HEADER + n;
}

/* Make the library read the next answer as the answer to a new command. */
static void
expect_answer(MYSQL *my)
{
	my->net.pkt_nr = my->net.compress_pkt_nr = 1;
}

int
cnd_my_send_reset_and_query(MYSQL *my, const char *sql, size_t len)
{
	uint8_t bytes[AHEAD_MAX];
	size_t n;
	ssize_t sent;

	if (len > sizeof(bytes) - 2 * (size_t)(PACKET_HEADER + 1) ||
		!cnd_my_can_send_ahead(my) || my->status != MYSQL_STATUS_READY)
		return -1;
	n = put_packet(bytes, COMMAND_RESET, NULL, 0);
	n += put_packet(bytes + n, COMMAND_QUERY, sql, len);
	sent = send((int)cnd_my_socket(my), bytes, n, MSG_NOSIGNAL);
	if (sent != (ssize_t)n) {
		if (sent > 0)
			cnd_my_break(my);
		return -1;
	}
	my->info = NULL;
	my->affected_rows = UINT64_MAX;
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
	memcpy(my->net.sqlstate, "00000", sizeof("00000"));
	expect_answer(my);
	return 0;
}

int
cnd_my_read_reset(MYSQL *my)
{
	my->packet_length = mysql_net_read_packet(my);
	if (my->packet_length == packet_error)
		return -1;
	cnd_my_take_status(my);
	expect_answer(my);
	return 0;
}

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	return mysql_optionsv(my, MARIADB_OPT_IO_WAIT, wait) == 0;
}

int
cnd_my_has_status_with_columns(void)
{
	return 1;
}

void
cnd_my_hook_progress(MYSQL *my, cnd_my_progress_fn *progress)
{
	(void)mysql_optionsv(my, MYSQL_PROGRESS_CALLBACK, progress);
}

void
cnd_my_set_tls(MYSQL *my, const struct cnd_my_options *o)
{
	my_bool yes = 1, verify = (my_bool)(o->tls_verify ? 1 : 0);

	if (o->tls_mode == CND_MY_TLS_DISABLED)
		return;
	set_tls_files(my, o);
	set(my, MARIADB_OPT_TLS_PASSPHRASE, o->tls_passphrase);
	set(my, MARIADB_OPT_TLS_PEER_FP, o->tls_fp);
	set(my, MARIADB_OPT_TLS_PEER_FP_LIST, o->tls_fplist);
	(void)mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &yes);
	(void)mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}

void
cnd_my_insist_on_password(MYSQL *my, int has_cleartext)
{
	set(my, MARIADB_OPT_RESTRICTED_AUTH,
		has_cleartext ? "mysql_native_password,caching_sha2_password,"
				"sha256_password,client_ed25519,parsec,dialog,"
				"mysql_clear_password"
			      : "mysql_native_password,caching_sha2_password,"
				"sha256_password,client_ed25519,parsec");
}

my_socket
cnd_my_socket(const MYSQL *my)
{
	return my->net.pvio ? mysql_get_socket((MYSQL *)(uintptr_t)my) : -1;
}

enum cnd_my_next
cnd_my_try_next(MYSQL *my)
{
	int r = mysql_next_result(my);

	return r > 0 ? CND_MY_NEXT_FAILED : r < 0 ? CND_MY_NEXT_NONE : CND_MY_NEXT_HERE;
}

void
cnd_my_take_end(MYSQL *my)
{
	const unsigned char *p = my->net.read_pos;
	unsigned more = my->server_status & SERVER_MORE_RESULTS_EXIST;

	if (!p || p[0] != 0xfe)
		return;
	my->warning_count = (unsigned)(p[1] | p[2] << 8);
	/* after output parameters some servers do not say that another result follows */
	my->server_status = (unsigned)(p[3] | p[4] << 8) | more;
}

int
cnd_my_ready_long(MYSQL_STMT *stmt, unsigned param)
{
	stmt->params[param].buffer_type = MYSQL_TYPE_BLOB;
	return 0;
}

int
cnd_my_knows_charset(const char *name)
{
	return mariadb_get_charset_by_name(name) != NULL;
}

void
cnd_my_set_indicator(MYSQL_BIND *b, char *indicator)
{
	b->u.indicator = indicator;
}

/* The library calls this before it sends a row. */
static my_bool
take_row(void *user, MYSQL_BIND *binds, unsigned row)
{
	const struct cnd_my_param_rows *rows = user;

	memcpy(binds, rows->binds + (size_t)row * rows->n_params,
		rows->n_params * sizeof(*binds));
	return 0;
}

int
cnd_my_set_rows(MYSQL_STMT *stmt, struct cnd_my_param_rows *rows)
{
	my_bool (*callback)(void *, MYSQL_BIND *, unsigned) = take_row;
	unsigned n = rows->n_rows;
	const void *address;

	memcpy(&address, &callback, sizeof(address));
	return mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &n) != 0 ||
			       mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, rows) !=
				       0 ||
			       mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, address) != 0
		       ? -1
		       : 0;
}

void
cnd_my_unset_rows(MYSQL_STMT *stmt)
{
	unsigned none = 0;

	(void)mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &none);
	(void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, NULL);
}

unsigned long
cnd_my_more_capabilities(MYSQL *my)
{
	unsigned long bits = 0;

	if (mariadb_get_infov(my, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &bits))
		return 0;
	return bits;
}

#else

unsigned long
cnd_my_more_capabilities(MYSQL *my)
{
	(void)my;
	return 0;
}

int
cnd_my_can_send_ahead(const MYSQL *my)
{
	(void)my;
	return 0;
}

int
cnd_my_send_reset_and_query(MYSQL *my, const char *sql, size_t len)
{
	(void)my;
	(void)sql;
	(void)len;
	return -1;
}

int
cnd_my_read_reset(MYSQL *my)
{
	(void)my;
	return -1;
}

int
cnd_my_peek(const MYSQL *my, const uint8_t **ret_packet, size_t *ret_len)
{
	(void)my;
	(void)ret_packet;
	(void)ret_len;
	return 0;
}

void
cnd_my_take(MYSQL *my, size_t len)
{
	(void)my;
	(void)len;
}

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	(void)my;
	(void)wait;
	return 0;
}

int
cnd_my_has_status_with_columns(void)
{
	return 0;
}

void
cnd_my_hook_progress(MYSQL *my, cnd_my_progress_fn *progress)
{
	(void)my;
	(void)progress;
}

void
cnd_my_set_tls(MYSQL *my, const struct cnd_my_options *o)
{
	unsigned mode = o->tls_mode == CND_MY_TLS_DISABLED    ? SSL_MODE_DISABLED
			: o->tls_mode == CND_MY_TLS_PREFERRED ? SSL_MODE_PREFERRED
			: !o->tls_verify                      ? SSL_MODE_REQUIRED
							      : SSL_MODE_VERIFY_IDENTITY;

	(void)mysql_options(my, MYSQL_OPT_SSL_MODE, &mode);
	set_tls_files(my, o);
}

void
cnd_my_insist_on_password(MYSQL *my, int has_cleartext)
{
	(void)my;
	(void)has_cleartext;
}

my_socket
cnd_my_socket(const MYSQL *my)
{
	return my->net.fd;
}

/* Oracle's library hides the data that it has read, so the socket does not show whether more
 * follows. */
enum cnd_my_next
cnd_my_try_next(MYSQL *my)
{
	switch (mysql_next_result_nonblocking(my)) {
	case NET_ASYNC_COMPLETE:
		return CND_MY_NEXT_HERE;
	case NET_ASYNC_COMPLETE_NO_MORE_RESULTS:
		return CND_MY_NEXT_NONE;
	case NET_ASYNC_NOT_READY:
		return CND_MY_NEXT_LATER;
	default:
		return CND_MY_NEXT_FAILED;
	}
}

void
cnd_my_take_end(MYSQL *my)
{
	(void)my;
}

/* Oracle's library has no parameters until they are bound, so bind them to NULL first. */
int
cnd_my_ready_long(MYSQL_STMT *stmt, unsigned param)
{
	MYSQL_BIND *binds;
	unsigned i;
	int r;

	if (!stmt->params) {
		binds = calloc(stmt->param_count, sizeof(*binds));
		if (!binds)
			return -1;
		for (i = 0; i < stmt->param_count; i++)
			binds[i].buffer_type = MYSQL_TYPE_NULL;
		r = mysql_stmt_bind_param(stmt, binds);
		free(binds);
		if (r != 0)
			return -1;
	}
	stmt->params[param].buffer_type = MYSQL_TYPE_BLOB;
	return 0;
}

int
cnd_my_knows_charset(const char *name)
{
	MYSQL *my = mysql_init(NULL);
	int knows = !my || mysql_set_character_set(my, name) == 0;

	if (my)
		mysql_close(my);
	return knows;
}

void
cnd_my_set_indicator(MYSQL_BIND *b, char *indicator)
{
	(void)b;
	(void)indicator;
}

int
cnd_my_set_rows(MYSQL_STMT *stmt, struct cnd_my_param_rows *rows)
{
	(void)stmt;
	(void)rows;
	return -1;
}

void
cnd_my_unset_rows(MYSQL_STMT *stmt)
{
	(void)stmt;
}

#endif
