/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all parts of sqlsh share: messages, output files and notifications. The state is struct
 * shell.
 */
#include "shell.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caret.h"
#include "interrupt.h"
#include "pager.h"

void
shell_init(struct shell *sh)
{
	*sh = (struct shell){ 0 };
	sh->format = &output_table;
	sh->format_before = &output_table;
	sh->out = stdout;
	sh->is_paging = 1;
	sh->settings.separator = "|";
	sh->settings.has_header = 1;
	shell_set_null(sh, "NULL");
}

void
shell_finish(struct shell *sh)
{
	(void)shell_redirect(sh, NULL);
	cenote_conn_destroy(sh->conn);
	binds_finish(&sh->binds);
	catalog_forget(&sh->catalog);
	text_finish(&sh->last);
	text_finish(&sh->notes);
	free(sh->null_text);
	free(sh->uri);
}

void
shell_set_null(struct shell *sh, const char *text)
{
	char *copy = mem_dup(text, strlen(text));

	free(sh->null_text);
	sh->null_text = copy;
	sh->settings.null_text = copy;
}

/* If output and messages go to the same place, write the output first. */
static void
begin_message(struct shell *sh)
{
	(void)fflush(sh->out);
	if (sh->source)
		(void)fprintf(stderr, "sqlsh: %s:%lu: ", sh->source, sh->line);
}

void
shell_error(struct shell *sh, const char *format, ...)
{
	va_list ap;

	begin_message(sh);
	if (!sh->source && !sh->is_interactive)
		(void)fputs("sqlsh: ", stderr);
	va_start(ap, format);
	(void)vfprintf(stderr, format, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

void
shell_say(struct shell *sh, const char *format, ...)
{
	va_list ap;

	if (sh->is_quiet)
		return;
	va_start(ap, format);
	(void)vfprintf(sh->out, format, ap);
	va_end(ap);
	(void)fputc('\n', sh->out);
	(void)fflush(sh->out);
}

static void
add_field(struct text *t, const cenote_diag *diag, char field, const char *title)
{
	const char *value = cenote_diag_field(diag, field);

	if (value && *value)
		text_addf(t, "%s: %s\n", title, value);
}

void
shell_diag(struct shell *sh, const cenote_diag *diag, const char *sql, size_t len)
{
	const char *severity = cenote_diag_field(diag, 'S');
	const char *position = cenote_diag_field(diag, 'P');
	struct text t = { 0 };

	text_addf(&t, "%s %s: %s\n", severity && *severity ? severity : "ERROR",
		cenote_diag_sqlstate(diag), cenote_diag_message(diag));
	if (sql && position)
		caret_add(&t, sql, len, strtoul(position, NULL, 10));
	add_field(&t, diag, 'D', "DETAIL");
	add_field(&t, diag, 'H', "HINT");
	add_field(&t, diag, 'W', "CONTEXT");
	begin_message(sh);
	(void)fwrite(t.data, 1, t.len, stderr);
	text_finish(&t);
}

void
shell_adapt_output(struct shell *sh)
{
	sh->settings.is_dimmed = sh->out == stdout && sh->is_dimming;
	sh->settings.pager = sh->out == stdout && sh->is_paging ? sh->pager : NULL;
}

void
shell_show_text(struct shell *sh, const struct text *t)
{
	FILE *pager = NULL;

	if (sh->settings.pager)
		pager = pager_open(sh->settings.pager, text_str(t), t->len, 1);
	(void)fwrite(text_str(t), 1, t->len, pager ? pager : sh->out);
	if (pager)
		pager_close(pager);
	else
		(void)fflush(sh->out);
}

static void
close_output(struct shell *sh)
{
	int r;

	if (sh->out == stdout)
		return;
	r = sh->out_is_pipe ? pclose(sh->out) : fclose(sh->out);
	if (r != 0 && !sh->out_is_pipe)
		shell_error(sh, "%s: %s", sh->out_name, strerror(errno));
	free(sh->out_name);
	sh->out_name = NULL;
	sh->out_is_pipe = 0;
	sh->out = stdout;
	shell_adapt_output(sh);
}

int
shell_redirect(struct shell *sh, const char *name)
{
	FILE *file;
	int is_pipe = name && *name == '|';

	(void)fflush(sh->out);
	if (!name) {
		close_output(sh);
		return RUN_OK;
	}
	file = is_pipe ? popen(name + 1, "we") : fopen(name, "we");
	if (!file) {
		shell_error(sh, "%s: %s", name, strerror(errno));
		return RUN_ERROR;
	}
	close_output(sh);
	sh->out = file;
	shell_adapt_output(sh);
	sh->out_name = mem_dup(name, strlen(name));
	sh->out_is_pipe = is_pipe;
	return RUN_OK;
}

int
shell_output_failed(struct shell *sh)
{
	int error = errno;

	if (error == EPIPE && sh->out == stdout && !sh->is_interactive)
		interrupt_die(SIGPIPE);
	clearerr(sh->out);
	if (error != EPIPE)
		shell_error(sh, "%s: %s", sh->out_name ? sh->out_name : "standard output",
			strerror(error));
	return RUN_ERROR;
}

int
shell_show_notes(struct shell *sh)
{
	if (sh->notes.len == 0)
		return 0;
	(void)fflush(sh->out);
	(void)fputs(text_str(&sh->notes), stderr);
	text_clear(&sh->notes);
	return 1;
}

char *
shell_user_path(const char *variable, const char *below_home, const char *file)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	struct text t = { 0 };

	if (base && *base == '/')
		text_addf(&t, "%s/cenote/%s", base, file);
	else if (home && *home == '/')
		text_addf(&t, "%s/%s/cenote/%s", home, below_home, file);
	return t.data;
}
