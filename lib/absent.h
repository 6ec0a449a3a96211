/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_ABSENT_H
#define CN_ABSENT_H

#include "target.h"

#define CN_ABSENT_MAX 384u

/*
 * Why there was no way in by the unix sockets that were tried, as far as the run directories tell. 1: a cenoted is there,
 * but not the pool. "": nothing can be said, as of TCP.
 */
int cn_absent_explain(const struct cn_targets *t, char out[CN_ABSENT_MAX]);

#endif
