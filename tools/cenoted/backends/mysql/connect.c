/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of the client library, with the options of the server line. session.c opens the
 * session's connection here, and wait.c a second connection to cancel a statement. It has no state.
 */
#include "my.h"

/* ---- logging in ---- */

static void
set_text(MYSQL *my, enum mysql_option option, const char *value)
{
	if (value)
		(void)mysql_options(my, option, value);
}

static void
set_seconds(MYSQL *my, enum mysql_option option, unsigned seconds)
{
	if (seconds > 0)
		(void)mysql_options(my, option, &seconds);
}

void
cnd_my_set_options(MYSQL *my, const struct cnd_my_options *o, unsigned connect_timeout)
{
	unsigned infile = o->is_infile_allowed;
	char cleartext = 1;

	set_seconds(my, MYSQL_OPT_CONNECT_TIMEOUT, connect_timeout);
	set_seconds(my, MYSQL_OPT_READ_TIMEOUT, o->read_timeout);
	set_seconds(my, MYSQL_OPT_WRITE_TIMEOUT, o->write_timeout);
	set_text(my, MYSQL_SET_CHARSET_NAME, o->charset);
	set_text(my, MYSQL_READ_DEFAULT_FILE, o->default_file);
	set_text(my, MYSQL_READ_DEFAULT_GROUP, o->default_group);
	set_text(my, MYSQL_PLUGIN_DIR, o->plugin_dir);
	set_text(my, MYSQL_OPT_BIND, o->bind_address);
	(void)mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &infile);
	if (o->is_compressed)
		(void)mysql_options(my, MYSQL_OPT_COMPRESS, NULL);
	/* Oracle's library would also send it without TLS; plugins.c watches MariaDB's */
	if (o->has_cleartext && (o->socket || o->tls_mode == CND_MY_TLS_REQUIRED))
		(void)mysql_options(my, MYSQL_ENABLE_CLEARTEXT_PLUGIN, &cleartext);
	(void)mysql_options4(my, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "cenoted");
	cnd_my_set_tls(my, o);
	cnd_my_watch_login(my, o);
	if (o->is_clients)
		cnd_my_insist_on_password(my, o->has_cleartext);
}

static unsigned long
client_flags(const struct cnd_my_options *o)
{
	unsigned long flags = CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS;

	return o->has_found_rows ? flags | CLIENT_FOUND_ROWS : flags;
}

int
cnd_my_connect_to(struct cnd_session *s, MYSQL *my)
{
	const struct cnd_my_options *o = &s->opt;

	if (!mysql_real_connect(my, o->host, o->user, o->password, o->dbname, o->port,
		    o->socket, client_flags(o)))
		return CENOTE_ERR_CONN;
	return CENOTE_OK;
}

int
cnd_my_connect(struct cnd_session *s, unsigned seconds, MYSQL **ret_my)
{
	MYSQL *my = mysql_init(NULL);
	unsigned no_file = 0;

	*ret_my = my;
	if (!my)
		return CENOTE_ERR_NOMEM;
	cnd_my_set_options(my, &s->opt, seconds);
	/* without this, the library would open any file that the server asks for */
	(void)mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &no_file);
	set_seconds(my, MYSQL_OPT_READ_TIMEOUT, seconds);
	set_seconds(my, MYSQL_OPT_WRITE_TIMEOUT, seconds);
	return cnd_my_connect_to(s, my);
}

int
cnd_my_fd(const struct cnd_session *s)
{
	return (int)cnd_my_socket(s->my);
}
