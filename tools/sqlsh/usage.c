/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers to --help and --version. sqlsh, cenote-export and cenote-import call it. This file keeps no state.
 */
#include "usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

static _Noreturn void
end(void)
{
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_USAGE);
}

void
usage_show_help(const char *usage, const char *help)
{
	(void)printf("%s%s", usage, help);
	end();
}

void
usage_show_version(uint32_t version)
{
	(void)printf("%s (Cenote) %u.%u.%u\n", program_invocation_short_name,
		(unsigned)(version / 10000), (unsigned)(version / 100 % 100),
		(unsigned)(version % 100));
	end();
}
