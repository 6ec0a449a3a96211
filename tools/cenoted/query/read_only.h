/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_READ_ONLY_H
#define CND_READ_ONLY_H

#include "query_rules.h"

/*
 * Why a pool with `read_only = yes` refuses a statement; NULL: it does not. The server itself refuses writes, since all
 * transactions are read-only. So this is about texts with which a client could make a transaction read-write.
 * dialect: enum cnc_sql_dialect.
 */
const char *cnd_read_only_fault(const struct cnd_query *q, uint32_t dialect);

#endif
