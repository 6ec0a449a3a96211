/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of COPY. Input comes from the lines after the statement up to "\." or the end, or from a
 * file: for \copy, or when the server asks for a file and the connection's options allow it. run.c
 * calls it. It has no state.
 */
#include <errno.h>
#include <string.h>

#include "interrupt.h"
#include "shell.h"

#define PIECE 65536u

/* Send a piece. 1: continue. Otherwise *ret_r says what ended it: CENOTE_DONE means that the server
 * has enough. */
static int
put(struct shell *sh, const char *data, size_t len, int *ret_r)
{
	*ret_r = session_copy_put(sh, data, len);
	return *ret_r == CENOTE_OK;
}

static int
is_end_line(const struct text *line)
{
	const char *s = text_str(line);

	return strcmp(s, "\\.\n") == 0 || strcmp(s, "\\.") == 0 ||
	       strcmp(s, "\\.\r\n") == 0;
}

/* Send the lines of the input as data. Returns NULL, or why the copy ends early. */
static const char *
put_lines(struct shell *sh, int *ret_r)
{
	struct text line = { 0 };

	*ret_r = CENOTE_OK;
	if (sh->is_interactive && sh->input && sh->input->read_line)
		shell_say(sh, "Enter the data, a line each, and \\. behind the last.");
	while (!interrupt_is_pending() && input_data_line(sh, &line) &&
		!is_end_line(&line)) {
		if (!put(sh, text_str(&line), line.len, ret_r))
			break;
	}
	/* The server wants no more data, but the rest of the data is not SQL either. */
	while (*ret_r == CENOTE_DONE && !interrupt_is_pending() &&
		input_data_line(sh, &line) && !is_end_line(&line))
		continue;
	text_finish(&line);
	return interrupt_is_pending() ? "interrupted" : NULL;
}

static const char *
put_file(struct shell *sh, FILE *file, int *ret_r)
{
	static char piece[PIECE];
	size_t n;

	*ret_r = CENOTE_OK;
	while (!interrupt_is_pending() &&
		(n = fread(piece, 1, sizeof(piece), file)) > 0) {
		if (!put(sh, piece, n, ret_r))
			break;
	}
	if (interrupt_is_pending())
		return "interrupted";
	return ferror(file) ? strerror(errno) : NULL;
}

static const char *
put_named_file(struct shell *sh, const char *name, int *ret_r)
{
	FILE *file = fopen(name, "re");
	const char *why;

	*ret_r = CENOTE_OK;
	if (!file) {
		why = strerror(errno);
		shell_error(sh, "%s: %s", name, why);
		return why;
	}
	why = put_file(sh, file, ret_r);
	(void)fclose(file);
	return why;
}

int
data_in(struct shell *sh, const cenote_result *res)
{
	const char *name = cenote_copy_file(res), *why;
	int r;

	if (*name)
		why = put_named_file(sh, name, &r);
	else if (sh->copy_file)
		why = put_file(sh, sh->copy_file, &r);
	else
		why = put_lines(sh, &r);
	if (interrupt_is_pending()) {
		interrupt_clear();
		sh->n_cancels++;
	}
	if (r >= 0)
		r = session_copy_end(sh, why);
	return r < 0 ? session_failed(sh, r, NULL, 0) : RUN_OK;
}

int
data_out(struct shell *sh)
{
	const char *data;
	size_t len;
	int r;

	errno = 0;
	sh->n_shown = 0;
	sh->is_copied_out = 1;
	while ((r = session_copy_get(sh, &data, &len)) == CENOTE_OK) {
		sh->n_shown++;
		if (sh->n_cancels == 0 && fwrite(data, 1, len, sh->out) < len)
			return shell_output_failed(sh);
	}
	if (fflush(sh->out) != 0)
		return shell_output_failed(sh);
	return r < 0 ? session_failed(sh, r, NULL, 0) : RUN_OK;
}
