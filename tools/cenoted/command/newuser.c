/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenoted --user: ask for a password and print a line for a users file. It restores the terminal
 * if a signal ends it.
 */
#include "newuser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/mem.h"
#include "crypto/crypto.h"
#include "auth/users.h"

#define PASSWORD_MAX 1024

/* Read the first line of a file, without its end. 0; or -1, with a message. */
static int
read_line(int fd, char password[PASSWORD_MAX])
{
	size_t n = 0;
	ssize_t r;

	while ((r = read(fd, password + n, 1)) == 1 && password[n] != '\n') {
		if (password[n] == '\0' || n + 1 == PASSWORD_MAX) {
			fputs("cenoted: the password is too long, or has a zero byte\n",
				stderr);
			return -1;
		}
		n++;
	}
	if (r < 0 && errno != EINTR)
		fprintf(stderr, "cenoted: the password cannot be read: %s\n",
			strerror(errno));
	if (r < 0)
		return -1;
	password[n] = '\0';
	return 0;
}

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
	interrupted = number;
}

/* A signal that ends the program must first turn the terminal's echo on again. */
static void
catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	/* the first signal ends the reading; a second one ends the program at once */
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &act, NULL);
}

static int
ask(int tty, const char *prompt, char password[PASSWORD_MAX])
{
	struct termios before, silent;
	int r;

	if (tcgetattr(tty, &before) < 0 || dprintf(tty, "%s", prompt) < 0)
		return -1;
	silent = before;
	silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	if (tcsetattr(tty, TCSAFLUSH, &silent) < 0)
		return -1;
	r = read_line(tty, password);
	(void)tcsetattr(tty, TCSAFLUSH, &before);
	(void)dprintf(tty, "\n");
	if (interrupted)
		raise(interrupted);
	return r;
}

static int
ask_twice(char password[PASSWORD_MAX])
{
	char again[PASSWORD_MAX];
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	int r = -1;

	if (tty < 0) {
		fprintf(stderr, "cenoted: /dev/tty: %s\n", strerror(errno));
		return -1;
	}
	catch_signals();
	if (ask(tty, "Password: ", password) == 0 &&
		ask(tty, "The same again: ", again) == 0)
		r = strcmp(password, again) == 0 ? 0 : 1;
	if (r > 0)
		fputs("cenoted: the two passwords differ\n", stderr);
	cnc_wipe(again, sizeof(again));
	close(tty);
	return r == 0 ? 0 : -1;
}

static int
print_user(const char *name, const char *password)
{
	const struct cn_crypto *crypto = cn_crypto_get(CN_CRYPTO_ABI);
	char text[CNP_SCRAM_VERIFIER_MAX];
	struct cnp_scram_verifier verifier;

	if (*password == '\0') {
		fputs("cenoted: the password is empty\n", stderr);
		return 1;
	}
	if (cnp_scram_verifier_make(
		    crypto->hash, password, CNP_SCRAM_ITERATIONS, &verifier) < 0) {
		fputs("cenoted: OpenSSL cannot make a verifier\n", stderr);
		return 1;
	}
	cnp_scram_verifier_text(&verifier, text);
	printf("%s:%s\n", name, text);
	return fflush(stdout) == 0 ? 0 : 1;
}

int
cnd_newuser(const char *name)
{
	char password[PASSWORD_MAX];
	const char *fault = cnd_user_name_fault(name);
	int status = 1;
	int r;

	if (fault != NULL) {
		fprintf(stderr, "cenoted: \"%s\" cannot be the name of a user: %s\n",
			name, fault);
		return 2;
	}
	if (cn_crypto_get(CN_CRYPTO_ABI) == NULL) {
		fputs("cenoted: this build has no OpenSSL\n", stderr);
		return 1;
	}
	r = isatty(STDIN_FILENO) ? ask_twice(password)
				 : read_line(STDIN_FILENO, password);
	if (r == 0)
		status = print_user(name, password);
	cnc_wipe(password, sizeof(password));
	return status;
}
