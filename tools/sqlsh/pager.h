/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_PAGER_H
#define SQLSH_PAGER_H

#include <stddef.h>
#include <stdio.h>

/* A program that shows text larger than the screen. */

/* The pager if PAGER is not set. */
#define PAGER_DEFAULT "command -v less >/dev/null && exec less -S; exec cat"

/* Whether the text and a prompt below it fit the screen. */
int pager_fits(const char *text, size_t len, size_t rows, size_t columns);
/* Start the pager if the text does not fit the terminal, or if more will follow. NULL: write to
 * standard output instead. */
FILE *pager_open(const char *command, const char *text, size_t len, int is_whole);
/* Wait until the pager ends. */
void pager_close(FILE *pager);

#endif
