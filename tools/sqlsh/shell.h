/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SHELL_H
#define SQLSH_SHELL_H

#include <cenote/cenote.h>

#include "bind.h"
#include "catalog.h"
#include "output.h"
#include "password.h"
#include "progress.h"
#include "split.h"

/* What running a statement, a command or a file comes to. */
enum run {
	RUN_OK = 0,
	RUN_QUIT = 1, /* \q */
	RUN_ERROR = -1, /* it failed, and was reported */
	RUN_LOST = -2, /* there is no session any more; reported */
	RUN_INTERRUPTED = -3
};

struct shell {
	cenote_conn *conn;
	char *uri; /* or a pool's name, from the command line or \c */
	unsigned lex_flags; /* of the backend, as are the placeholders */
	enum bind_style style;
	enum password_asking asking;
	int has_password; /* conn has one, right or wrong */
	unsigned n_cancels; /* of the statement that runs */
	int is_cancel_missed; /* it did not find the request running */
	int is_closed_by_user; /* a second Ctrl-C: it was closed while it ran */

	const struct output_ops *format;
	const struct output_ops *format_before; /* \x goes back to it */
	struct output_settings settings;
	char *null_text; /* owned, settings has it too */
	/* For a terminal on standard output. */
	int is_dimming;
	const char *pager; /* NULL: none */
	int is_paging; /* the user wants it */
	FILE *out;
	char *out_name; /* NULL: standard output */
	int out_is_pipe;

	struct progress *progress; /* of a \copy to a file; NULL: none */
	uint64_t n_shown; /* rows, by the statement that ran last */

	int is_interactive;
	int is_quiet;
	int is_timing;
	int is_echo;
	int stops_on_error;

	struct binds binds;
	struct catalog catalog; /* for completion */
	struct text last; /* statement, for \g and \watch */
	struct text notes; /* notifications that were not shown yet */
	struct interactive *interactive; /* NULL: no terminal */
	struct input *input; /* where the statement came from that runs */
	int is_copied_out; /* the tag that comes next is that of a copy out */
	FILE *copy_file; /* what a COPY FROM STDIN takes instead of it; NULL: nothing */

	const char *source; /* file that is read, for messages; NULL: none */
	unsigned long line; /* of it, that the statement began in */
	unsigned depth; /* of \i in \i */
	int status; /* to exit with */
};

void shell_init(struct shell *sh);
void shell_finish(struct shell *sh);
/* Messages for the user, on standard error, with file and line where there are such. */
void shell_error(struct shell *sh, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Show the notifications that came. 1 if there were any. */
int shell_show_notes(struct shell *sh);
/* A diagnostics record; sql is the statement that its position is in, or NULL. */
void shell_diag(struct shell *sh, const cenote_diag *diag, const char *sql, size_t len);
/* Something that is said where people read: not with -q. */
void shell_say(struct shell *sh, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Send output to a file, to a program ("|command"), or (NULL) to standard output again. */
int shell_redirect(struct shell *sh, const char *name);
/* Show text of our own, in the pager if it does not fit. */
void shell_show_text(struct shell *sh, const struct text *t);
/* Dim NULL and page on the terminal only. */
void shell_adapt_output(struct shell *sh);
/* A write to sh->out failed: says so. Standard output closed: ends the program quietly. */
int shell_output_failed(struct shell *sh);
void shell_set_null(struct shell *sh, const char *text);
/* $NAME/cenote/file, or below the home folder, to be freed; NULL when there is neither. */
char *shell_user_path(const char *variable, const char *below_home, const char *file);

/* session.c: libcenote, with waiting that Ctrl-C can end. Reported when they fail. */

/* Connect to a URI or a pool's name. */
int session_open(struct shell *sh, const char *uri);
/* Connect to another URI, or to another pool of the last URI. On failure the old session stays. */
int session_change(struct shell *sh, const char *target);
/* Connected, or connected anew after a loss. */
int session_ensure(struct shell *sh);
/* Before a request; a Ctrl-C that came before is meant for it too. */
void session_begin_request(struct shell *sh);
/* Wait until a call that gave CENOTE_AGAIN should be repeated. RUN_OK, or RUN_LOST. */
int session_wait(struct shell *sh);
/* cenote_get_result() and cenote_result_next(), never CENOTE_AGAIN. */
int session_get_result(struct shell *sh, cenote_result **ret_res);
int session_next(struct shell *sh, cenote_result *res);
/* cenote_copy_put(), cenote_copy_end() and cenote_copy_get(), never CENOTE_AGAIN. */
int session_copy_put(struct shell *sh, const char *data, size_t len);
int session_copy_end(struct shell *sh, const char *error);
int session_copy_get(struct shell *sh, const char **ret_data, size_t *ret_len);
/* A call failed with this status: report it, and say what it comes to. */
int session_failed(struct shell *sh, int status, const char *sql, size_t len);
/* Send and take results of what gives no rows. */
enum session_verb {
	SESSION_BEGIN,
	SESSION_COMMIT,
	SESSION_ROLLBACK
};
int session_do(struct shell *sh, enum session_verb verb);
/* The catalog, whole. RUN_OK and *ret_res, or reported (unless is_quiet). */
int session_catalog(struct shell *sh, uint32_t kind, const cenote_catalog_filter *filter,
	int is_quiet, cenote_result **ret_res);
/* The same for SQL of our own. `texts` are for its placeholders; the last is followed by NULL. */
int session_query(struct shell *sh, const char *sql, const char *const *texts,
	int is_quiet, cenote_result **ret_res);

/* run.c */

/* Run one statement and show what it gives. */
int run_sql(struct shell *sh, const char *sql, size_t len);
/* Send a statement with its binds, its results to be taken by the caller. */
int run_send(struct shell *sh, const char *sql, size_t len);
/* Show some columns of a whole result under other names; to people, none that is NULL throughout. */
#define RUN_PICKS_MAX 64
struct run_pick {
	const char *column; /* in the result */
	const char *title;
};
int run_show_picked(
	struct shell *sh, const cenote_result *res, const struct run_pick *picks);
/* All its columns, under their own names. */
int run_show_whole(struct shell *sh, const cenote_result *res);
double run_now_ms(void);

/* data.c: the data of COPY … FROM STDIN and TO STDOUT, and files that a server asks for. */

int data_in(struct shell *sh, const cenote_result *res);
int data_out(struct shell *sh);

/* input.c */

struct input {
	struct shell *sh;
	struct split split;
	unsigned long n_lines;
	unsigned long n_data; /* lines of data since the statement */
	FILE *file; /* from which further lines come */
	/* The same where it is no file: 1; 0 at the end. NULL: `file`. */
	int (*read_line)(struct input *in, struct text *ret_line);
};

/* The next line of the input of the statement that runs, as data; newline included. 1; 0 at the end. */
int input_data_line(struct shell *sh, struct text *ret_line);

void input_init(struct input *in, struct shell *sh);
void input_finish(struct input *in);
/* One line (newline included): run what is complete. */
int input_line(struct input *in, const char *line, size_t len);
/* At the end of input: run what is left. */
int input_end(struct input *in);
int input_run_text(struct shell *sh, const char *text);
/* "-": standard input. */
int input_run_file(struct shell *sh, const char *path);
int input_run_stream(struct shell *sh, FILE *file, const char *name);
/* Whether to stop after this, having set the exit status. */
int input_stops(struct shell *sh, int r);

/* interactive.c */
int interactive_run(struct shell *sh, int reads_rc);
/* The history, its oldest entry first. 0; -1: there is none. */
int interactive_history(struct shell *sh, struct text *ret);

#endif
