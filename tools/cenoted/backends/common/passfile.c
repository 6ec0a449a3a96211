/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The password for a user, from a file that only its owner may read. line.c and options.c call it at login. It has
 * no state.
 */
#include "passfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/sqlstate.h"

#define PASSFILE_MAX 65536

static int
cannot_read(struct cnc_diag *diag, const char *path, const char *why)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "passfile %s: %s", path, why);
	return CENOTE_ERR_ARG;
}

/* Read the whole file. Refuse a file that others than its owner may read. */
static int
read_file(
	const char *path, char *text, size_t max, size_t *ret_len, struct cnc_diag *diag)
{
	struct stat st;
	size_t len = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r = CENOTE_OK;

	if (fd < 0)
		return cannot_read(diag, path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		r = cannot_read(diag, path, "not a plain file");
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		r = cannot_read(
			diag, path, "others than its owner may read it: chmod 600 it");
	while (r == CENOTE_OK && len < max && (n = read(fd, text + len, max - len)) > 0)
		len += (size_t)n;
	if (r == CENOTE_OK && n < 0)
		r = cannot_read(diag, path, strerror(errno));
	else if (r == CENOTE_OK && len == max)
		r = cannot_read(diag, path, "longer than 64 kB");
	close(fd);
	*ret_len = len;
	return r;
}

/* Find the password in place, in the first line "user:password" with this user; NULL: there is no such
 * line. */
static char *
find_line(char *text, size_t len, const char *user)
{
	size_t n_user = strlen(user);
	char *line = text, *end;

	while (line < text + len) {
		end = memchr(line, '\n', (size_t)(text + len - line));
		if (!end)
			end = text + len;
		if ((size_t)(end - line) > n_user && line[n_user] == ':' &&
			memcmp(line, user, n_user) == 0) {
			if (end > line && end[-1] == '\r')
				end[-1] = 0;
			*end = 0;
			return line + n_user + 1;
		}
		line = end + 1;
	}
	return NULL;
}

int
cnd_passfile(const char *path, const char *user, const struct cenote_allocator *mem,
	char **ret_password, struct cnc_diag *ret_diag)
{
	char *text = cnc_alloc(mem, PASSFILE_MAX + 1), *found;
	size_t len = 0;
	int r;

	*ret_password = NULL;
	if (!text)
		return CENOTE_ERR_NOMEM;
	r = read_file(path, text, PASSFILE_MAX, &len, ret_diag);
	if (r == CENOTE_OK) {
		found = find_line(text, len, user);
		if (!found) {
			cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
				"passfile %s has no line %s:PASSWORD", path, user);
			r = CENOTE_ERR_ARG;
		} else {
			*ret_password = cnc_strndup(mem, found, strlen(found));
			r = *ret_password ? CENOTE_OK : CENOTE_ERR_NOMEM;
		}
	}
	cnc_wipe(text, PASSFILE_MAX + 1);
	cnc_free(mem, text);
	return r;
}

int
cnd_passfile_check(const char *path, const char *user, struct cnc_diag *ret_diag)
{
	char *password = NULL;
	int r = cnd_passfile(path, user, &cnc_mem_default, &password, ret_diag);

	if (password)
		cnc_wipe(password, strlen(password));
	cnc_free(&cnc_mem_default, password);
	return r;
}
