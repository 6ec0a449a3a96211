/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for libcenote's descriptor. libcenote may close the descriptor at any time, but the
 * emulator must be told before a polled descriptor is closed. So the emulator polls a duplicate.
 * The duplicate keeps the socket open. So this file shuts the socket down when the connection ends,
 * and the pool notices at once.
 *
 * The emulator keeps the resource that enif_select() got. So a watch is a separate resource, and an
 * unused connection is collected.
 */
#include "cer.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pause if there is nothing to wait for. */
#define PAUSE_MS 10

struct cer_watch {
	int fd; /* a duplicate of libcenote's descriptor */
};

static ErlNifResourceType *watch_type;

static void
watch_stop(ErlNifEnv *env, void *object, ErlNifEvent fd, int is_direct_call)
{
	(void)env;
	(void)object;
	(void)is_direct_call;
	(void)close(fd);
}

int
cer_watch_load(ErlNifEnv *env)
{
	ErlNifResourceTypeInit init = { .stop = watch_stop };

	watch_type = enif_open_resource_type_x(
		env, "cenote_watch", &init, CER_RESOURCE_FLAGS, NULL);
	return watch_type ? 0 : -1;
}

void
cer_watch_end(ErlNifEnv *env, struct cer_conn *c)
{
	struct cer_watch *w = c->watch;

	if (!w)
		return;
	c->watch = NULL;
	(void)shutdown(w->fd, SHUT_RDWR);
	(void)enif_select(env, w->fd, ERL_NIF_SELECT_STOP, w, NULL, cer_atom.undefined);
	enif_release_resource(w);
}

/* Are both descriptors the same socket? A new socket may have the number of the old one. */
static int
is_same_socket(int a, int b)
{
	struct stat of_a, of_b;

	return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 &&
	       of_a.st_ino == of_b.st_ino && of_a.st_dev == of_b.st_dev;
}

/* The watch for libcenote's descriptor; NULL: there is no descriptor, or no free descriptor for the
 * duplicate. */
static struct cer_watch *
watch_for(struct cer_conn *c)
{
	int fd = cenote_fd(c->conn), copy;

	if (fd >= 0 && c->watch && is_same_socket(fd, c->watch->fd))
		return c->watch;
	cer_watch_end(c->env, c);
	copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return NULL;
	c->watch = enif_alloc_resource(watch_type, sizeof(*c->watch));
	c->watch->fd = copy;
	return c->watch;
}

int
cer_watch(struct cer_conn *c, const ErlNifPid *pid, ERL_NIF_TERM ref, int *ret_n_messages)
{
	int wants = cenote_wants(c->conn), ms = cenote_wait_ms(c->conn);
	int reads = (wants & CENOTE_WANTS_READ) != 0;
	int writes = (wants & CENOTE_WANTS_WRITE) != 0;
	struct cer_watch *w = wants ? watch_for(c) : NULL;
	int mode =
		(reads ? ERL_NIF_SELECT_READ : 0) | (writes ? ERL_NIF_SELECT_WRITE : 0);

	*ret_n_messages = 0;
	if (!w ||
		enif_select(c->env, w->fd, (enum ErlNifSelectFlags)mode, w, pid, ref) < 0)
		return ms < 0 || ms > PAUSE_MS ? PAUSE_MS : ms;
	*ret_n_messages = reads + writes;
	return ms;
}

void
cer_unwatch(struct cer_conn *c, ERL_NIF_TERM ref)
{
	int mode = ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ | ERL_NIF_SELECT_WRITE;

	if (c->watch)
		(void)enif_select(c->env, c->watch->fd, (enum ErlNifSelectFlags)mode,
			c->watch, NULL, ref);
}
