/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends one command to the admin socket of a running cenoted, and shows the answer. The master checks the command; this file knows
 * only how an answer is written (shared/report.h of cenoted). cenotectl and cmd_admin.c call it. It has no state.
 */
#include "admin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMMAND_MAX 256u /* with the newline */
#define COLUMNS_MAX 32u

/* Tell the caller, in a form that cannot disturb the terminal. */
static void __attribute__((format(printf, 2, 3)))
complain(const struct admin *a, const char *format, ...)
{
	struct text shown = { 0 };
	char text[1024];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	(void)display_add(&shown, text, strlen(text));
	a->complain(a->user, text_str(&shown));
	text_finish(&shown);
}

/* ---- the command ---- */

int
admin_add_word(const struct admin *a, struct text *command, const char *word)
{
	if (*word == '\0' || strpbrk(word, " \n") != NULL) {
		complain(a, "\"%s\" cannot be a word of a command", word);
		return -1;
	}
	text_addf(command, "%s%s", command->len > 0 ? " " : "", word);
	if (command->len + 1 >= COMMAND_MAX) {
		complain(a, "the command is too long");
		return -1;
	}
	return 0;
}

static int
connect_to(const char *run_dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int n = snprintf(
		address.sun_path, sizeof(address.sun_path), "%s/admin.sock", run_dir);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd >= 0 && n < (int)sizeof(address.sun_path) &&
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = n < (int)sizeof(address.sun_path) ? errno : ENAMETOOLONG;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

static void
complain_of_connect(const struct admin *a, int error)
{
	if (error == ENOENT || error == ECONNREFUSED)
		complain(a, "%s/admin.sock: %s: %s", a->run_dir, strerror(error),
			a->absent);
	else if (error == EACCES)
		complain(a,
			"%s/admin.sock: %s: run %s as root, or as the user of cenoted",
			a->run_dir, strerror(error), a->program);
	else
		complain(a, "%s/admin.sock: %s", a->run_dir, strerror(error));
}

/* ---- the answer ---- */

struct table {
	struct output *out; /* NULL: no columns yet */
	struct output_column columns[COLUMNS_MAX];
	size_t n;
};

static const char *
field(const struct csv_reader *r, size_t i)
{
	return i < r->fields.n && r->fields.list[i].text != NULL ? r->fields.list[i].text
								 : "";
}

static void
begin_table(struct table *t, const struct admin *a, const struct csv_reader *r)
{
	for (t->n = 0; t->n + 1 < r->fields.n && t->n < COLUMNS_MAX; t->n++) {
		const char *name = field(r, t->n + 1);
		int is_number = *name == '#';

		t->columns[t->n].name =
			mem_dup(name + is_number, strlen(name + is_number));
		t->columns[t->n].type = is_number ? CENOTE_TYPE_INT64 : CENOTE_TYPE_TEXT;
	}
	t->out = output_begin(a->format, a->settings, a->out, t->columns, t->n);
}

/* 0; -1: writing failed. */
static int
end_table(struct table *t, int is_whole)
{
	int r = t->out != NULL ? output_end(t->out, is_whole) : 0;

	for (size_t i = 0; i < t->n; i++)
		free((char *)t->columns[i].name);
	return r;
}

static void
say(const struct admin *a, const char *text)
{
	struct text shown = { 0 };

	(void)display_add(&shown, text, strlen(text));
	(void)fprintf(a->out, "%s\n", text_str(&shown));
	text_finish(&shown);
}

/* -1: the answer goes on; otherwise the status. */
static int
show_line(struct table *t, const struct admin *a, const struct csv_reader *r)
{
	const char *kind = field(r, 0), *text = field(r, 1);

	if (strcmp(kind, "columns") == 0 && t->out == NULL) {
		begin_table(t, a, r);
	} else if (strcmp(kind, "row") == 0 && t->out != NULL &&
		   r->fields.n == t->n + 1) {
		output_row(t->out, r->fields.list + 1);
	} else if (strcmp(kind, "say") == 0) {
		say(a, text);
	} else if (strcmp(kind, "warning") == 0) {
		complain(a, "%s", text);
	} else if (strcmp(kind, "ok") == 0) {
		if (*text != '\0' && !a->is_quiet)
			say(a, text);
		return ADMIN_OK;
	} else if (strcmp(kind, "error") == 0) {
		complain(a, "%s", text);
		return ADMIN_REFUSED;
	}
	return -1;
}

/* -1: the answer is not whole; otherwise the status. */
static int
show_lines(FILE *answer, struct table *t, const struct admin *a)
{
	struct csv_reader r;
	int status = -1;

	csv_reader_init(&r, answer, CSV_TAB);
	while (status < 0 && csv_read(&r) > 0)
		status = show_line(t, a, &r);
	if (status == ADMIN_OK && csv_read(&r) > 0)
		status = -1;
	csv_reader_finish(&r);
	return status;
}

static int
show(FILE *answer, const struct admin *a)
{
	struct table t = { .out = NULL };
	int status = show_lines(answer, &t, a), is_written;

	is_written = end_table(&t, status == ADMIN_OK) == 0;
	is_written = fflush(a->out) == 0 && is_written;
	if (status < 0)
		complain(a,
			"cenoted closed the connection before its answer was complete; "
			"see its log");
	else if (!is_written)
		complain(a, "cannot write: %s", strerror(errno));
	return status < 0 || !is_written ? ADMIN_FAILED : status;
}

int
admin_run(const struct admin *a, const struct text *command)
{
	int fd = connect_to(a->run_dir), status;
	FILE *answer;

	if (fd < 0) {
		complain_of_connect(a, errno);
		return ADMIN_FAILED;
	}
	/* if cenoted refuses, its answer has the reason */
	(void)send(fd, text_str(command), command->len, MSG_NOSIGNAL);
	(void)send(fd, "\n", 1, MSG_NOSIGNAL);
	if (a->wait != NULL && a->wait(a->user, fd) < 0) {
		close(fd);
		complain(a, "interrupted; cenoted goes on with the command");
		return ADMIN_INTERRUPTED;
	}
	answer = fdopen(fd, "r");
	if (answer == NULL) {
		complain(a, "%s", strerror(errno));
		close(fd);
		return ADMIN_FAILED;
	}
	status = show(answer, a);
	(void)fclose(answer);
	return status;
}
