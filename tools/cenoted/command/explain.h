/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_EXPLAIN_H
#define CND_EXPLAIN_H

#include "config/config.h"

/*
 * cenoted --explain-auth pool=… [user=…] [from=ADDRESS|unix] [tls=yes|no] [cert=yes|no]: print
 * which rule decides, and why the rules before it do not. Exit status: 0: the rule may let the
 * client in; 1: it does not; 2: wrong usage.
 */
int cnd_explain_auth(const struct cnd_config *c, char *const *words, int n_words);

#endif
