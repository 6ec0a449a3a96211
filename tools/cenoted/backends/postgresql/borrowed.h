/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_BORROWED_H
#define CND_PG_BORROWED_H

#include "../backend.h"

/* The backend of a client that has borrowed a session: it can do all but log in. For the module cenote-loan.so. */
const struct cnd_backend *cnd_pg_borrowed(void);

#endif
