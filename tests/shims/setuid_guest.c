/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <cenote/cenote.h>

/*
 * A program for test_setuid.c. It connects through one of the faces to a server that does not
 * exist, and prints why that fails. Its first line says whether the kernel runs it with more
 * rights than its user has.
 *
 * usage: setuid_guest cenote | libpq LIBRARY | mysql LIBRARY | mysql_files LIBRARY
 */

/* Look up a function, and store its address in a function pointer. */
static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (address == NULL) {
		printf("no %s\n", name);
		exit(1);
	}
	memcpy(slot, &address, sizeof(address));
}

static void
by_cenote(void)
{
	cenote_conn *conn;

	if (cenote_conn_create(NULL, &conn) != CENOTE_OK ||
		cenote_conn_set(conn, "pool", "nobody") != CENOTE_OK)
		exit(1);
	printf("%d\n", cenote_connect(conn));
	puts(cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
}

static void
by_libpq(void *library)
{
	void *(*connect)(const char *conninfo);
	char *(*error)(const void *conn);
	void (*finish)(void *conn);
	void *conn;

	find(library, "PQconnectdb", &connect);
	find(library, "PQerrorMessage", &error);
	find(library, "PQfinish", &finish);
	conn = connect("host=/nowhere dbname=nobody user=nobody");
	puts(error(conn));
	finish(conn);
}

/* Read the option files, as many programs do. They name the database if `db` is NULL. */
static void
by_mysql(void *library, const char *db)
{
	enum {
		READ_DEFAULT_GROUP = 5
	};
	void *(*init)(void *my);
	int (*options)(void *my, int option, const void *value);
	void *(*connect)(void *my, const char *host, const char *user, const char *passwd,
		const char *db, unsigned port, const char *socket, unsigned long flags);
	const char *(*error)(void *my);
	void (*finish)(void *my);
	void *my;

	find(library, "mysql_init", &init);
	find(library, "mysql_options", &options);
	find(library, "mysql_real_connect", &connect);
	find(library, "mysql_error", &error);
	find(library, "mysql_close", &finish);
	my = init(NULL);
	options(my, READ_DEFAULT_GROUP, "client");
	connect(my, NULL, "nobody", NULL, db, 0, NULL, 0);
	puts(error(my));
	finish(my);
}

int
main(int argc, char **argv)
{
	void *library = NULL;

	if (argc < 2)
		return 2;
	printf("secure %lu\n", getauxval(AT_SECURE));
	if (argc > 2) {
		library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL) {
			puts(dlerror());
			return 1;
		}
	}
	if (strcmp(argv[1], "cenote") == 0)
		by_cenote();
	else if (strcmp(argv[1], "libpq") == 0)
		by_libpq(library);
	else
		by_mysql(library, strcmp(argv[1], "mysql") == 0 ? "nobody" : NULL);
	return 0;
}
