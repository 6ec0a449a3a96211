/* SPDX-License-Identifier: BSD-2-Clause */
#include "compat.h"

#if CND_MY_IS_MARIADB

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	return mysql_optionsv(my, MARIADB_OPT_IO_WAIT, wait) == 0;
}

#else

int
cnd_my_hook_wait(MYSQL *my, cnd_my_wait_fn *wait)
{
	(void)my;
	(void)wait;
	return 0;
}

#endif
