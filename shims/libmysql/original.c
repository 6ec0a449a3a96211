/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The original library: finding it, opening it once for the process, and calling its functions by
 * name. The only state is the opened library. face.c forwards calls to the original; connect.c
 * hands connections over to it.
 */
#include "libmysql.h"

#include "../common/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char cmy_tag = 'C';

#if !CMY_ORACLE
/* Never called. Its address marks a result that the shim made. */
void
cmy_tag_handler(void)
{
}
#endif

static struct cmy_original original;
static char why_not[160];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where to look for the original if the environment variable is not set: Debian's and Red Hat's
 * folders. */
static const char *const places[] = { CMY_SYSTEM_LIBDIR "/" CMY_SONAME,
	"/usr/lib64/" CMY_SONAME, "/usr/lib64/mysql/" CMY_SONAME,
	"/usr/lib64/mariadb/" CMY_SONAME, "/usr/lib/" CMY_SONAME, NULL };

static const struct csh_library mysql = { .name = CMY_SONAME,
	.variable = CMY_ORACLE ? "CENOTE_LIBMYSQLCLIENT" : "CENOTE_LIBMARIADB",
	.own_symbol = "cenote_shim_mysql",
	.places = places };

#if !CMY_ORACLE
static void
copy_fetch_functions(void *library)
{
	const void *theirs;

	csh_library_find(library, "mysql_ps_fetch_functions", &theirs);
	if (theirs)
		memcpy(mysql_ps_fetch_functions, theirs,
			sizeof(mysql_ps_fetch_functions));
}
#endif

struct entry {
	const char *name;
	size_t at;
};

#define ONE(name)                              { #name, offsetof(struct cmy_original, name) },
#define ENTRY(handle, ret, name, params, args) ONE(name)
#define ENTRY_V(handle, name, params, args)    ONE(name)
#define ENTRY_PAIR(type, handle, result, name, params, args)                             \
	ONE(name##_start) ONE(name##_cont)
#define ENTRY_PAIR_V(type, handle, name, params, args) ONE(name##_start) ONE(name##_cont)

static const struct entry entries[] = {
	/* clang-format off */
	CMY_FACE(ENTRY, ENTRY_V)
#if !CMY_ORACLE
	CMY_FACE_ASYNC(ENTRY_PAIR, ENTRY_PAIR_V)
	ONE(mysql_optionsv)
	ONE(mysql_get_optionv)
	ONE(mariadb_get_infov)
	ONE(mariadb_rpl_optionsv)
	ONE(mariadb_rpl_get_optionsv)
#endif
	/* clang-format on */
};

static void
find_all(void *library)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		csh_library_find(
			library, entries[i].name, (char *)&original + entries[i].at);
#if !CMY_ORACLE
	copy_fetch_functions(library);
#endif
}

#if CMY_ORACLE
/* Oracle's library frees only handles that it allocated itself; see cmy_adopt(). */
static void (*close_original)(MYSQL *my);

static void
close_and_release(MYSQL *my)
{
	close_original(my);
	cmy_release(my);
}

static void
take_over_close(void)
{
	close_original = original.mysql_close;
	original.mysql_close = close_and_release;
}
#else
static void
take_over_close(void)
{
}
#endif

static void
load(void)
{
	void *library = csh_library_open(&mysql, why_not, sizeof(why_not));

	if (!library)
		return;
	find_all(library);
	take_over_close();
	if (!original.mysql_init || !original.mysql_real_connect ||
		!original.mysql_options4)
		snprintf(why_not, sizeof(why_not),
			"the library opened as " CMY_SONAME " is none");
}

const struct cmy_original *
cmy_original(const char **ret_why)
{
	pthread_once(&once, load);
	if (ret_why)
		*ret_why = why_not;
	return why_not[0] == '\0' ? &original : NULL;
}
