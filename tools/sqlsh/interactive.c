/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Input at a terminal: prompts, line editing with libedit, history and completion. main.c calls it.
 * The state is struct interactive.
 */
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "interrupt.h"
#include "shell.h"

#define HISTORY_SIZE 5000

struct interactive {
	struct input input;
	int is_data; /* lines are the data of a copy */
	/* the session is lost: do not read from it until the next statement */
	int is_deaf;
	struct shell *sh;
	EditLine *el;
	History *history;
	HistEvent event;
	char *history_path; /* NULL: the history is not saved */
	struct text prompt;
	struct text entry; /* the typed lines of the current statement, for the history */
};

static void
make_folders(char *path)
{
	char *p;

	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
}

/* The prompt: inventory=>, in a transaction inventory=*>, after an error in it inventory=!>. In the
 * middle of a statement, the open quote, comment or parenthesis replaces the =. */
static char *
show_prompt(EditLine *el)
{
	struct interactive *i = NULL;
	static char data_prompt[] = ">> ";
	const char *pool, *state = "";

	(void)el_get(el, EL_CLIENTDATA, &i);
	if (i->is_data)
		return data_prompt;
	pool = cenote_conn_get(i->sh->conn, "pool");
	switch (cenote_tx_state(i->sh->conn)) {
	case CENOTE_TX_OPEN:
		state = "*";
		break;
	case CENOTE_TX_FAILED:
		state = "!";
		break;
	case CENOTE_TX_UNKNOWN:
		state = "?";
		break;
	default:
		break;
	}
	text_clear(&i->prompt);
	text_addf(&i->prompt, "%s%c%s> ", pool ? pool : "", split_prompt(&i->input.split),
		state);
	return i->prompt.data;
}

/* While the user types, the server may send a notice or end the session. */
static void
listen_to_server(struct interactive *i, EditLine *el)
{
	struct shell *sh = i->sh;
	int r;

	do
		r = cenote_wait(sh->conn, 0);
	while (r == CENOTE_OK);
	if (r < 0 || sh->notes.len > 0)
		(void)fputc('\n', stdout);
	(void)fflush(stdout);
	if (r < 0) {
		shell_diag(sh, cenote_conn_diag(sh->conn), NULL, 0);
		(void)fputs("The next statement will ask for a new session.\n", stderr);
	}
	i->is_deaf = r < 0;
	if (shell_show_notes(sh) || r < 0)
		(void)el_set(el, EL_REFRESH);
}

/* Wait for the terminal. Returns as interrupt_wait() does. */
static int
wait_for_key(struct interactive *i, EditLine *el)
{
	int has_news = 0, r, fd;

	do {
		/* During a copy, the descriptor belongs to the request. */
		fd = i->is_data || i->is_deaf || !cenote_is_connected(i->sh->conn)
			     ? -1
			     : cenote_fd(i->sh->conn);
		r = interrupt_wait_both(STDIN_FILENO, fd, &has_news);
		if (r > 0 && has_news)
			listen_to_server(i, el);
	} while (r > 0 && has_news);
	return r;
}

/* Read one character for libedit. Ctrl-C ends the line. */
static int
read_char(EditLine *el, wchar_t *ret_char)
{
	struct interactive *i = NULL;
	mbstate_t state = { 0 };

	(void)el_get(el, EL_CLIENTDATA, &i);
	for (;;) {
		char c;
		int ready = wait_for_key(i, el);
		ssize_t n;
		size_t used;

		if (ready < 0) {
			errno = EINTR;
			return -1;
		}
		if (ready == 0) {
			el_resize(el);
			continue;
		}
		n = read(STDIN_FILENO, &c, 1);
		if (n <= 0)
			return (int)n;
		/* A Ctrl-D that came before the terminal sends single characters reads as a zero
		 * byte. */
		if (c == '\0')
			c = '\004';
		used = mbrtowc(ret_char, &c, 1, &state);
		if (used == (size_t)-1)
			state = (mbstate_t){ 0 };
		else if (used != (size_t)-2)
			return 1;
	}
}

static int
is_completed(char c)
{
	return lex_is_word_char(c) || c == '$';
}

#define ADMIN "\\admin "

/* Whether the words of a command to cenoted are being typed. */
static int
is_admin(const LineInfo *line)
{
	size_t n = sizeof(ADMIN) - 1;

	return (size_t)(line->cursor - line->buffer) >= n &&
	       strncmp(line->buffer, ADMIN, n) == 0;
}

/* The beginning of the word before the cursor. */
static const char *
word_begin(const LineInfo *line)
{
	const char *p = line->cursor;

	if (is_admin(line)) {
		while (p[-1] != ' ')
			p--;
		return p;
	}
	while (p > line->buffer && is_completed(p[-1]))
		p--;
	if (p > line->buffer && p[-1] == '\\')
		p--;
	return p;
}

/* Count the candidates. Their common beginning is in *ret_common; the caller frees it. */
static size_t
common_prefix(
	const struct catalog *c, const struct catalog_prefix *word, char **ret_common)
{
	size_t state = 0, n = 0, common_len = 0;
	const char *candidate;
	char *common = NULL;

	while ((candidate = catalog_complete(c, word, &state)) != NULL) {
		size_t k = 0;

		if (n++ == 0) {
			common_len = strlen(candidate);
			common = mem_dup(candidate, common_len);
			continue;
		}
		while (k < common_len && strncasecmp(common + k, candidate + k, 1) == 0)
			k++;
		common_len = k;
		common[k] = '\0';
	}
	*ret_common = common;
	return n;
}

static void
list_candidates(const struct catalog *c, const struct catalog_prefix *word)
{
	const char *candidate, *slash = word->what == CATALOG_COMMANDS ? "\\" : "";
	size_t state = 0, n = 0;

	(void)fputc('\n', stdout);
	while ((candidate = catalog_complete(c, word, &state)) != NULL && n < 200) {
		n++;
		(void)printf("%s%-24s%s", slash, candidate, n % 3 == 0 ? "\n" : " ");
	}
	(void)fputs(n % 3 == 0 ? "" : "\n", stdout);
	(void)fflush(stdout);
}

/* Whether the previous word asks for a table. */
static int
is_before_table(const LineInfo *line, const char *begin)
{
	const char *end = begin, *p;

	while (end > line->buffer && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	for (p = end; p > line->buffer && is_completed(p[-1]); p--)
		;
	return end < begin && catalog_is_before_table(p, (size_t)(end - p));
}

static struct catalog_prefix
prefix_of(const LineInfo *line, const char *begin, const char *word)
{
	if (is_admin(line))
		return (struct catalog_prefix){ begin == line->buffer + sizeof(ADMIN) - 1
							? CATALOG_ADMIN
							: CATALOG_NONE,
			word, strlen(word) };
	if (*word == '\\')
		return (struct catalog_prefix){ CATALOG_COMMANDS, word + 1,
			strlen(word) - 1 };
	return (struct catalog_prefix){ is_before_table(line, begin) ? CATALOG_TABLES
								     : CATALOG_ANY,
		word, strlen(word) };
}

static int
is_lower(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] >= 'A' && s[i] <= 'Z')
			return 0;
	}
	return 1;
}

/* Replace the word by the completion. A key word takes the case that the user typed. */
static void
replace_word(EditLine *el, const char *word, size_t len, char *completion, int is_whole)
{
	struct text t = { 0 };
	char *p;

	if (*word == '\\') {
		text_add_char(&t, '\\');
	} else if (is_lower(word, len) &&
		   strcspn(completion, "abcdefghijklmnopqrstuvwxyz") ==
			   strlen(completion)) {
		for (p = completion; *p; p++)
			*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	}
	text_addf(&t, "%s%s", completion, is_whole ? " " : "");
	el_deletestr(el, (int)len);
	(void)el_insertstr(el, text_str(&t));
	text_finish(&t);
}

static unsigned char
complete(EditLine *el, int ch)
{
	struct interactive *i = NULL;
	const LineInfo *line = el_line(el);
	const char *begin = word_begin(line);
	size_t len = (size_t)(line->cursor - begin), n;
	unsigned char r = CC_REFRESH;
	struct catalog_prefix prefix;
	char *common, *word;

	(void)ch;
	(void)el_get(el, EL_CLIENTDATA, &i);
	/* In data a tab is a tab. */
	if (i->is_data)
		return el_insertstr(el, "\t") < 0 ? CC_ERROR : CC_REFRESH;
	if (len == 0 && !is_admin(line))
		return CC_REFRESH_BEEP;
	word = mem_dup(begin, len);
	prefix = prefix_of(line, begin, word);
	/* The session may be busy or paused: do not ask it in vain. */
	if (prefix.what == CATALOG_ANY || prefix.what == CATALOG_TABLES)
		catalog_load(&i->sh->catalog, i->sh);
	n = common_prefix(&i->sh->catalog, &prefix, &common);
	if (n == 1 || (n > 1 && strlen(common) > prefix.len)) {
		replace_word(el, word, len, common, n == 1);
	} else if (n > 1) {
		list_candidates(&i->sh->catalog, &prefix);
		r = CC_REDISPLAY;
	} else {
		r = CC_REFRESH_BEEP;
	}
	free(common);
	free(word);
	return r;
}

static int
open_editor(struct interactive *i)
{
	i->el = el_init("sqlsh", stdin, stdout, stderr);
	i->history = history_init();
	if (!i->el || !i->history)
		return -1;
	(void)el_set(i->el, EL_CLIENTDATA, i);
	(void)el_set(i->el, EL_PROMPT, show_prompt);
	(void)el_set(i->el, EL_EDITOR, "emacs");
	(void)el_set(i->el, EL_GETCFN, read_char);
	(void)el_set(i->el, EL_HIST, history, i->history);
	/* Only the wide function stores the names; el_set() copies them and never frees the
	 * copies. */
	(void)el_wset(i->el, EL_ADDFN, L"sqlsh-complete", L"complete the word", complete);
	(void)el_set(i->el, EL_BIND, "^I", "sqlsh-complete", NULL);
	(void)el_set(i->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	(void)el_source(i->el, NULL);
	(void)history(i->history, &i->event, H_SETSIZE, HISTORY_SIZE);
	(void)history(i->history, &i->event, H_SETUNIQUE, 1);
	i->history_path =
		shell_user_path("XDG_STATE_HOME", ".local/state", "sqlsh_history");
	if (i->history_path)
		(void)history(i->history, &i->event, H_LOAD, i->history_path);
	return 0;
}

static void
close_editor(struct interactive *i)
{
	if (i->history && i->history_path) {
		mode_t before = umask(077);

		make_folders(i->history_path);
		(void)history(i->history, &i->event, H_SAVE, i->history_path);
		(void)umask(before);
	}
	if (i->history)
		history_end(i->history);
	if (i->el)
		el_end(i->el);
	free(i->history_path);
	text_finish(&i->prompt);
	text_finish(&i->entry);
}

/* Read a line of data for COPY ... FROM STDIN. */
static int
read_data_line(struct input *in, struct text *ret_line)
{
	struct interactive *i =
		(struct interactive *)(void *)((char *)in -
					       offsetof(struct interactive, input));
	const char *line;
	int len = 0;

	i->is_data = 1;
	line = el_gets(i->el, &len);
	i->is_data = 0;
	if (!line || len <= 0)
		return 0;
	text_add(ret_line, line, (size_t)len);
	return 1;
}

/* Add the typed lines to the history as one entry. */
static void
keep_entry(struct interactive *i)
{
	const char *entry = text_str(&i->entry);

	if (*entry && !strchr(" \t\n", *entry))
		(void)history(i->history, &i->event, H_ENTER, entry);
	text_clear(&i->entry);
}

/* Run the user's own statements and commands before the first prompt. */
static int
run_rc(struct shell *sh)
{
	char *path = shell_user_path("XDG_CONFIG_HOME", ".config", "sqlshrc");
	int r = RUN_OK;

	if (path && access(path, R_OK) == 0)
		r = input_run_file(sh, path);
	free(path);
	return r;
}

static void
greet(struct shell *sh)
{
	const char *backend = cenote_info(sh->conn, "backend");
	const char *version = cenote_info(sh->conn, "server_version");

	shell_say(sh, "sqlsh (Cenote) on %s %s. \\? for help, \\q to leave.",
		backend ? backend : "an unknown server", version ? version : "");
}

/* Forget the lines typed so far. */
static void
start_over(struct interactive *i)
{
	interrupt_clear();
	i->input.split.lex.flags = i->sh->lex_flags;
	split_reset(&i->input.split, 1);
	i->input.n_lines = 0;
	text_clear(&i->entry);
}

/* Users who do not know the backslash commands type these words. */
static const char *
command_for(const struct interactive *i, const char *line)
{
	static const struct {
		const char *word;
		const char *command;
	} words[] = { { "quit", "\\q" }, { "exit", "\\q" }, { "help", "\\?" } };
	size_t k, n, from = strspn(line, " \t");

	for (k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		n = strlen(words[k].word);
		if (!split_is_pending(&i->input.split) &&
			strncasecmp(line + from, words[k].word, n) == 0 &&
			line[from + n + strspn(line + from + n, " \t\r\n;")] == '\0')
			return words[k].command;
	}
	return NULL;
}

/* Run the lines of one entry; an entry of the history may have several. */
static int
run_lines(struct interactive *i, const char *lines)
{
	int r = RUN_OK;

	while (*lines && r == RUN_OK) {
		const char *command = command_for(i, lines);
		size_t n = strcspn(lines, "\n");

		n += lines[n] == '\n';
		r = command ? input_line(&i->input, command, strlen(command))
			    : input_line(&i->input, lines, n);
		lines += n;
		if (r == RUN_ERROR)
			r = RUN_OK;
	}
	return r;
}

static void
run_typed(struct interactive *i, const char *lines, int *ret_is_over)
{
	/* The editor may reuse its line while the statement runs. */
	char *typed = mem_dup(lines, strlen(lines));
	int r;

	text_add_str(&i->entry, typed);
	i->is_deaf = 0;
	r = run_lines(i, typed);
	free(typed);
	(void)fflush(i->sh->out);
	if (r != RUN_OK || !split_is_pending(&i->input.split))
		keep_entry(i);
	if (r == RUN_QUIT)
		*ret_is_over = 1;
	else if (r == RUN_INTERRUPTED || r == RUN_LOST)
		start_over(i);
	if (r == RUN_LOST)
		(void)fputs("The next statement will ask for a new session.\n", stderr);
}

static void
read_lines(struct interactive *i)
{
	int is_over = 0;

	while (!is_over) {
		const char *line;
		int len = 0;

		interrupt_clear();
		line = el_gets(i->el, &len);
		if (line && len > 0) {
			run_typed(i, line, &is_over);
		} else if (interrupt_is_pending()) {
			(void)fputs("^C\n", stdout);
			start_over(i);
		} else {
			(void)fputc('\n', stdout);
			is_over = 1;
		}
	}
}

int
interactive_history(struct shell *sh, struct text *ret)
{
	struct interactive *i = sh->interactive;
	int r;

	if (!i)
		return -1;
	for (r = history(i->history, &i->event, H_LAST); r >= 0;
		r = history(i->history, &i->event, H_PREV))
		text_add_str(ret, i->event.str);
	return 0;
}

int
interactive_run(struct shell *sh, int reads_rc)
{
	struct interactive i = { .sh = sh };
	int status = EXIT_SUCCESS;

	if (!sh->is_quiet)
		greet(sh);
	input_init(&i.input, sh);
	i.input.read_line = read_data_line;
	if (open_editor(&i) < 0) {
		shell_error(sh, "the terminal cannot be used");
		status = EXIT_USAGE;
	} else if (!reads_rc || run_rc(sh) != RUN_QUIT) {
		sh->interactive = &i;
		read_lines(&i);
		sh->interactive = NULL;
	}
	close_editor(&i);
	input_finish(&i.input);
	return status;
}
