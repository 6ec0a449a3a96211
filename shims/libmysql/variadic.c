/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/*
 * The exported functions with a variable number of arguments. Like the original, they
 * read as many pointers as the largest option has.
 */

CMY_EXPORT struct st_mysql_client_plugin *mysql_load_plugin(
	MYSQL *mysql, const char *name, int type, int argc, ...);

struct st_mysql_client_plugin *
mysql_load_plugin(MYSQL *mysql, const char *name, int type, int argc, ...)
{
	const struct cmy_original *original = cmy_original(NULL);
	struct st_mysql_client_plugin *plugin = NULL;
	va_list args;

	va_start(args, argc);
	if (!cmy_is_foreign(mysql))
		plugin = cmy_mysql_load_plugin_v(mysql, name, type, argc, args);
	else if (original && original->mysql_load_plugin_v)
		plugin = original->mysql_load_plugin_v(mysql, name, type, argc, args);
	va_end(args);
	return plugin;
}

#if !CMY_ORACLE

CMY_EXPORT int mysql_optionsv(MYSQL *mysql, enum mysql_option option, ...);
CMY_EXPORT int mysql_get_optionv(MYSQL *mysql, enum mysql_option option, void *arg, ...);
CMY_EXPORT my_bool mariadb_get_infov(
	MYSQL *mysql, enum mariadb_value value, void *arg, ...);
CMY_EXPORT int mariadb_rpl_optionsv(MARIADB_RPL *rpl, int option, ...);
CMY_EXPORT int mariadb_rpl_get_optionsv(MARIADB_RPL *rpl, int option, ...);

int
mysql_optionsv(MYSQL *mysql, enum mysql_option option, ...)
{
	const struct cmy_original *original;
	va_list args;
	void *first, *second;

	va_start(args, option);
	first = va_arg(args, void *);
	second = va_arg(args, void *);
	va_end(args);
	if (!cmy_is_foreign(mysql))
		return cmy_option_set(mysql, (int)option, first, second);
	original = cmy_original(NULL);
	return original && original->mysql_optionsv
		       ? original->mysql_optionsv(mysql, option, first, second)
		       : 1;
}

int
mysql_get_optionv(MYSQL *mysql, enum mysql_option option, void *arg, ...)
{
	const struct cmy_original *original;
	va_list args;
	void *more, *n;

	va_start(args, arg);
	more = va_arg(args, void *);
	n = va_arg(args, void *);
	va_end(args);
	if (!cmy_is_foreign(mysql))
		return cmy_option_get(mysql, (int)option, arg, more, n);
	original = cmy_original(NULL);
	return original && original->mysql_get_optionv
		       ? original->mysql_get_optionv(mysql, option, arg, more, n)
		       : 1;
}

my_bool
mariadb_get_infov(MYSQL *mysql, enum mariadb_value value, void *arg, ...)
{
	const struct cmy_original *original;
	va_list args;
	void *more;

	va_start(args, arg);
	more = va_arg(args, void *);
	va_end(args);
	if (!cmy_is_foreign(mysql))
		return (my_bool)cmy_tell(mysql, value, arg, more);
	original = cmy_original(NULL);
	if (!original || !original->mariadb_get_infov)
		return -1;
	return original->mariadb_get_infov(mysql, value, arg, more);
}

/* The original makes all replication handles. */
int
mariadb_rpl_optionsv(MARIADB_RPL *rpl, int option, ...)
{
	const struct cmy_original *original = cmy_original(NULL);
	va_list args;
	void *first, *second;

	va_start(args, option);
	first = va_arg(args, void *);
	second = va_arg(args, void *);
	va_end(args);
	return rpl && original && original->mariadb_rpl_optionsv
		       ? original->mariadb_rpl_optionsv(rpl, option, first, second)
		       : 1;
}

int
mariadb_rpl_get_optionsv(MARIADB_RPL *rpl, int option, ...)
{
	const struct cmy_original *original = cmy_original(NULL);
	va_list args;
	void *first, *second;

	va_start(args, option);
	first = va_arg(args, void *);
	second = va_arg(args, void *);
	va_end(args);
	return rpl && original && original->mariadb_rpl_get_optionsv
		       ? original->mariadb_rpl_get_optionsv(rpl, option, first, second)
		       : 1;
}

CMY_ALIAS(mysql_load_plugin)
CMY_ALIAS(mysql_get_optionv)

/* ---- data ---- */

/* Programs may announce that they end OpenSSL themselves. This library does not initialise OpenSSL. */
CMY_EXPORT extern int mariadb_deinitialize_ssl;

int mariadb_deinitialize_ssl = 1;
struct cmy_fetch_function mysql_ps_fetch_functions[CMY_N_FETCH_FUNCTIONS];

#endif
