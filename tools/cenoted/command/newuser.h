/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NEWUSER_H
#define CND_NEWUSER_H

/* cenoted --user NAME: a line for a users file on standard output; the password is asked for twice at a terminal, else
 * it is the first line of standard input. The exit status. */
int cnd_newuser(const char *name);

#endif
