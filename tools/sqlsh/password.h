/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_PASSWORD_H
#define SQLSH_PASSWORD_H

struct shell;

/* When the user is asked for a password at the terminal. */
enum password_asking {
	PASSWORD_IF_WANTED = 0, /* the login wants one, and there is none elsewhere */
	PASSWORD_ALWAYS, /* before the first login */
	PASSWORD_NEVER
};

/* Whether a URI has a password. */
int password_is_in(const char *uri);
/* Ask at the terminal. RUN_OK, or reported. */
int password_ask(struct shell *sh);
/*
 * The login failed: 1 if it wanted a password and has one now, from CENOTE_PASSWORD, the passfile or the
 * terminal. 0 if not; RUN_LOST: reported.
 */
int password_supply(struct shell *sh);

#endif
