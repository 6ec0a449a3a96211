/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_PASSWORD_H
#define SQLSH_PASSWORD_H

struct shell;

/* When sqlsh asks for a password at the terminal. */
enum password_asking {
	PASSWORD_IF_WANTED = 0, /* the login needs one, and there is no other source */
	PASSWORD_ALWAYS, /* before the first login */
	PASSWORD_NEVER
};

/* Whether a URI has a password. */
int password_is_in(const char *uri);
/* Ask at the terminal. RUN_OK, or an error that was reported. */
int password_ask(struct shell *sh);
/* The login failed. 1: it needed a password, which came from CENOTE_PASSWORD, the password file or
 * the terminal. 0: another reason. RUN_LOST: the error was reported. */
int password_supply(struct shell *sh);

#endif
