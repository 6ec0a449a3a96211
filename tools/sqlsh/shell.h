/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SHELL_H
#define SQLSH_SHELL_H

#include <stdint.h>
#include <cenote/cenote.h>

#include "bind.h"
#include "catalog.h"
#include "output.h"
#include "password.h"
#include "progress.h"
#include "split.h"

/* The result of running a statement, a command or a file. */
enum run {
	RUN_OK = 0,
	RUN_QUIT = 1, /* \q */
	RUN_ERROR = -1, /* it failed, and the error was reported */
	RUN_LOST = -2, /* the session is lost, which was reported */
	RUN_INTERRUPTED = -3
};

struct shell {
	cenote_conn *conn;
	char *uri; /* or the name of a pool; from the command line or \c */
	uint32_t lex_flags; /* the backend's rules for SQL, from lex_flags_for() */
	enum bind_style style;
	enum password_asking asking;
	int has_password; /* conn has a password, right or wrong */
	unsigned n_cancels; /* how often the user cancelled the running statement */
	int is_cancel_missed; /* the cancel came before the request ran */
	/* a second Ctrl-C closed the session while a request ran */
	int is_closed_by_user;

	const struct output_ops *format;
	const struct output_ops *format_before; /* \x switches back to it */
	struct output_settings settings;
	char *null_text; /* owned; `settings` points to it */
	/* For a terminal on standard output. */
	int is_dimming;
	const char *pager; /* NULL: none */
	int is_paging; /* the user wants a pager */
	FILE *out;
	char *out_name; /* NULL: standard output */
	int out_is_pipe;

	struct progress *progress; /* of a \copy with a file; NULL: none */
	uint64_t n_shown; /* rows that the last statement showed */

	int is_interactive;
	int is_quiet;
	int is_timing;
	int is_echo;
	int stops_on_error;

	struct binds binds;
	struct catalog catalog; /* for completion */
	struct text last; /* the last statement, for \g and \watch */
	struct text notes; /* notifications that were not shown yet */
	struct interactive *interactive; /* NULL: not on a terminal */
	struct input *input; /* the source of the running statement */
	int is_copied_out; /* the next tag belongs to a COPY ... TO */
	/* a COPY FROM STDIN reads this file instead of the input; NULL: none */
	FILE *copy_file;

	const char *source; /* the file that is being read, for messages; NULL: none */
	unsigned long line; /* the line in it where the statement began */
	unsigned depth; /* how many \i are nested */
	int status; /* the exit status */
};

void shell_init(struct shell *sh);
void shell_finish(struct shell *sh);
/* Report an error on standard error, with file and line if they are known. */
void shell_error(struct shell *sh, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Show the notifications that have arrived. 1: there were some. */
int shell_show_notes(struct shell *sh);
/* Report diagnostics. `sql` is the statement of their position, or NULL. */
void shell_diag(struct shell *sh, const cenote_diag *diag, const char *sql, size_t len);
/* Print a message for people. -q suppresses it. */
void shell_say(struct shell *sh, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Send output to a file, to a program ("|command"), or (NULL) to standard output again. */
int shell_redirect(struct shell *sh, const char *name);
/* Show a text of sqlsh, in the pager if it does not fit. */
void shell_show_text(struct shell *sh, const struct text *t);
/* Dim NULL and use the pager on the terminal only. */
void shell_adapt_output(struct shell *sh);
/* Report that writing to sh->out failed. If standard output was closed, end the program quietly. */
int shell_output_failed(struct shell *sh);
void shell_set_null(struct shell *sh, const char *text);
/* $NAME/cenote/file, or the path below the home folder; the caller frees it. NULL: there is
 * neither. */
char *shell_user_path(const char *variable, const char *below_home, const char *file);

/* session.c: libcenote, with waiting that Ctrl-C can end. These functions report their errors. */

/* Take a URI or a pool's name, and do not connect. */
int session_name(struct shell *sh, const char *uri);
/* Connect to a URI or a pool's name. */
int session_open(struct shell *sh, const char *uri);
/* Connect to another URI, or to another pool at the last URI. If that fails, the old
 * session stays. */
int session_change(struct shell *sh, const char *target);
/* Make sure that there is a session: connect again after a loss. */
int session_ensure(struct shell *sh);
/* Call it before a request. A Ctrl-C that came earlier also cancels this request. */
void session_begin_request(struct shell *sh);
/* Wait until a call that returned CENOTE_AGAIN should be repeated. RUN_OK or RUN_LOST. */
int session_wait(struct shell *sh);
/* Like cenote_get_result() and cenote_result_next(), but never CENOTE_AGAIN. */
int session_get_result(struct shell *sh, cenote_result **ret_res);
int session_next(struct shell *sh, cenote_result *res);
/* Like cenote_copy_put(), cenote_copy_end() and cenote_copy_get(), but never CENOTE_AGAIN. */
int session_copy_put(struct shell *sh, const char *data, size_t len);
int session_copy_end(struct shell *sh, const char *error);
int session_copy_get(struct shell *sh, const char **ret_data, size_t *ret_len);
/* Report a call that failed with this status. Returns enum run for the statement. */
int session_failed(struct shell *sh, int status, const char *sql, size_t len);
/* Send a request that gives no rows, and take its results. */
enum session_verb {
	SESSION_BEGIN,
	SESSION_COMMIT,
	SESSION_ROLLBACK
};
int session_do(struct shell *sh, enum session_verb verb);
/* Get a whole catalog list. RUN_OK and *ret_res, or an error that was reported (unless
 * is_quiet). */
int session_catalog(struct shell *sh, uint32_t kind, const cenote_catalog_filter *filter,
	int is_quiet, cenote_result **ret_res);
/* Run SQL of sqlsh itself, and get its rows like session_catalog(). `texts` are the values of its
 * placeholders, and NULL ends them. */
int session_query(struct shell *sh, const char *sql, const char *const *texts,
	int is_quiet, cenote_result **ret_res);

/* run.c */

/* Run one statement and show its results. */
int run_sql(struct shell *sh, const char *sql, size_t len);
/* Send a statement with its binds. The caller takes the results. */
int run_send(struct shell *sh, const char *sql, size_t len);
/* Show some columns of a whole result under other names. People do not see columns that are always
 * NULL. */
#define RUN_PICKS_MAX 64
struct run_pick {
	const char *column; /* name in the result */
	const char *title;
};
int run_show_picked(
	struct shell *sh, const cenote_result *res, const struct run_pick *picks);
/* Show all columns under their own names. */
int run_show_whole(struct shell *sh, const cenote_result *res);
double run_now_ms(void);

/* data.c: the data of COPY ... FROM STDIN and TO STDOUT, and files that a server asks for. */

int data_in(struct shell *sh, const cenote_result *res);
int data_out(struct shell *sh);

/* input.c */

struct input {
	struct shell *sh;
	struct split split;
	unsigned long n_lines;
	unsigned long n_data; /* lines of data since the statement */
	FILE *file; /* the source of the next lines */
	/* Another source: 1 and a line; 0 at the end. NULL: `file`. */
	int (*read_line)(struct input *in, struct text *ret_line);
};

/* The next line, with its newline, from the source of the running statement, as data. 1; 0 at the
 * end. */
int input_data_line(struct shell *sh, struct text *ret_line);

void input_init(struct input *in, struct shell *sh);
void input_finish(struct input *in);
/* Add one line with its newline, and run each complete statement. */
int input_line(struct input *in, const char *line, size_t len);
/* At the end of the input, run the rest. */
int input_end(struct input *in);
int input_run_text(struct shell *sh, const char *text);
/* "-" is standard input. */
int input_run_file(struct shell *sh, const char *path);
int input_run_stream(struct shell *sh, FILE *file, const char *name);
/* Whether to stop after this result. Sets the exit status. */
int input_stops(struct shell *sh, int r);

/* interactive.c */
int interactive_run(struct shell *sh, int reads_rc);
/* The history, oldest entry first. 0; -1: there is none. */
int interactive_history(struct shell *sh, struct text *ret);

#endif
