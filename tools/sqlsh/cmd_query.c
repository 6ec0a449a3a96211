/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \g, \gx, \G, \p, \r, \e, \watch, \set and \unset: the statement that is being typed, or the last one.
 * The state is in struct shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"

/* Take the statement that is being typed, or the last one. 0: there is neither. */
static int
take_statement(struct cmd *cmd, struct text *ret_sql)
{
	struct split_statement st;

	if (split_rest(&cmd->in->split, &st))
		text_add(ret_sql, st.sql, st.len);
	else
		text_add(ret_sql, text_str(&cmd->sh->last), cmd->sh->last.len);
	split_reset(&cmd->in->split, cmd->in->n_lines);
	return ret_sql->len > 0;
}

static void
remember(struct shell *sh, const struct text *sql)
{
	text_clear(&sh->last);
	text_add(&sh->last, text_str(sql), sql->len);
}

static int
run_go(struct cmd *cmd)
{
	struct text sql = { 0 };
	int r;

	if (take_statement(cmd, &sql)) {
		remember(cmd->sh, &sql);
		r = run_sql(cmd->sh, text_str(&sql), sql.len);
	} else {
		r = cmd_usage(cmd, "there is no statement yet");
	}
	text_finish(&sql);
	return r;
}

static int
run_go_expanded(struct cmd *cmd)
{
	const struct output_ops *before = cmd->sh->format;
	int r;

	cmd->sh->format = &output_expanded;
	r = run_go(cmd);
	cmd->sh->format = before;
	return r;
}

static int
run_print(struct cmd *cmd)
{
	const struct split *s = &cmd->in->split;
	const struct text *last = &cmd->sh->last;

	if (split_is_pending(s) && s->first != SIZE_MAX)
		(void)fputs(text_str(&s->text) + s->first, cmd->sh->out);
	else if (last->len > 0)
		(void)fprintf(cmd->sh->out, "%s\n", text_str(last));
	(void)fflush(cmd->sh->out);
	return RUN_OK;
}

static int
run_reset(struct cmd *cmd)
{
	split_reset(&cmd->in->split, cmd->in->n_lines);
	return RUN_OK;
}

static int
parse_seconds(const char *word, double *ret_seconds)
{
	char *end;
	double v = strtod(word, &end);

	if (end == word || *end || !(v >= 0.001 && v <= 86400))
		return 0;
	*ret_seconds = v;
	return 1;
}

static int
parse_count(const char *word, unsigned long *ret_count)
{
	char *end;
	unsigned long v;

	if (*word < '0' || *word > '9')
		return 0;
	v = strtoul(word, &end, 10);
	if (*end || v == 0)
		return 0;
	*ret_count = v;
	return 1;
}

/* \watch [SECONDS] [c=TIMES] */
static int
parse_watch(struct cmd *cmd, double *ret_seconds, unsigned long *ret_count)
{
	struct text word = { 0 };
	int is_right = 1, r;

	while (is_right && (r = args_next(&cmd->args, &word)) != 0) {
		const char *s = text_str(&word);

		if (r < 0)
			is_right = 0;
		else if (strncmp(s, "c=", 2) == 0)
			is_right = parse_count(s + 2, ret_count);
		else
			is_right = parse_seconds(s, ret_seconds);
	}
	text_finish(&word);
	return is_right;
}

static void
show_when(struct shell *sh, double seconds)
{
	char now[64] = "";
	time_t t = time(NULL);
	struct tm tm;

	if (!sh->format->is_for_people || sh->is_quiet)
		return;
	if (localtime_r(&t, &tm))
		(void)strftime(now, sizeof(now), "%F %T", &tm);
	(void)fprintf(sh->out, "%s (every %gs)\n\n", now, seconds);
}

static int
watch(struct shell *sh, const struct text *sql, double seconds, unsigned long count)
{
	const char *pager = sh->settings.pager;
	unsigned long i;
	int r = RUN_OK;

	sh->settings.pager = NULL;
	for (i = 0; (count == 0 || i < count) && r == RUN_OK; i++) {
		if (i > 0 && interrupt_wait(-1, 0, (int)(seconds * 1000)) < 0) {
			interrupt_clear();
			break;
		}
		show_when(sh, seconds);
		r = run_sql(sh, text_str(sql), sql->len);
	}
	sh->settings.pager = pager;
	/* The user ends \watch with Ctrl-C, during a query or a pause. */
	return r == RUN_INTERRUPTED && sh->is_interactive ? RUN_OK : r;
}

static int
run_watch(struct cmd *cmd)
{
	struct text sql = { 0 };
	double seconds = 2;
	unsigned long count = 0;
	int r;

	if (!parse_watch(cmd, &seconds, &count))
		return cmd_usage(cmd, "[SECONDS] [c=TIMES] expected");
	if (take_statement(cmd, &sql)) {
		remember(cmd->sh, &sql);
		r = watch(cmd->sh, &sql, seconds, count);
	} else {
		r = cmd_usage(cmd, "there is no statement yet");
	}
	text_finish(&sql);
	return r;
}

static const char *
editor(void)
{
	static const char *const names[] = { "SQLSH_EDITOR", "VISUAL", "EDITOR" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "vi";
}

static int
write_whole(int fd, const char *s, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, s, len);

		if (n < 0 && errno != EINTR)
			return -1;
		s += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Let the user change a file. Its new content becomes input, as if typed. */
static int
edit_file(struct cmd *cmd, const char *path)
{
	struct text line = { 0 };
	FILE *file = NULL;
	char *read_line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = RUN_ERROR;

	text_addf(&line, "%s '%s'", editor(), path);
	if (system(text_str(&line)) == 0) /* NOLINT(cert-env33-c) */
		file = fopen(path, "re");
	if (file)
		r = RUN_OK;
	else
		shell_error(cmd->sh, "%s: nothing was edited", text_str(&line));
	while (file && r == RUN_OK && (n = getline(&read_line, &cap, file)) > 0)
		r = input_line(cmd->in, read_line, (size_t)n);
	if (file)
		(void)fclose(file);
	free(read_line);
	text_finish(&line);
	return r;
}

static int
run_edit(struct cmd *cmd)
{
	const char *folder = getenv("TMPDIR");
	struct text sql = { 0 }, path = { 0 };
	int fd, r = RUN_ERROR;

	(void)take_statement(cmd, &sql);
	text_add_char(&sql, '\n');
	text_addf(&path, "%s/sqlsh.XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkostemp(path.data, O_CLOEXEC);
	if (fd < 0 || write_whole(fd, text_str(&sql), sql.len) < 0)
		shell_error(cmd->sh, "%s: %s", text_str(&path), strerror(errno));
	else
		r = edit_file(cmd, text_str(&path));
	if (fd >= 0) {
		(void)close(fd);
		(void)unlink(text_str(&path));
	}
	text_finish(&sql);
	text_finish(&path);
	return r;
}

static int
show_binds(struct cmd *cmd)
{
	const struct binds *b = &cmd->sh->binds;
	size_t i;

	for (i = 0; i < b->n; i++) {
		const struct bind *bind = &b->items[i];
		struct cell cell = { bind->value, bind->len };
		struct text shown = { 0 };

		if (bind->type == CENOTE_TYPE_BYTES)
			output_add_hex(&shown, &cell);
		else
			(void)display_add(&shown, cell.text, cell.len);
		(void)fprintf(cmd->sh->out, "%s:%s=%s\n", bind->name,
			bind_type_name(bind->type), text_str(&shown));
		text_finish(&shown);
	}
	(void)fflush(cmd->sh->out);
	return RUN_OK;
}

/* \set NAME[:TYPE] VALUE, or NAME[:TYPE]=VALUE as on the command line. */
static int
run_set(struct cmd *cmd)
{
	struct text spec = { 0 }, value = { 0 };
	const char *wrong = "a quote is not closed";
	int n = args_next(&cmd->args, &spec);

	if (n == 0) {
		text_finish(&spec);
		return show_binds(cmd);
	}
	if (n > 0 && args_next(&cmd->args, &value) >= 0) {
		if (!strchr(text_str(&spec), '=') && value.data)
			text_addf(&spec, "=%s", text_str(&value));
		wrong = binds_set(&cmd->sh->binds, text_str(&spec));
	}
	text_finish(&spec);
	text_finish(&value);
	return wrong ? cmd_usage(cmd, wrong) : RUN_OK;
}

static int
run_unset(struct cmd *cmd)
{
	struct text name = { 0 };
	int n = 0;

	while (args_next(&cmd->args, &name) > 0) {
		(void)binds_unset(&cmd->sh->binds, text_str(&name));
		n++;
	}
	text_finish(&name);
	return n > 0 ? RUN_OK : cmd_usage(cmd, "NAME expected");
}

const struct command cmd_query_table[] = {
	{ "g", "", "run what is typed so far, or the last statement again", run_go },
	{ "gx", "", "the same, expanded", run_go_expanded },
	{ "G", "", "the same, expanded", run_go_expanded },
	{ "p", "", "print what is typed so far, or the last statement", run_print },
	{ "r", "", "forget what is typed so far", run_reset },
	{ "e", "", "edit what is typed so far, or the last statement", run_edit },
	{ "watch", "[SECONDS] [c=TIMES]", "run it again and again, until Ctrl-C",
		run_watch },
	{ "set", "[NAME[:TYPE] VALUE]", "give :NAME a value, or list the values",
		run_set },
	{ "unset", "NAME ...", "take values away", run_unset },
	{ 0 },
};
