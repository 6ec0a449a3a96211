/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open and close a pool's sockets: the socket on which clients connect, the queue from the door to
 * the workers, and the eventfd that wakes the door. It also checks a configuration's backends and
 * server lines. main(), master.c and master_pools.c call it.
 */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "activation.h"
#include "module.h"
#include "shared/ipc.h"
#include "shared/log.h"
#include "shared/place.h"

#define BACKLOG 4096

/* If clients log in as themselves, the server line must not name a user or a password. */
static void
check_clients_login(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	const char *const taken[] = { backend->user_option, backend->password_option,
		backend->client_key_option, backend->server_key_option, "passfile" };
	int is_keys = p->clients_login == CND_CLIENTS_KEYS;

	if ((is_keys ? backend->client_key_option : backend->user_option) == NULL) {
		cnd_config_error(c, p->line,
			"pool %s: auth = %spass-through: backend %s cannot log in as its "
			"clients%s",
			p->name, is_keys ? "scram-" : "", p->backend,
			is_keys ? " with keys of SCRAM" : "");
		return;
	}
	for (size_t i = 0; i < p->n_servers; i++) {
		for (size_t j = 0; j < sizeof(taken) / sizeof(taken[0]); j++) {
			if (taken[j] != NULL &&
				cnd_server_option(&p->servers[i], taken[j]) != NULL)
				cnd_config_error(c, p->servers[i].line,
					"server: %s: with auth = pass-through, the "
					"client has its own",
					taken[j]);
		}
	}
}

static void
check_servers(struct cnd_config *c, const struct cnd_pool_config *p,
	const struct cnd_backend *backend)
{
	for (size_t i = 0; i < p->n_servers; i++) {
		const struct cnd_server_line *s = &p->servers[i];
		struct cnd_server_spec spec = { .options = s->options,
			.n_options = s->n_options,
			.is_clients = (uint8_t)p->clients_login };
		struct cnc_diag diag;

		cnc_diag_init(&diag, NULL);
		/* a line that could not be read has its error already */
		if (s->n_options > 0 && backend->check(&spec, &diag) < 0)
			cnd_config_error(c, s->line, "server: %s", diag.message);
		cnc_diag_finish(&diag);
	}
}

void
cnd_pool_check_backends(struct cnd_config *c, const struct cnd_backend **ret_backends)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool_config *p = &c->pools[i];
		struct cnc_diag diag;

		ret_backends[i] = NULL;
		if (*p->backend == '\0')
			continue;
		cnc_diag_init(&diag, NULL);
		if (cnd_module_load(c->backend_dir, p->backend, &ret_backends[i], &diag) <
			0)
			cnd_config_error(
				c, p->line, "pool %s: %s", p->name, diag.message);
		else
			check_servers(c, p, ret_backends[i]);
		if (ret_backends[i] != NULL && p->clients_login != CND_CLIENTS_NONE)
			check_clients_login(c, p, ret_backends[i]);
		if (ret_backends[i] != NULL)
			cnd_pool_config_set_workers(c, p, ret_backends[i]);
		if (ret_backends[i] != NULL) {
			cnd_pool_config_set_lend(p, ret_backends[i]);
			cnd_pool_config_check_strict(c, p, ret_backends[i]);
			cnd_pool_config_check_digests(c, p, ret_backends[i]);
			cnd_pool_config_check_read_only(c, p, ret_backends[i]);
			cnd_pool_config_check_replay(c, p, ret_backends[i]);
			cnd_pool_config_check_cache(c, p, ret_backends[i]);
			cnd_pool_config_check_target(c, p, ret_backends[i]);
			cnd_pool_config_check_router(c, p, ret_backends[i]);
		}
		cnc_diag_finish(&diag);
	}
}

static int
open_run_dir(struct cnd_pool *p, const struct cnd_config *c)
{
	if (mkdir(c->run_dir, 0755) < 0 && errno != EEXIST) {
		cnd_log(LOG_ERR, "run_dir %s: %s", c->run_dir, strerror(errno));
		return -1;
	}
	p->dir_fd = cnd_place_open_dir("run_dir", c->run_dir, c->uid, c->gid);
	return p->dir_fd < 0 ? -1 : 0;
}

/* The socket's file name in the run directory. */
static const char *
file_of(const struct cnd_pool *p)
{
	return strrchr(p->address.sun_path, '/') + 1;
}

/* Whether a process listens at this address: 1, 0; -1: unknown. */
static int
is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int is;

	if (fd < 0)
		return -1;
	is = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	     errno == EAGAIN;
	close(fd);
	if (is)
		errno = EADDRINUSE;
	return is;
}

/* Remove a socket that a dead daemon left. EADDRINUSE: another process listens on it. Only sockets
 * and links are removed; any other file is not ours. */
static int
clear_old_socket(const struct cnd_pool *p, int is_taken_over)
{
	struct stat st;

	if (fstatat(p->dir_fd, file_of(p), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISSOCK(st.st_mode) && !is_taken_over && is_alive(&p->address) != 0)
		return -1;
	if (!S_ISSOCK(st.st_mode) && !S_ISLNK(st.st_mode)) {
		errno = EEXIST;
		return -1;
	}
	return unlinkat(p->dir_fd, file_of(p), 0) == 0 || errno == ENOENT ? 0 : -1;
}

/* Open the file that bind() has made, or that an earlier cenoted has given to `owner`. Cenoted's user may write in the run directory,
 * and could meanwhile have put a link to one of root's files there. */
static int
open_path(struct cnd_pool *p, uid_t owner)
{
	struct stat st;

	p->path_fd = openat(p->dir_fd, file_of(p), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->path_fd < 0 || fstat(p->path_fd, &st) < 0)
		return -1;
	if (S_ISSOCK(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == owner) &&
		st.st_nlink == 1)
		return 0;
	errno = EPERM;
	return -1;
}

int
cnd_pool_set_owner(const struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc)
{
	uid_t uid = geteuid() == 0 ? cnd_pool_config_account(c, pc).uid : (uid_t)-1;
	char path[32];
	struct stat st;

	/* the service manager sets owner and mode of its sockets itself */
	if (p->is_inherited)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->path_fd);
	if (fchownat(p->path_fd, "", uid, c->socket_gid, AT_EMPTY_PATH) == 0 &&
		fstat(p->path_fd, &st) == 0 &&
		((st.st_mode & 0777) == (mode_t)c->socket_mode ||
			chmod(path, (mode_t)c->socket_mode) == 0))
		return 0;
	cnd_log(LOG_ERR, "%s: %s", p->address.sun_path, strerror(errno));
	return -1;
}

/* Nobody may connect before listen(), and by then the caller has set the owner. */
static int
bind_socket(struct cnd_pool *p, mode_t mode)
{
	mode_t mask;
	int r;

	p->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listen_fd < 0)
		return -1;
	mask = umask(0777 & ~mode);
	r = bind(p->listen_fd, (const struct sockaddr *)&p->address, sizeof(p->address));
	umask(mask);
	return r < 0 ? r : open_path(p, geteuid());
}

static int
open_socket(
	struct cnd_pool *p, const struct cnd_config *c, const struct cnd_pool_config *pc)
{
	bool is_own = false;

	p->listen_fd = cnd_activation_take(
		(const struct sockaddr *)&p->address, sizeof(p->address), &is_own);
	p->is_inherited = p->listen_fd >= 0 && !is_own;
	if (p->is_inherited)
		return 0;
	if (p->listen_fd >= 0)
		return open_path(p, cnd_pool_config_account(c, pc).uid) < 0
			       ? -1
			       : cnd_pool_set_owner(p, c, pc);
	if (clear_old_socket(p, 0) < 0)
		return -1;
	if (bind_socket(p, (mode_t)c->socket_mode) < 0 ||
		cnd_pool_set_owner(p, c, pc) < 0)
		return -1;
	return listen(p->listen_fd, BACKLOG);
}

static const char *
hint_for(int error)
{
	if (error == EADDRINUSE)
		return ": another cenoted serves this pool";
	return error == EEXIST ? ", and is not a socket" : "";
}

static void
begin_open(struct cnd_pool *p, const struct cnd_config *c)
{
	p->listen_fd = p->dir_fd = p->path_fd = -1;
	p->queue[0] = p->queue[1] = p->wake_fd = -1;
	p->address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(p->address.sun_path, sizeof(p->address.sun_path), "%s/%s.sock",
		c->run_dir, p->name);
}

int
cnd_pool_open_admin(struct cnd_pool *p, const struct cnd_config *c)
{
	*p = (struct cnd_pool){ .name = CND_ADMIN_NAME };
	begin_open(p, c);
	if (open_run_dir(p, c) == 0 && clear_old_socket(p, 1) == 0 &&
		bind_socket(p, 0600) == 0 &&
		(geteuid() != 0 || fchownat(p->path_fd, "", c->uid, (gid_t)-1,
					   AT_EMPTY_PATH) == 0) &&
		listen(p->listen_fd, BACKLOG) == 0)
		return 0;
	cnd_log(LOG_ERR, "%s: %s", p->address.sun_path, strerror(errno));
	cnd_pool_close(p);
	return -1;
}

int
cnd_pool_open(struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc, cnd_await_address *await)
{
	int r;

	begin_open(p, c);
	if (open_run_dir(p, c) < 0) {
		cnd_pool_close(p);
		return -1;
	}
	do
		r = open_socket(p, c, pc);
	while (r < 0 && errno == EADDRINUSE && p->listen_fd < 0 && await != NULL &&
		await(p->address.sun_path));
	if (r < 0) {
		cnd_log(LOG_ERR, "%s: %s%s", p->address.sun_path, strerror(errno),
			hint_for(errno));
		cnd_pool_close(p);
		return -1;
	}
	r = cnd_ipc_pair(p->queue);
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r == 0 && p->wake_fd < 0)
		r = -errno;
	if (r < 0) {
		cnd_log(LOG_ERR, "pool %s: %s", p->name, strerror(-r));
		cnd_pool_unlink(p);
		cnd_pool_close(p);
		return -1;
	}
	return 0;
}

int
cnd_pool_has_socket(const struct cnd_pool *p)
{
	return p->is_inherited ? access(p->address.sun_path, F_OK) == 0 || errno != ENOENT
			       : cnd_place_is(p->address.sun_path, p->path_fd);
}

void
cnd_pool_unlink(struct cnd_pool *p)
{
	if (!p->is_inherited && cnd_pool_has_socket(p))
		unlinkat(p->dir_fd, file_of(p), 0);
}

void
cnd_pool_close(struct cnd_pool *p)
{
	int *fds[] = { &p->listen_fd, &p->queue[0], &p->queue[1], &p->wake_fd, &p->dir_fd,
		&p->path_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	cnd_tls_tickets_destroy(&p->tickets);
	cnd_cache_destroy(&p->cache);
}
