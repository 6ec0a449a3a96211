/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/*
 * Functions that only the original has: client plugins, replication, and the helpers of Oracle's
 * own programs. The shim calls the original where the original needs no connection. On a pool's
 * connection they fail, with an error that names the function. face.c calls this file.
 */

/* ---- client plugins ---- */

/* Make a handle of the original with the program's options; NULL, and the error is set. */
static MYSQL *
borrow(const struct cmy_original *original, MYSQL *my, const char *name)
{
	const struct cmy_session *s = cmy_session(my);
	MYSQL *borrowed = original ? original->mysql_init(NULL) : NULL;

	if (borrowed && s)
		(void)cmy_options_replay(s->options, borrowed);
	if (!borrowed && my)
		cmy_error_with(my, CR_AUTH_PLUGIN_CANNOT_LOAD, name,
			"cenote: plugins are the original library's, which is not there");
	return borrowed;
}

/* Free the borrowed handle, and copy its error, if it has one. */
static void
give_back(const struct cmy_original *original, MYSQL *borrowed, MYSQL *my)
{
	if (my && borrowed->net.last_errno != 0)
		cmy_error_text(my, borrowed->net.last_errno, borrowed->net.sqlstate, "%s",
			borrowed->net.last_error);
	original->mysql_close(borrowed);
}

struct st_mysql_client_plugin *
cmy_mysql_client_find_plugin(MYSQL *mysql, const char *name, int type)
{
	const struct cmy_original *original = cmy_original(NULL);
	MYSQL *borrowed = borrow(original, mysql, name);
	struct st_mysql_client_plugin *plugin;

	if (!borrowed)
		return NULL;
	plugin = original->mysql_client_find_plugin(borrowed, name, type);
	give_back(original, borrowed, mysql);
	return plugin;
}

struct st_mysql_client_plugin *
cmy_mysql_client_register_plugin(MYSQL *mysql, struct st_mysql_client_plugin *plugin)
{
	const struct cmy_original *original = cmy_original(NULL);
	MYSQL *borrowed = borrow(original, mysql, "");
	struct st_mysql_client_plugin *registered;

	if (!borrowed)
		return NULL;
	registered = original->mysql_client_register_plugin(borrowed, plugin);
	give_back(original, borrowed, mysql);
	return registered;
}

struct st_mysql_client_plugin *
cmy_mysql_load_plugin_v(MYSQL *mysql, const char *name, int type, int argc, va_list args)
{
	const struct cmy_original *original = cmy_original(NULL);
	MYSQL *borrowed = borrow(original, mysql, name);
	struct st_mysql_client_plugin *plugin;

	if (!borrowed)
		return NULL;
	plugin = original->mysql_load_plugin_v(borrowed, name, type, argc, args);
	give_back(original, borrowed, mysql);
	return plugin;
}

/* ---- replication ---- */

static void
refuse(MYSQL *my, const char *function)
{
	cmy_error_text(my, CR_NOT_IMPLEMENTED, NULL,
		"%s; cenote: %s needs a connection of its own to the server, which a "
		"pool "
		"does not give",
		cmy_error_words(CR_NOT_IMPLEMENTED), function);
}

#if CMY_ORACLE

int
cmy_mysql_binlog_open(MYSQL *mysql, MYSQL_RPL *rpl)
{
	(void)rpl;
	refuse(mysql, "mysql_binlog_open()");
	return 1;
}

int
cmy_mysql_binlog_fetch(MYSQL *mysql, MYSQL_RPL *rpl)
{
	(void)rpl;
	refuse(mysql, "mysql_binlog_fetch()");
	return 1;
}

void
cmy_mysql_binlog_close(MYSQL *mysql, MYSQL_RPL *rpl)
{
	(void)mysql;
	(void)rpl;
}

/* ---- helpers of Oracle's programs ---- */

#define ORIGINALS(name, ...)                                                             \
	const struct cmy_original *original = cmy_original(NULL);                        \
                                                                                         \
	return original && original->name ? original->name(__VA_ARGS__)

int
cmy_mysql_plugin_get_option(
	struct st_mysql_client_plugin *plugin, const char *option, void *value)
{
	ORIGINALS(mysql_plugin_get_option, plugin, option, value) : 1;
}

int
cmy_mysql_plugin_options(
	struct st_mysql_client_plugin *plugin, const char *option, const void *value)
{
	ORIGINALS(mysql_plugin_options, plugin, option, value) : 1;
}

char *
cmy_get_tty_password(const char *opt_message)
{
	ORIGINALS(get_tty_password, opt_message) : NULL;
}

int
cmy_handle_options(int *argc, char ***argv, const void *longopts, void *get_one_option)
{
	ORIGINALS(handle_options, argc, argv, longopts, get_one_option) : 1;
}

int
cmy_my_load_defaults(const char *conf_file, const char **groups, int *argc, char ***argv,
	MEM_ROOT *alloc, const char ***default_directories)
{
	ORIGINALS(my_load_defaults, conf_file, groups, argc, argv, alloc,
		default_directories) : 1;
}

void
cmy_my_make_scrambled_password(char *to, const char *password, size_t length)
{
	const struct cmy_original *original = cmy_original(NULL);

	to[0] = '\0';
	if (original && original->my_make_scrambled_password)
		original->my_make_scrambled_password(to, password, length);
}

#else

MARIADB_RPL *
cmy_mariadb_rpl_init_ex(MYSQL *mysql, unsigned int version)
{
	(void)version;
	if (mysql)
		refuse(mysql, "mariadb_rpl_init()");
	return NULL;
}

/* The original makes all replication handles. These functions serve only calls without a handle. */

int
cmy_mariadb_rpl_open(MARIADB_RPL *rpl)
{
	(void)rpl;
	return 1;
}

void
cmy_mariadb_rpl_close(MARIADB_RPL *rpl)
{
	(void)rpl;
}

MARIADB_RPL_EVENT *
cmy_mariadb_rpl_fetch(MARIADB_RPL *rpl, MARIADB_RPL_EVENT *event)
{
	(void)rpl;
	(void)event;
	return NULL;
}

uint32_t
cmy_mariadb_rpl_errno(MARIADB_RPL *rpl)
{
	(void)rpl;
	return 0;
}

const char *
cmy_mariadb_rpl_error(MARIADB_RPL *rpl)
{
	(void)rpl;
	return "";
}

void *
cmy_mariadb_rpl_extract_rows(
	MARIADB_RPL *rpl, MARIADB_RPL_EVENT *tm_event, MARIADB_RPL_EVENT *row_event)
{
	(void)rpl;
	(void)tm_event;
	(void)row_event;
	return NULL;
}

void
cmy_mariadb_free_rpl_event(MARIADB_RPL_EVENT *event)
{
	const struct cmy_original *original = event ? cmy_original(NULL) : NULL;

	if (original && original->mariadb_free_rpl_event)
		original->mariadb_free_rpl_event(event);
}

/* Only the original's connections have packets, so the original's plugins see only these. */
int
cmy_ma_pvio_register_callback(
	my_bool register_callback, void (*callback_function)(int mode, MYSQL *mysql,
					   const unsigned char *buffer, size_t length))
{
	const struct cmy_original *original = cmy_original(NULL);

	return original && original->ma_pvio_register_callback
		       ? original->ma_pvio_register_callback(
				 register_callback, callback_function)
		       : 1;
}

#endif
