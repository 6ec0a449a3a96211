/* SPDX-License-Identifier: BSD-2-Clause */
#include "original.h"

#include "../common/library.h"

#include <pthread.h>
#include <stdio.h>

const char cpq_tag = 'C';

static struct cpq_original original;
static char why_not[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where CENOTE_LIBPQ does not say: Debian's places and Red Hat's. */
static const char *const places[] = { CPQ_SYSTEM_LIBDIR "/libpq.so.5",
	"/usr/lib64/libpq.so.5", "/usr/lib/libpq.so.5", NULL };

static const struct csh_library libpq = { .name = "libpq.so.5",
	.variable = "CENOTE_LIBPQ",
	.own_symbol = "cenote_shim_libpq",
	.places = places };

static void
load(void)
{
	void *library = csh_library_open(&libpq, why_not, sizeof(why_not));

	if (library == NULL)
		return;
#define FIND(handle, ret, name, params, args)                                            \
	csh_library_find(library, #name, &original.name);
#define FIND_V(handle, name, params, args)                                               \
	csh_library_find(library, #name, &original.name);
	CPQ_FACE_15(FIND, FIND_V)
	CPQ_FACE_17(FIND, FIND_V)
	CPQ_FACE_18(FIND, FIND_V)
	if (original.PQconnectdbParams == NULL || original.PQfinish == NULL)
		snprintf(why_not, sizeof(why_not),
			"the library opened as libpq has no PQconnectdbParams");
}

const struct cpq_original *
cpq_original(const char **ret_why)
{
	pthread_once(&once, load);
	if (ret_why != NULL)
		*ret_why = why_not;
	return why_not[0] == '\0' ? &original : NULL;
}
