/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/socket.h>

#include "my.h"

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

void
cnd_my_break(MYSQL *my)
{
	my_socket fd = cnd_my_socket(my);

	if (fd >= 0)
		(void)shutdown((int)fd, SHUT_RDWR);
}

void
cnd_my_mark_long(MYSQL_STMT *stmt, unsigned param)
{
	stmt->params[param].long_data_used = 1;
}

void
cnd_my_ready_long(MYSQL_STMT *stmt, unsigned param)
{
	stmt->params[param].buffer_type = MYSQL_TYPE_BLOB;
}

#if CND_MY_IS_MARIADB

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	return mysql_optionsv(my, MARIADB_OPT_IO_WAIT, wait) == 0;
}

void
cnd_my_set_tls(MYSQL *my, const struct cnd_my_options *o)
{
	my_bool yes = 1, verify = o->tls_verify;

	if (o->tls_mode == CND_MY_TLS_DISABLED)
		return;
	set_tls_files(my, o);
	set(my, MARIADB_OPT_TLS_PASSPHRASE, o->tls_passphrase);
	set(my, MARIADB_OPT_TLS_PEER_FP, o->tls_fp);
	set(my, MARIADB_OPT_TLS_PEER_FP_LIST, o->tls_fplist);
	(void)mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &yes);
	(void)mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}

my_socket
cnd_my_socket(const MYSQL *my)
{
	return my->net.pvio ? mysql_get_socket((MYSQL *)(uintptr_t)my) : -1;
}

/* COM_SET_OPTION says what is already so: unlike COM_PING it does not touch ROW_COUNT(). Its
 * answer is an EOF packet, which the library reads and does not look into. */
int
cnd_my_refresh_status(MYSQL *my, int is_single)
{
	const unsigned char *packet;

	if (mysql_set_server_option(my, is_single ? MYSQL_OPTION_MULTI_STATEMENTS_OFF
						  : MYSQL_OPTION_MULTI_STATEMENTS_ON))
		return -1;
	packet = my->net.read_pos;
	if (my->packet_length >= 5 && packet[0] == 0xfe)
		my->server_status = (unsigned)(packet[3] | packet[4] << 8);
	return 0;
}

int
cnd_my_knows_charset(const char *name)
{
	return mariadb_get_charset_by_name(name) != NULL;
}

#else

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	(void)my;
	(void)wait;
	return 0;
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

my_socket
cnd_my_socket(const MYSQL *my)
{
	return my->net.fd;
}

int
cnd_my_refresh_status(MYSQL *my, int is_single)
{
	(void)is_single;
	return mysql_ping(my);
}

int
cnd_my_knows_charset(const char *name)
{
	(void)name;
	return 1;
}

#endif
