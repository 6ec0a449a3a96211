/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <cenote/cenote.h>

/*
 * A program for test_setuid.c: it connects by one of the faces, to nobody, and writes the reason why that fails. Its
 * first line says whether the kernel takes it for a program with more rights than its user.
 *
 * usage: setuid_guest cenote | libpq LIBRARY | mysql LIBRARY | mysql_files LIBRARY
 */

static void *
find(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (address == NULL) {
		printf("no %s\n", name);
		exit(1);
	}
	return address;
}

/* dlsym() gives an object's address; POSIX says that this works. */
#define FIND(library, name)                                                              \
	void *name##_address = find(library, #name);                                     \
	memcpy(&name, &name##_address, sizeof(name))

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
	void *(*PQconnectdb)(const char *conninfo);
	char *(*PQerrorMessage)(const void *conn);
	void (*PQfinish)(void *conn);
	void *conn;

	FIND(library, PQconnectdb);
	FIND(library, PQerrorMessage);
	FIND(library, PQfinish);
	conn = PQconnectdb("host=/nowhere dbname=nobody user=nobody");
	puts(PQerrorMessage(conn));
	PQfinish(conn);
}

/* With option files, as many programs read them: they name the database if `db` is NULL. */
static void
by_mysql(void *library, const char *db)
{
	enum {
		READ_DEFAULT_GROUP = 5
	};
	void *(*mysql_init)(void *my);
	int (*mysql_options)(void *my, int option, const void *value);
	void *(*mysql_real_connect)(void *my, const char *host, const char *user,
		const char *passwd, const char *db, unsigned port, const char *socket,
		unsigned long flags);
	const char *(*mysql_error)(void *my);
	void (*mysql_close)(void *my);
	void *my;

	FIND(library, mysql_init);
	FIND(library, mysql_options);
	FIND(library, mysql_real_connect);
	FIND(library, mysql_error);
	FIND(library, mysql_close);
	my = mysql_init(NULL);
	mysql_options(my, READ_DEFAULT_GROUP, "client");
	mysql_real_connect(my, NULL, "nobody", NULL, db, 0, NULL, 0);
	puts(mysql_error(my));
	mysql_close(my);
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
