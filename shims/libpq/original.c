/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/library.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/*
 * Opening the original libpq, once, and finding its functions. The original serves each connection
 * that no pool serves (face.c).
 */

static struct cpq_original original;
static char why_not[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where to look for the original if CENOTE_LIBPQ is not set: Debian's and Red Hat's folders. */
static const char *const places[] = { CPQ_SYSTEM_LIBDIR "/libpq.so.5",
	"/usr/lib64/libpq.so.5", "/usr/lib/libpq.so.5", NULL };

static const struct csh_library libpq = { .name = "libpq.so.5",
	.variable = "CENOTE_LIBPQ",
	.own_symbol = "cenote_shim_libpq",
	.places = places };

/*
 * Programs ask a connection for its first notice receiver and give it to another
 * connection. The original's receiver knows only the original's results. So programs get
 * the shim's receiver from the original's connections as well.
 */
static PQnoticeReceiver (*set_receiver)(PGconn *, PQnoticeReceiver, void *);
/* the original's default receiver; NULL: not known yet */
static _Atomic PQnoticeReceiver first_receiver;

static PQnoticeReceiver
set_receiver_as_ours(PGconn *conn, PQnoticeReceiver proc, void *arg)
{
	PQnoticeReceiver first = atomic_load(&first_receiver);
	PQnoticeReceiver old;

	/* the receiver that the first connection has before anything was set */
	if (first == NULL) {
		first = set_receiver(conn, NULL, NULL);
		atomic_store(&first_receiver, first);
	}
	old = set_receiver(conn, proc == cpq_default_receiver ? first : proc, arg);
	return old == first ? cpq_default_receiver : old;
}

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
	set_receiver = original.PQsetNoticeReceiver;
	if (set_receiver != NULL)
		original.PQsetNoticeReceiver = set_receiver_as_ours;
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
