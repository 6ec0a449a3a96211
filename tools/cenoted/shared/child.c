/* SPDX-License-Identifier: BSD-2-Clause */
/* What the children of the master have in common. The children without clients, for statistics and notifications, call it. */
#include "child.h"

#include <signal.h>

void
cnd_child_set_signals(void)
{
	static const int ignored[] = { SIGINT, SIGHUP, SIGPIPE, SIGUSR1 };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction end = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGCHLD, &end, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
