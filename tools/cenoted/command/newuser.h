/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NEWUSER_H
#define CND_NEWUSER_H

/* cenoted --user NAME: print a line for a users file. It asks twice for the password at a terminal;
 * otherwise it reads the first line of standard input. Returns the exit status. */
int cnd_newuser(const char *name);

#endif
