/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_ABSENT_H
#define CN_ABSENT_H

#include "target.h"

#define CN_ABSENT_MAX 384u

/*
 * Explain why no unix socket of these targets led to a pool, as far as the run directories show.
 * Returns 1 if a cenoted runs there without this pool. `out` is "" if there is no explanation, as
 * with TCP.
 */
int cn_absent_explain(const struct cn_targets *t, char out[CN_ABSENT_MAX]);

#endif
