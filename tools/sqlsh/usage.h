/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_USAGE_H
#define SQLSH_USAGE_H

#include <stdint.h>

/* What --help says about a pool or URI. */
#define USAGE_POOL                                                                       \
	"POOL is the name of a pool of the cenoted on this machine, a URI is, for "      \
	"example,\ncenote:///POOL?run_dir=/path or cenote://user@host:9432/POOL."

/* Write the answer to --help or --version, and end the program. */
_Noreturn void usage_show_help(const char *usage, const char *help);
_Noreturn void usage_show_version(uint32_t version);

#endif
