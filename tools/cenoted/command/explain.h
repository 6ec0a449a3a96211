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

/*
 * cenoted --explain-sql pool=… [user=…] [from=ADDRESS|unix] [application=…] [in_tx=yes|no] [database=…] [time=…] STATEMENT: print what the pool's
 * rules see in the statement, and which rule decides. Exit status: 0: the statement passes; 1: it is denied; 2: wrong usage.
 */
int cnd_explain_sql(const struct cnd_config *c, char *const *words, int n_words);

#endif
