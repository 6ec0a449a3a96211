/* SPDX-License-Identifier: BSD-2-Clause */
#include "absent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport.h"

#define SUFFIX     ".sock"
/* The socket for cenotectl, which no pool can have. */
#define ADMIN      "admin.sock"
/* The number of sockets of a dead daemon to try before the daemon counts as dead. */
#define N_TRIED    4
#define LIST_MAX   160u
#define SUFFIX_LEN (sizeof(SUFFIX) - 1)

/* The contents of a run directory. */
struct found {
	char pools[LIST_MAX]; /* names of the pools: "a, b" */
	int n_tried;
	int is_alive;
	int has_dir;
};

static int
is_socket_name(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > SUFFIX_LEN && strcmp(entry->d_name + n - SUFFIX_LEN, SUFFIX) == 0 &&
	       strcmp(entry->d_name, ADMIN) != 0;
}

/*
 * Does a process listen on that socket? A datagram socket cannot connect to it, but the error tells
 * whether a process listens. So no worker wakes up. Without the right to connect, the answer is
 * yes.
 */
static int
is_alive(const char *dir, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name);
	int fd, r;

	if (n < 0 || (size_t)n >= sizeof(addr.sun_path))
		return 0;
	fd = cn_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
	if (fd < 0)
		return 0;
	r = connect(fd, (const struct sockaddr *)(const void *)&addr, sizeof(addr)) < 0 &&
	    (errno == EPROTOTYPE || errno == EACCES);
	(void)close(fd);
	return r;
}

static void
add_pool(struct found *f, const char *name)
{
	size_t len = strlen(f->pools), n = strlen(name) - SUFFIX_LEN;

	if (len + n + sizeof(", , ...") < sizeof(f->pools))
		(void)snprintf(f->pools + len, sizeof(f->pools) - len, "%s%.*s",
			len > 0 ? ", " : "", (int)n, name);
	else if (len > 3 && f->pools[len - 1] != '.')
		(void)snprintf(f->pools + len, sizeof(f->pools) - len, ", ...");
}

/* Look for other pools in `dir`. Nobody answered on the socket `path`. */
static void
look(const char *path, const char *dir, struct found *f)
{
	const char *own = strrchr(path, '/') + 1;
	struct dirent **entries;
	int n = scandir(dir, &entries, is_socket_name, alphasort);

	*f = (struct found){ .has_dir = n >= 0 };
	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i]->d_name, own) != 0) {
			add_pool(f, entries[i]->d_name);
			if (!f->is_alive && f->n_tried++ < N_TRIED)
				f->is_alive = is_alive(dir, entries[i]->d_name);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Is this user not allowed to open the socket? If so, `out` has the reason. */
static int
is_shut(const char *path, const char *dir, char *out, size_t size)
{
	struct stat st;

	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || errno != EACCES)
		return 0;
	if (stat(path, &st) < 0)
		(void)snprintf(out, size, "unix user %u may not look into %s",
			(unsigned)geteuid(), dir);
	else
		(void)snprintf(out, size,
			"unix user %u may not open the socket of user %u, group %u, mode "
			"%04o: socket_mode and socket_group in cenoted.conf say who may, "
			"and the pool's allow_users who of those gets in",
			(unsigned)geteuid(), (unsigned)st.st_uid, (unsigned)st.st_gid,
			(unsigned)(st.st_mode & 07777));
	return 1;
}

static void
dir_of(const char *path, char dir[CN_TARGET_TEXT_MAX])
{
	(void)snprintf(dir, CN_TARGET_TEXT_MAX, "%s", path);
	*strrchr(dir, '/') = '\0';
}

int
cn_absent_explain(const struct cn_targets *t, char out[CN_ABSENT_MAX])
{
	char path[CN_TARGET_TEXT_MAX], dir[CN_TARGET_TEXT_MAX];
	struct found f;
	int has_dir = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].addr.ss_family != AF_UNIX)
			continue;
		cn_target_text(&t->list[i], path);
		dir_of(path, dir);
		if (is_shut(path, dir, out, CN_ABSENT_MAX))
			return 0;
		look(path, dir, &f);
		if (f.is_alive) {
			(void)snprintf(out, CN_ABSENT_MAX,
				"cenoted runs in %s, and has %s", dir, f.pools);
			return 1;
		}
		has_dir = has_dir || f.has_dir;
		if (f.has_dir)
			(void)snprintf(out, CN_ABSENT_MAX,
				"nobody listens in %s: cenoted is not running", dir);
		else if (!has_dir)
			(void)snprintf(out, CN_ABSENT_MAX,
				"there is no directory %s: cenoted is not running, or "
				"has "
				"another run_dir",
				dir);
	}
	return 0;
}
