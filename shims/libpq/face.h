/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_FACE_H
#define CPQ_FACE_H

/*
 * libpq's names and types. The header comes from the installed PostgreSQL. This file declares what later
 * versions added, so that one build serves all versions.
 */
#include <stdint.h>

#include <libpq-events.h>
#include <libpq-fe.h>

/* A macro in the header, but the library must export a function. */
#undef PQfreeNotify
void PQfreeNotify(PGnotify *notify);

#define CPQ_EXPORT __attribute__((visibility("default")))

/* libpq 17 calls it pg_usec_time_t. */
typedef int64_t cpq_usec;

#ifndef LIBPQ_HAS_ASYNC_CANCEL
typedef struct pg_cancel_conn PGcancelConn;
#endif

/* libpq 18: PQauthDataHook_type, with an enum for its first argument. */
typedef int (*cpq_auth_hook)(int type, PGconn *conn, void *data);

/* Not in libpq-fe.h, but exported for psql and old programs. */
CPQ_EXPORT int pg_valid_server_encoding(const char *name);
CPQ_EXPORT int pg_utf_mblen(const unsigned char *s);

#endif
