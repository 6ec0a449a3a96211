/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the size of every public structure, and the offset and size of its members. It
 * is built with the real headers (CNT_REAL) and with shims/libmysql/abi.h.
 */
#include <stddef.h>
#include <stdio.h>

#ifdef CNT_REAL
#include <mysql.h>
typedef struct st_mariadb_methods METHODS;
typedef struct st_mariadb_api API;
#else
#include "abi.h"
#if !CMY_ORACLE
typedef struct cmy_methods METHODS;
typedef struct cmy_api API;
#endif
#endif

#include "layout.h"

#define SIZE(type) printf(#type " %zu\n", sizeof(type));
#define MEMBER(type, name)                                                               \
	printf(#type "." #name " %zu %zu\n", offsetof(type, name),                       \
		sizeof(((type *)NULL)->name));

int
main(void)
{
	CNT_LAYOUT(SIZE, MEMBER)
	return 0;
}
