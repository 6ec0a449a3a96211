/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_EXPBUFFER_H
#define CPQ_EXPBUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "face.h"

/* The public struct of libpq's growing text (internal/pqexpbuffer.h of PostgreSQL). */
typedef struct PQExpBufferData {
	char *data;
	size_t len;
	size_t maxlen;
} PQExpBufferData;

typedef PQExpBufferData *PQExpBuffer;

CPQ_EXPORT PQExpBuffer createPQExpBuffer(void);
CPQ_EXPORT void initPQExpBuffer(PQExpBuffer str);
CPQ_EXPORT void destroyPQExpBuffer(PQExpBuffer str);
CPQ_EXPORT void termPQExpBuffer(PQExpBuffer str);
CPQ_EXPORT void resetPQExpBuffer(PQExpBuffer str);
/* Make room for `needed` more bytes. 0: there is not so much room, and the buffer is broken. */
CPQ_EXPORT int enlargePQExpBuffer(PQExpBuffer str, size_t needed);
CPQ_EXPORT void printfPQExpBuffer(PQExpBuffer str, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
CPQ_EXPORT void appendPQExpBuffer(PQExpBuffer str, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
CPQ_EXPORT bool appendPQExpBufferVA(PQExpBuffer str, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
CPQ_EXPORT void appendPQExpBufferStr(PQExpBuffer str, const char *data);
CPQ_EXPORT void appendPQExpBufferChar(PQExpBuffer str, char ch);
CPQ_EXPORT void appendBinaryPQExpBuffer(
	PQExpBuffer str, const char *data, size_t datalen);

#endif
