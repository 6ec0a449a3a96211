/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_ORIGINAL_H
#define CMY_ORIGINAL_H

#include "abi.h"
#include "face_list.h"

/*
 * The original library of the same flavour, in the same process. It serves connections
 * that no pool covers. It is opened when first needed, by its full path, so that its
 * names do not mix with ours. It is never closed.
 */

/* One member for each function, by its name; NULL if this original is too old to have the function. */
#define CMY_ORIGINAL_FN(handle, ret, name, params, args) ret(*name) params;
#define CMY_ORIGINAL_FV(handle, name, params, args)      void(*name) params;
#define CMY_UNPAREN(...)                                 __VA_ARGS__
#define CMY_ORIGINAL_PAIR(type, handle, result, name, params, args)                      \
	int (*name##_start)(result * ret, CMY_UNPAREN params);                           \
	int (*name##_cont)(result * ret, type * handle, int status);
#define CMY_ORIGINAL_PAIR_V(type, handle, name, params, args)                            \
	int(*name##_start) params;                                                       \
	int (*name##_cont)(type * handle, int status);

struct cmy_original {
	CMY_FACE(CMY_ORIGINAL_FN, CMY_ORIGINAL_FV)
#if !CMY_ORACLE
	CMY_FACE_ASYNC(CMY_ORIGINAL_PAIR, CMY_ORIGINAL_PAIR_V)
	int (*mysql_optionsv)(MYSQL *mysql, enum mysql_option option, ...);
	int (*mysql_get_optionv)(MYSQL *mysql, enum mysql_option option, void *arg, ...);
	my_bool (*mariadb_get_infov)(
		MYSQL *mysql, enum mariadb_value value, void *arg, ...);
	int (*mariadb_rpl_optionsv)(MARIADB_RPL *rpl, int option, ...);
	int (*mariadb_rpl_get_optionsv)(MARIADB_RPL *rpl, int option, ...);
#endif
};

/* NULL: there is no original; *ret_why (if not NULL) is a static text with the reason. */
const struct cmy_original *cmy_original(const char **ret_why);

/*
 * Tells whether the shim made a handle. A connection of the shim's has an extension that begins
 * with the address of this tag. A statement's extension is that address itself. A result has the
 * address where the flavour has room. A connection before mysql_init() or after mysql_close()
 * counts as the shim's.
 */
extern const char cmy_tag;

#if !CMY_ORACLE
void cmy_tag_handler(void);
#endif

static inline int
cmy_is_foreign_mysql(const MYSQL *mysql)
{
	return mysql && mysql->extension &&
	       *(const char *const *)mysql->extension != &cmy_tag;
}

static inline int
cmy_is_foreign_stmt(const MYSQL_STMT *stmt)
{
	return stmt && stmt->extension != &cmy_tag;
}

static inline int
cmy_is_foreign_res(const MYSQL_RES *res)
{
#if CMY_ORACLE
	return res && res->extension != &cmy_tag;
#else
	return res && res->field_alloc.error_handler != cmy_tag_handler;
#endif
}

static inline int
cmy_is_foreign_rpl(const MARIADB_RPL *rpl)
{
	return rpl != NULL;
}

static inline int
cmy_is_foreign_none(const void *none)
{
	(void)none;
	return 0;
}

#define cmy_is_foreign(handle)                                                           \
	_Generic((handle),                                                               \
		MYSQL *: cmy_is_foreign_mysql,                                           \
		const MYSQL *: cmy_is_foreign_mysql,                                     \
		MYSQL_STMT *: cmy_is_foreign_stmt,                                       \
		MYSQL_RES *: cmy_is_foreign_res,                                         \
		MARIADB_RPL *: cmy_is_foreign_rpl,                                       \
		default: cmy_is_foreign_none)(handle)

#endif
