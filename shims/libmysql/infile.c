/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * LOAD DATA LOCAL INFILE. A server can ask for any file after any statement, so this file decides,
 * by what the program has allowed. exchange.c calls this file when the server asks.
 */

#define PIECE_SIZE (CMY_ORACLE ? 8192u : 4096u)

/* ---- the handlers that read files ---- */

#if CMY_ORACLE
#define FAILURE "%s '%s'%s (OS errno %d - %s)"
#define EE_READ 2 /* the number of every read error */
#else
#define FAILURE "%s '%s'%s (Errcode: %d)%.0s"
#endif

struct file {
	int fd;
	int code; /* errno of a failed read; 0: none */
	char *name;
	char why[LOCAL_INFILE_ERROR_LEN];
};

static void
say_failure(struct file *f, const char *begin, const char *name, const char *end)
{
	char reason[128];

	f->code = errno;
	snprintf(f->why, sizeof(f->why), FAILURE, begin, name, end, f->code,
		strerror_r(f->code, reason, sizeof(reason)));
}

static int
file_init(void **handle, const char *name, void *user)
{
	struct file *f = calloc(1, sizeof(*f));

	(void)user;
	*handle = f;
	if (!f)
		return 1;
	f->name = strdup(name);
	f->fd = f->name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (f->fd >= 0)
		return 0;
	say_failure(f, "File", name, " not found");
	return 1;
}

static int
file_read(void *handle, char *buffer, unsigned int size)
{
	struct file *f = handle;
	ssize_t n;

	do {
		n = read(f->fd, buffer, size);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (int)n;
	say_failure(f, "Error reading file", f->name, "");
#if CMY_ORACLE
	f->code = EE_READ;
#endif
	return -1;
}

static void
file_end(void *handle)
{
	struct file *f = handle;

	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->name);
	free(f);
}

static int
file_error(void *handle, char *message, unsigned int size)
{
	const struct file *f = handle;

	snprintf(message, size, "%s", f ? f->why : cmy_error_words(CR_OUT_OF_MEMORY));
	return f ? f->code : CR_OUT_OF_MEMORY;
}

void
cmy_mysql_set_local_infile_default(MYSQL *mysql)
{
	mysql->options.local_infile_init = file_init;
	mysql->options.local_infile_read = file_read;
	mysql->options.local_infile_end = file_end;
	mysql->options.local_infile_error = file_error;
}

void
cmy_mysql_set_local_infile_handler(MYSQL *mysql, cmy_infile_init *init,
	cmy_infile_read *read_piece, cmy_infile_end *end, cmy_infile_error *error,
	void *user)
{
	mysql->options.local_infile_init = init;
	mysql->options.local_infile_read = read_piece;
	mysql->options.local_infile_end = end;
	mysql->options.local_infile_error = error;
	mysql->options.local_infile_userdata = user;
}

/* ---- may the server have the file? ---- */

#if CMY_ORACLE
/* MYSQL_OPT_LOAD_DATA_LOCAL_DIR: is the file in that directory? No others are allowed. */
static int
is_within(MYSQL *my, const char *dir, const char *name)
{
	char real_dir[PATH_MAX], real_name[PATH_MAX];
	const char *failed = NULL;
	char reason[128];
	size_t n;

	if (!realpath(dir, real_dir))
		failed = dir;
	else if (!realpath(name, real_name))
		failed = name;
	if (failed) {
		cmy_error_with(my, CR_LOAD_DATA_LOCAL_INFILE_REALPATH_FAIL, failed, errno,
			strerror_r(errno, reason, sizeof(reason)));
		return 0;
	}
	n = strlen(real_dir);
	if (strncmp(real_name, real_dir, n) == 0 &&
		(real_name[n] == '/' || real_dir[n - 1] == '/'))
		return 1;
	cmy_error(my, CR_LOAD_DATA_LOCAL_INFILE_REJECTED, NULL);
	return 0;
}

static int
is_allowed(const struct cmy_session *s, const char *name)
{
	const char *dir = cmy_option(s->options, MYSQL_OPT_LOAD_DATA_LOCAL_DIR);

	if (s->my->options.client_flag & CLIENT_LOCAL_FILES)
		return 1;
	if (dir && *dir)
		return is_within(s->my, dir, name);
	cmy_error(s->my, CR_LOAD_DATA_LOCAL_INFILE_REJECTED, NULL);
	return 0;
}
#else
#define MODE_AUTO 2u /* only a LOAD statement may read files */

/* Did the program itself allow files for every statement? If not, the library decides. */
static int
is_always_allowed(const struct cmy_session *s)
{
	const unsigned *mode = cmy_option(s->options, MYSQL_OPT_LOCAL_INFILE);

	return mode && *mode != MODE_AUTO;
}

/* Set the error that the server itself reports when it works with the original. */
static void
say_disabled(const struct cmy_session *s)
{
	static const char mariadbs[] =
		"The used command is not allowed because the MariaDB "
		"server or client has disabled the local infile "
		"capability";
	static const char mysqls[] =
		"Loading local data is disabled; this must be enabled "
		"on both the client and server sides";

	if (strstr(s->my->server_version, "MariaDB"))
		cmy_error_text(s->my, 4166, NULL, mariadbs);
	else
		cmy_error_text(s->my, 3948, "42000", mysqls);
}

static int
is_allowed(const struct cmy_session *s, const char *name)
{
	(void)name;
	if (s->my->options.client_flag & CLIENT_LOCAL_FILES &&
		(s->is_load || is_always_allowed(s)))
		return 1;
	/* the login told the server what the program allowed at that time */
	if (s->my->client_flag & CLIENT_LOCAL_FILES)
		cmy_error_text(s->my, CR_UNKNOWN_ERROR, NULL,
			"Load data local infile forbidden");
	else
		say_disabled(s);
	return 0;
}
#endif

/* ---- sending the file ---- */

/* Set the connection's error from the program's handler. */
static void
tell_error(MYSQL *my, void *handle)
{
	char why[LOCAL_INFILE_ERROR_LEN] = "";
	int code = my->options.local_infile_error(handle, why, sizeof(why));

	cmy_error_text(my, (unsigned)code, NULL, "%s", why);
}

/* Send one piece. 0; 1: the server takes no more; -1: the connection is lost, and the error is set. */
static int
put(struct cmy_session *s, const char *piece, size_t n)
{
	int r;

	while ((r = cenote_copy_put(s->conn, piece, n)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	return r == CENOTE_DONE ? 1 : cmy_check(s, r);
}

/* Send the whole file. 0, or -1 and the error is set. */
static int
send_pieces(struct cmy_session *s, void *handle, char *piece)
{
	MYSQL *my = s->my;
	int n, r = 0;

	while (r == 0) {
		n = my->options.local_infile_read(handle, piece, PIECE_SIZE);
		if (n < 0)
			tell_error(my, handle);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		r = put(s, piece, (size_t)n);
	}
	return r < 0 ? -1 : 0;
}

static int
send_file(struct cmy_session *s, const char *name)
{
	MYSQL *my = s->my;
	char *piece = malloc(PIECE_SIZE);
	void *handle = NULL;
	int r = -1;

	if (!piece) {
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	if (my->options.local_infile_init(
		    &handle, name, my->options.local_infile_userdata) != 0)
		tell_error(my, handle);
	else
		r = send_pieces(s, handle, piece);
	my->options.local_infile_end(handle);
	free(piece);
	return r;
}

static void
set_default(MYSQL *my)
{
	const struct st_mysql_options *o = &my->options;

	if (o->local_infile_init && o->local_infile_read && o->local_infile_end &&
		o->local_infile_error)
		return;
	my->options.local_infile_userdata = my;
	cmy_mysql_set_local_infile_default(my);
}

int
cmy_infile(struct cmy_session *s, const cenote_result *request)
{
	const char *name = cenote_copy_file(request);
	int r = -1;

	set_default(s->my);
	if (*name ==
		'\0') /* another server asks for a copy, for which this API has no handler */
		cmy_error(s->my, CR_NOT_IMPLEMENTED, NULL);
	else if (is_allowed(s, name))
		r = send_file(s, name);
	/* stop a statement that did not get the whole file, so that the server undoes it */
	if (cmy_check(s, cenote_copy_end(s->conn, r < 0 ? s->my->net.last_error : NULL)) <
		0)
		return -1;
	return r;
}
