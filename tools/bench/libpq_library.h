/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_LIBPQ_LIBRARY_H
#define CNB_LIBPQ_LIBRARY_H

#include <libpq-fe.h>

#include "bench.h"

/* libpq, with which this program is linked, and the shim that replaces it. Both are in the process,
 * so calls go through tables, which cost the same as calls of a shared library. */
#define CNB_LIBPQ_FUNCTIONS(X)                                                           \
	X(PQclear)                                                                       \
	X(PQconnectdb)                                                                   \
	X(PQconsumeInput)                                                                \
	X(PQenterPipelineMode)                                                           \
	X(PQerrorMessage)                                                                \
	X(PQexec)                                                                        \
	X(PQexecPrepared)                                                                \
	X(PQexitPipelineMode)                                                            \
	X(PQfinish)                                                                      \
	X(PQflush)                                                                       \
	X(PQgetResult)                                                                   \
	X(PQgetlength)                                                                   \
	X(PQgetvalue)                                                                    \
	X(PQisBusy)                                                                      \
	X(PQnfields)                                                                     \
	X(PQntuples)                                                                     \
	X(PQpipelineSync)                                                                \
	X(PQprepare)                                                                     \
	X(PQputCopyData)                                                                 \
	X(PQputCopyEnd)                                                                  \
	X(PQresultErrorMessage)                                                          \
	X(PQresultStatus)                                                                \
	X(PQsendQuery)                                                                   \
	X(PQsendQueryParams)                                                             \
	X(PQsetNoticeReceiver)                                                           \
	X(PQsetSingleRowMode)                                                            \
	X(PQsetnonblocking)                                                              \
	X(PQsocket)                                                                      \
	X(PQstatus)

#define CNB_LIBPQ_MEMBER(name) __typeof__(name) *name;
struct cnb_libpq {
	CNB_LIBPQ_FUNCTIONS(CNB_LIBPQ_MEMBER)
};

/* The original library. */
const struct cnb_libpq *cnb_libpq(void);
/* The shim, which connects to the pool of that URI. It is opened at the first call and never
 * closed. */
const struct cnb_libpq *cnb_libpq_shim(const char *uri, struct cnb_error *ret_error);

#endif
