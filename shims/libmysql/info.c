/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/route.h"

#include <stdlib.h>
#include <string.h>

/*
 * What a connection and the library report about themselves. Facts about the server come from the
 * real server. The client's version is the version of the replaced library, because programs decide
 * by it which functions they call. TLS facts are about the way to cenoted.
 */

/* ---- the client ---- */

#if !CMY_ORACLE
/* MariaDB's client libraries 3.3 belong to this series of servers. */
#define BASE_VERSION "10.11.0"
#endif

const char *
cmy_mysql_get_client_info(void)
{
	const char *version = csh_variable(CMY_ORACLE ? "CENOTE_LIBMYSQLCLIENT_VERSION"
						      : "CENOTE_LIBMARIADB_VERSION");

	return version ? version : CMY_CLIENT_VERSION;
}

/* 10.11.19 becomes 101119 */
static unsigned long
version_number(const char *text)
{
	unsigned long part[3] = { 0, 0, 0 };
	char *end = (char *)(uintptr_t)text;

	for (int i = 0; i < 3; i++) {
		part[i] = strtoul(end, &end, 10);
		if (*end != '.')
			break;
		end++;
	}
	return part[0] * 10000 + part[1] * 100 + part[2];
}

unsigned long
cmy_mysql_get_client_version(void)
{
	return version_number(cmy_mysql_get_client_info());
}

void
cmy_mysql_debug(const char *debug)
{
	(void)debug;
}

/* ---- the connection ---- */

char *
cmy_mysql_get_host_info(MYSQL *my)
{
	return my->host_info;
}

unsigned int
cmy_mysql_get_proto_info(MYSQL *my)
{
	return my->protocol_version;
}

char *
cmy_mysql_get_server_info(MYSQL *my)
{
	return my->server_version;
}

unsigned long
cmy_mysql_get_server_version(MYSQL *my)
{
	if (my->server_version)
		return version_number(my->server_version);
	if (CMY_ORACLE)
		cmy_error(my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return 0;
}

unsigned long
cmy_mysql_thread_id(MYSQL *my)
{
	return my->thread_id;
}

const char *
cmy_mysql_get_ssl_cipher(MYSQL *my)
{
	return cmy_tls_fact(my, "cipher");
}

#if CMY_ORACLE

const char *
cmy_mysql_get_client_info_with_version_update(void)
{
	const char *version = cmy_mysql_get_client_info();

	return strcmp(version, CMY_CLIENT_VERSION) == 0 ? CMY_CLIENT_VERSION ".0"
							: version;
}

const char *
cmy_mysql_get_server_info_with_version_update(MYSQL *my)
{
	return cmy_mysql_get_server_info(my);
}

/* libcenote does not give out its TLS sessions, so the program gets none. */
void *
cmy_mysql_get_ssl_session_data(MYSQL *my, unsigned int n_ticket, unsigned int *out_len)
{
	(void)n_ticket;
	if (out_len)
		*out_len = 0;
	cmy_error_text(my, CR_CANT_GET_SESSION_DATA, NULL, "Can't get session data: %s",
		cmy_tls_fact(my, "version") ? "cenote: it is resumed by itself"
					    : "Not a TLS connection");
	return NULL;
}

my_bool
cmy_mysql_free_ssl_session_data(MYSQL *my, void *data)
{
	(void)my;
	return data != NULL;
}

my_bool
cmy_mysql_get_ssl_session_reused(MYSQL *my)
{
	const char *is_resumed = cmy_tls_fact(my, "resumed");

	return is_resumed && strcmp(is_resumed, "yes") == 0;
}

/* Forward to the original, which may have read such a key. */
void
cmy_mysql_reset_server_public_key(void)
{
	const struct cmy_original *original = cmy_original(NULL);

	if (original && original->mysql_reset_server_public_key)
		original->mysql_reset_server_public_key();
}

#else

my_bool
cmy_mariadb_connection(MYSQL *my)
{
	const char *version = my->server_version;

	return cmy_bool(
		version && (strstr(version, "MariaDB") || strstr(version, "-maria-")));
}

static const char *
server_type(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	if (s && s->conn && s->backend != CMY_BACKEND_MYSQL)
		return cenote_info(s->conn, "backend");
	return cmy_mariadb_connection((MYSQL *)(uintptr_t)my) ? "MariaDB" : "MySQL";
}

const char *
cmy_mysql_get_server_name(MYSQL *my)
{
	return server_type(my);
}

my_socket
cmy_mysql_get_socket(MYSQL *my)
{
	return my->net.fd;
}

my_bool
cmy_mysql_embedded(void)
{
	return 0;
}

MYSQL_PARAMETERS *
cmy_mysql_get_parameters(void)
{
	static MYSQL_PARAMETERS parameters = { &cmy_max_allowed_packet,
		&cmy_net_buffer_length, NULL };

	return &parameters;
}

/* The shim does not speak the server's protocol, so it has no packets. */
unsigned long
cmy_mysql_net_read_packet(MYSQL *my)
{
	cmy_error(my, CR_NOT_IMPLEMENTED, NULL);
	return ~0UL;
}

/* Decode a length of the protocol, from bytes that the program has. */
unsigned long
cmy_mysql_net_field_length(unsigned char **packet)
{
	static const uint8_t sizes[] = {
		[251 - 251] = 0, [252 - 251] = 2, [253 - 251] = 3, [254 - 251] = 8
	};
	unsigned char *p = *packet;
	unsigned long value = 0;
	unsigned n;

	*packet = p + 1;
	if (*p < 251)
		return *p;
	if (*p == 251)
		return ~0UL;
	n = *p < 255 ? sizes[*p - 251] : 8;
	for (unsigned i = n; i > 0; i--)
		value = value << 8 | p[i];
	*packet = p + 1 + n;
	return value;
}

/* ---- mariadb_get_infov() ---- */

enum form {
	FORM_NONE, /* see special() */
	FORM_TEXT,
	FORM_WORDS, /* the member is an array of characters, not a pointer */
	FORM_UINT,
	FORM_ULONG
};

static const struct {
	uint8_t form;
	uint16_t at;
} members[] = {
	[MARIADB_CONNECTION_ERROR] = { FORM_WORDS, offsetof(MYSQL, net.last_error) },
	[MARIADB_CONNECTION_ERROR_ID] = { FORM_UINT, offsetof(MYSQL, net.last_errno) },
	[MARIADB_CONNECTION_SQLSTATE] = { FORM_WORDS, offsetof(MYSQL, net.sqlstate) },
	[MARIADB_CONNECTION_HOST] = { FORM_TEXT, offsetof(MYSQL, host) },
	[MARIADB_CONNECTION_INFO] = { FORM_TEXT, offsetof(MYSQL, info) },
	[MARIADB_CONNECTION_PORT] = { FORM_UINT, offsetof(MYSQL, port) },
	[MARIADB_CONNECTION_PROTOCOL_VERSION_ID] = { FORM_UINT,
		offsetof(MYSQL, protocol_version) },
	[MARIADB_CONNECTION_SCHEMA] = { FORM_TEXT, offsetof(MYSQL, db) },
	[MARIADB_CONNECTION_SERVER_VERSION] = { FORM_TEXT,
		offsetof(MYSQL, server_version) },
	[MARIADB_CONNECTION_SOCKET] = { FORM_UINT, offsetof(MYSQL, net.fd) },
	[MARIADB_CONNECTION_UNIX_SOCKET] = { FORM_TEXT, offsetof(MYSQL, unix_socket) },
	[MARIADB_CONNECTION_USER] = { FORM_TEXT, offsetof(MYSQL, user) },
	[MARIADB_CONNECTION_SERVER_STATUS] = { FORM_UINT,
		offsetof(MYSQL, server_status) },
	[MARIADB_CONNECTION_SERVER_CAPABILITIES] = { FORM_ULONG,
		offsetof(MYSQL, server_capabilities) },
	[MARIADB_CONNECTION_CLIENT_CAPABILITIES] = { FORM_ULONG,
		offsetof(MYSQL, client_flag) },
};

static int
tell_member(MYSQL *my, enum mariadb_value value, void *arg)
{
	char *at;

	if (!my)
		return -1;
	at = (char *)my + members[value].at;
	switch (members[value].form) {
	case FORM_TEXT:
		*(char **)arg = *(char **)(void *)at;
		return 0;
	case FORM_WORDS:
		*(char **)arg = at;
		return 0;
	case FORM_UINT:
		memcpy(arg, at, sizeof(unsigned));
		return 0;
	default:
		memcpy(arg, at, sizeof(unsigned long));
		return 0;
	}
}

/* Facts about the library. */
static int
tell_client(enum mariadb_value value, void *arg)
{
	switch (value) {
	case MARIADB_CLIENT_ERRORS:
		*(const char ***)arg = cmy_error_list;
		return 0;
	case MARIADB_CLIENT_VERSION:
		*(const char **)arg = BASE_VERSION;
		return 0;
	case MARIADB_CLIENT_VERSION_ID:
		*(size_t *)arg = version_number(BASE_VERSION);
		return 0;
	case MARIADB_TLS_LIBRARY:
		*(const char **)arg = "Off";
		return 0;
	case MARIADB_MAX_ALLOWED_PACKET:
		*(size_t *)arg = cmy_max_allowed_packet;
		return 0;
	case MARIADB_NET_BUFFER_LENGTH:
		*(size_t *)arg = cmy_net_buffer_length;
		return 0;
	default:
		return -1;
	}
}

/* Facts that have to be computed. */
static int
tell_connection(MYSQL *my, enum mariadb_value value, void *arg)
{
	if (!my)
		return -1;
	switch (value) {
	case MARIADB_CONNECTION_ASYNC_TIMEOUT:
		*(unsigned *)arg = cmy_mysql_get_timeout_value(my);
		return 0;
	case MARIADB_CONNECTION_ASYNC_TIMEOUT_MS:
		*(unsigned *)arg = cmy_mysql_get_timeout_value_ms(my);
		return 0;
	case MARIADB_CONNECTION_MARIADB_CHARSET_INFO:
		cmy_mysql_get_character_set_info(my, arg);
		return 0;
	case MARIADB_CONNECTION_SERVER_TYPE:
		*(const char **)arg = server_type(my);
		return 0;
	case MARIADB_CONNECTION_SERVER_VERSION_ID:
		*(size_t *)arg = cmy_mysql_get_server_version(my);
		return 0;
	case MARIADB_CONNECTION_SSL_CIPHER:
		*(const char **)arg = cmy_tls_fact(my, "cipher");
		return 0;
	case MARIADB_CONNECTION_TLS_VERSION:
		*(const char **)arg = cmy_tls_fact(my, "version");
		return *(const char **)arg ? 0 : -1;
	case MARIADB_CONNECTION_PVIO_TYPE:
	case MARIADB_CONNECTION_TYPE:
		/* PVIO_TYPE_UNIXSOCKET, PVIO_TYPE_SOCKET */
		*(int *)arg = my->unix_socket ? 0 : 1;
		return my->net.pvio ? 0 : -1;
	case MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES:
		*(unsigned long *)arg = cmy_session(my)->mariadb_server_capabilities;
		return 0;
	default:
		/* libcenote does not count bytes */
		return -1;
	}
}

static int
tell_charset(enum mariadb_value value, void *arg, const void *more)
{
	const MARIADB_CHARSET_INFO *found;

	if (value == MARIADB_CHARSET_NAME && !more)
		return -1;
	found = value == MARIADB_CHARSET_NAME
			? cmy_charset_by_name(more)
			: cmy_charset_by_nr((unsigned)(uintptr_t)more);
	*(const MARIADB_CHARSET_INFO **)arg = found;
	return 0;
}

int
cmy_tell(MYSQL *my, enum mariadb_value value, void *arg, const void *more)
{
	if (value == MARIADB_CHARSET_NAME || value == MARIADB_CHARSET_ID)
		return tell_charset(value, arg, more);
	if (value < sizeof(members) / sizeof(members[0]) &&
		members[value].form != FORM_NONE)
		return tell_member(my, value, arg);
	if (tell_client(value, arg) == 0)
		return 0;
	return tell_connection(my, value, arg);
}

my_bool
cmy_mariadb_get_info(MYSQL *my, enum mariadb_value value, void *arg)
{
	return (my_bool)cmy_tell(my, value, arg, NULL);
}

#endif
