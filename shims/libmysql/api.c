/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/* MYSQL.methods->api: a table of the exported functions, through which some programs
 * call them. */

#define DECLARE(handle, ret, name, params, args) ret name params;
#define DECLARE_V(handle, name, params, args)    void name params;
#define MEMBER(name)                             .name = (void (*)(void))(name),

CMY_FACE(DECLARE, DECLARE_V)
int mysql_optionsv(MYSQL *mysql, enum mysql_option option, ...);
int mysql_get_optionv(MYSQL *mysql, enum mysql_option option, void *arg, ...);
my_bool mariadb_get_infov(MYSQL *mysql, enum mariadb_value value, void *arg, ...);

const struct cmy_api cmy_api = { CMY_API(MEMBER) };
