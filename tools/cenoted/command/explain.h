/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_EXPLAIN_H
#define CND_EXPLAIN_H

#include "config/config.h"

/* cenoted --explain-auth pool=… [user=…] [from=ADDRESS|unix] [tls=yes|no] [cert=yes|no]: which rule decides, and why
 * those before it do not. The exit status: 0 somebody gets in by it, 1 nobody does, 2 wrong usage. */
int cnd_explain_auth(const struct cnd_config *c, char *const *words, int n_words);

#endif
