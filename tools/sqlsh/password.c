/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the password of a login comes from: CENOTE_PASSWORD, the password file, or the terminal.
 * session.c calls it. The password goes into the connection's options.
 */
#include "password.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/passfile.h"
#include "interrupt.h"
#include "shell.h"

/* An option cannot have a longer value. */
#define PASSWORD_MAX 4096

/* The user from the URI, else the Unix user. */
static const char *
user_of(struct shell *sh)
{
	const char *user = cenote_conn_get(sh->conn, "user");
	const struct passwd *me = *user ? NULL : getpwuid(geteuid());

	return me ? me->pw_name : user;
}

static int
give(struct shell *sh, const char *password)
{
	if (cenote_conn_set(sh->conn, "user", user_of(sh)) < 0 ||
		cenote_conn_set(sh->conn, "password", password) < 0) {
		shell_diag(sh, cenote_conn_diag(sh->conn), NULL, 0);
		return RUN_LOST;
	}
	sh->has_password = 1;
	return RUN_OK;
}

static int
has_password_option(const char *options)
{
	for (; options; options = strchr(options, '&')) {
		options++;
		if (strncmp(options, "password=", strlen("password=")) == 0)
			return 1;
	}
	return 0;
}

int
password_is_in(const char *uri)
{
	const char *host = strstr(uri, "://"), *colon, *at;

	if (!host)
		return 0;
	host += strlen("://");
	at = host + strcspn(host, "@/?");
	colon = memchr(host, ':', (size_t)(at - host));
	return (*at == '@' && colon) || has_password_option(strchr(at, '?'));
}

/* ---- the passfile ---- */

/* Split HOST:PORT; of a list, the first. */
static void
put_address(struct text *host, struct text *port, const char *list)
{
	size_t len = strcspn(list, ","), n = *list == '[' ? strcspn(list, "]") : 0;

	n += strcspn(list + n, ":,");
	if (*list == '[' && n > 1)
		text_add(host, list + 1, n - 2);
	else
		text_add(host, list, n);
	if (n < len)
		text_add(port, list + n + 1, len - n - 1);
}

static char *
search_passfile(struct shell *sh, const char *path)
{
	const char *hosts = cenote_conn_get(sh->conn, "host");
	const char *server = getenv("CENOTE_SERVER");
	struct text host = { 0 }, port = { 0 };
	char *found;

	if (!*hosts && !*cenote_conn_get(sh->conn, "run_dir") && server &&
		strncmp(server, "tcp://", strlen("tcp://")) == 0)
		hosts = server + strlen("tcp://");
	put_address(&host, &port, *hosts ? hosts : "localhost");
	if (port.len == 0)
		text_add_str(&port, cenote_conn_get(sh->conn, "port"));
	found = csh_passfile_find(path,
		(const char *const[CSH_PASSFILE_NAMES]){ text_str(&host), text_str(&port),
			cenote_conn_get(sh->conn, "pool"), user_of(sh) });
	text_finish(&host);
	text_finish(&port);
	return found;
}

/* Take the password from the password file. 1: the file has it; 0: it does not; negative: an error
 * that was reported. */
static int
take_from_passfile(struct shell *sh)
{
	const char *named = getenv("CENOTE_PASSFILE");
	char *path = named && *named
			     ? mem_dup(named, strlen(named))
			     : shell_user_path("XDG_CONFIG_HOME", ".config", "passfile");
	char *found = path ? search_passfile(sh, path) : NULL;
	int r = found && *found ? give(sh, found) : RUN_OK;

	if (r == RUN_OK)
		r = found && *found;
	if (found) {
		explicit_bzero(found, strlen(found));
		free(found);
	}
	free(path);
	return r;
}

/* ---- the terminal ---- */

/* Read a line without its newline. Returns the length; -1 after Ctrl-C or Ctrl-D. */
static ssize_t
read_line(int fd, char *line, size_t size)
{
	size_t len = 0;
	char c;

	while (!interrupt_is_pending() && read(fd, &c, 1) == 1) {
		if (c == '\n')
			return (ssize_t)len;
		if (len < size)
			line[len++] = c;
	}
	return -1;
}

/* Ask and read without echo. The echo ends before the question, since the user may type early. */
static ssize_t
read_unseen(int fd, const char *user, char *line, size_t size)
{
	struct termios before, unseen;
	ssize_t n;

	if (tcgetattr(fd, &before) < 0)
		return -1;
	unseen = before;
	unseen.c_lflag &= ~(tcflag_t)ECHO;
	/* Ctrl-Z would leave the terminal without echo. */
	unseen.c_cc[VSUSP] = _POSIX_VDISABLE;
	(void)tcsetattr(fd, TCSAFLUSH, &unseen);
	(void)dprintf(fd, "Password for user %s: ", user);
	n = read_line(fd, line, size);
	(void)tcsetattr(fd, TCSAFLUSH, &before);
	(void)dprintf(fd, "\n");
	return n;
}

int
password_ask(struct shell *sh)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), r = RUN_LOST;
	char line[PASSWORD_MAX + 1];
	ssize_t n;

	if (fd < 0) {
		shell_error(sh, "there is no terminal to ask for a password at: %s",
			strerror(errno));
		return RUN_LOST;
	}
	n = read_unseen(fd, user_of(sh), line, PASSWORD_MAX);
	(void)close(fd);
	if (n >= 0) {
		line[n] = '\0';
		r = give(sh, line);
	} else {
		interrupt_clear();
		shell_error(sh, "no password was given");
	}
	explicit_bzero(line, sizeof(line));
	return r;
}

static int
has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && close(fd) == 0;
}

int
password_supply(struct shell *sh)
{
	const char *given = getenv("CENOTE_PASSWORD");
	int r;

	if (sh->has_password ||
		strcmp(cenote_diag_sqlstate(cenote_conn_diag(sh->conn)), "28P01") != 0)
		return 0;
	if (given && *given)
		return give(sh, given) == RUN_OK ? 1 : RUN_LOST;
	r = take_from_passfile(sh);
	if (r != 0 || sh->asking == PASSWORD_NEVER || !has_terminal())
		return r;
	return password_ask(sh) == RUN_OK ? 1 : RUN_LOST;
}
