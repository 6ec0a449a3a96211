/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenotectl convert: reads the configuration of PgBouncer or SQL Relay, prints a cenoted.conf, and says on standard error what has
 * no counterpart. It needs no cenoted. Passwords of clients become verifiers in a users file.
 */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

enum {
	STATUS_OK = 0,
	STATUS_REFUSED = 1, /* the file cannot be converted */
	STATUS_USAGE = 2
};

static const char usage[] = "usage: cenotectl convert [--users FILE] FILE\n"
			    "  --users FILE  write the clients' passwords to this new "
			    "users file\n";

/* ---- files ---- */

char *
file_read(const char *path, size_t *ret_len, const char **ret_error)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;

	if (f == NULL) {
		*ret_error = strerror(errno);
		return NULL;
	}
	text = mem_resize(NULL, FILE_MAX + 1, 1);
	n = fread(text, 1, FILE_MAX, f);
	*ret_error = NULL;
	if (ferror(f))
		*ret_error = strerror(errno);
	else if (n == FILE_MAX)
		*ret_error = "it is longer than 1 MB";
	else if (memchr(text, '\0', n) != NULL)
		*ret_error = "it has a zero byte";
	(void)fclose(f);
	if (*ret_error != NULL) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*ret_len = n;
	return text;
}

/* Make the path absolute, since cenoted may start in another directory. NULL: the current directory cannot be found. */
static char *
make_absolute(const char *path)
{
	char *here, *whole = NULL;

	if (*path == '/')
		return mem_dup(path, strlen(path));
	here = getcwd(NULL, 0);
	if (here != NULL && asprintf(&whole, "%s/%s", here, path) < 0)
		whole = NULL;
	free(here);
	return whole;
}

/* Write a new file that only its owner can read. An existing file is kept. 0; or -1, with a message. */
static int
write_users(const struct draft *d)
{
	int fd = open(d->users_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool is_good = f != NULL;

	for (size_t i = 0; is_good && i < d->n_users; i++)
		is_good =
			fprintf(f, "%s:%s\n", d->users[i].name, d->users[i].verifier) > 0;
	if (f != NULL && fclose(f) != 0)
		is_good = false;
	if (!is_good)
		fprintf(stderr, "cenotectl: %s: %s\n", d->users_path, strerror(errno));
	return is_good ? 0 : -1;
}

/* ---- the command ---- */

int
convert_text(struct draft *d, const char *file, char *text, size_t len)
{
	const char *begin = text;
	struct origin at = { .file = file };
	int r;

	/* a byte order mark */
	if (strncmp(begin, "\xef\xbb\xbf", 3) == 0)
		begin += 3;
	begin += strspn(begin, " \t\r\n");
	if (*begin == '<')
		r = sqlrelay_convert(d, file, text, len);
	else
		r = pgbouncer_convert(d, file, text);
	if (r == 0 && d->n_pools == 0) {
		draft_note(d, &at, NULL,
			"there is nothing to make a pool of: no database of a "
			"pgbouncer.ini, and no instance of a sqlrelay.conf");
		r = -1;
	}
	return r;
}

/* If clients need passwords but there is no users file, say what to do. */
static void
note_users(struct draft *d, const char *file)
{
	struct origin at = { .file = file };

	if (!d->needs_users || d->n_users > 0)
		return;
	draft_note(d, &at, NULL,
		d->users_path == NULL
			? "clients need passwords: with --users FILE, this command "
			  "writes "
			  "a users file and the rules; without it, only root and "
			  "cenoted's user get a session"
			: "no password could be converted, so there is no users file, "
			  "and only root and cenoted's user get a session");
}

static int
finish(struct draft *d, const char *file)
{
	struct text out = { 0 };
	int status = STATUS_OK;

	note_users(d, file);
	draft_print(d, file, &out);
	fputs(text_str(&d->notes), stderr);
	if (d->n_users > 0 && d->needs_users && write_users(d) < 0)
		status = STATUS_REFUSED;
	if (status == STATUS_OK &&
		(fwrite(text_str(&out), 1, out.len, stdout) != out.len ||
			fflush(stdout) != 0))
		status = STATUS_REFUSED;
	text_finish(&out);
	return status;
}

static int
convert_file(const char *file, const char *users_path)
{
	struct draft d = { .users_path = users_path, .may_open = true };
	const char *why = NULL;
	int status = STATUS_REFUSED;
	size_t len;
	char *text = file_read(file, &len, &why);

	if (text == NULL)
		fprintf(stderr, "cenotectl: %s: %s\n", file, why);
	else if (convert_text(&d, file, text, len) == 0)
		status = finish(&d, file);
	else
		fputs(text_str(&d.notes), stderr);
	free(text);
	draft_finish(&d);
	return status;
}

int
convert_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "users", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char *users = NULL;
	int status = -1, c;

	/* getopt has read the options before the command */
	optind = 0;
	while (status < 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		free(c == 'u' ? users : NULL);
		if (c == 'u' && (users = make_absolute(optarg)) == NULL) {
			fprintf(stderr, "cenotectl: %s: %s\n", optarg, strerror(errno));
			return STATUS_REFUSED;
		}
		if (c != 'u')
			status = c == 'h' ? STATUS_OK : STATUS_USAGE;
	}
	if (status < 0 && optind + 1 != argc)
		status = STATUS_USAGE;
	if (status >= 0)
		fputs(usage, status == STATUS_OK ? stdout : stderr);
	else
		status = convert_file(argv[optind], users);
	free(users);
	return status;
}
