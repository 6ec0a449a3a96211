/* SPDX-License-Identifier: BSD-2-Clause */
#include "expbuffer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "face.h"

/*
 * PQExpBuffer: a growing text. psql and similar programs use it as well, and the struct is public.
 * A buffer that could not grow is "broken": it is empty, its size is 0, and it points to
 * broken_text. It stays broken until it is reset or initialised again.
 */
#define FIRST_SIZE 256u
/* Many callers keep offsets in an int. */
#define SIZE_MAX_  (size_t) INT_MAX

static const char broken_text[1] = "";

static int
is_broken(const PQExpBufferData *b)
{
	return b->maxlen == 0;
}

static void
set_broken(PQExpBuffer b)
{
	if (b->data != broken_text)
		free(b->data);
	/* Nobody writes into a buffer of size 0, so removing the const is safe. */
	b->data = (char *)(uintptr_t)broken_text;
	b->len = 0;
	b->maxlen = 0;
}

CPQ_EXPORT void
initPQExpBuffer(PQExpBuffer str)
{
	str->data = malloc(FIRST_SIZE);
	if (str->data == NULL) {
		set_broken(str);
		return;
	}
	str->maxlen = FIRST_SIZE;
	str->len = 0;
	str->data[0] = '\0';
}

CPQ_EXPORT PQExpBuffer
createPQExpBuffer(void)
{
	PQExpBuffer b = malloc(sizeof(*b));

	if (b != NULL)
		initPQExpBuffer(b);
	return b;
}

CPQ_EXPORT void
termPQExpBuffer(PQExpBuffer str)
{
	set_broken(str);
}

CPQ_EXPORT void
destroyPQExpBuffer(PQExpBuffer str)
{
	if (str == NULL)
		return;
	termPQExpBuffer(str);
	free(str);
}

CPQ_EXPORT void
resetPQExpBuffer(PQExpBuffer str)
{
	if (str == NULL)
		return;
	if (is_broken(str)) {
		initPQExpBuffer(str);
		return;
	}
	str->len = 0;
	str->data[0] = '\0';
}

CPQ_EXPORT int
enlargePQExpBuffer(PQExpBuffer str, size_t needed)
{
	size_t size;
	char *grown;

	if (is_broken(str))
		return 0;
	if (needed >= SIZE_MAX_ - str->len) {
		set_broken(str);
		return 0;
	}
	needed += str->len + 1;
	if (needed <= str->maxlen)
		return 1;
	size = str->maxlen;
	while (size < needed)
		size *= 2;
	if (size > SIZE_MAX_)
		size = SIZE_MAX_;
	grown = realloc(str->data, size);
	if (grown == NULL) {
		set_broken(str);
		return 0;
	}
	str->data = grown;
	str->maxlen = size;
	return 1;
}

CPQ_EXPORT void
appendBinaryPQExpBuffer(PQExpBuffer str, const char *data, size_t datalen)
{
	if (!enlargePQExpBuffer(str, datalen))
		return;
	memcpy(str->data + str->len, data, datalen);
	str->len += datalen;
	str->data[str->len] = '\0';
}

CPQ_EXPORT void
appendPQExpBufferStr(PQExpBuffer str, const char *data)
{
	appendBinaryPQExpBuffer(str, data, strlen(data));
}

CPQ_EXPORT void
appendPQExpBufferChar(PQExpBuffer str, char ch)
{
	appendBinaryPQExpBuffer(str, &ch, 1);
}

/* With less room than the first number, do not try to format, but make room for the second number
 * of bytes. Programs see the size in maxlen. */
#define WORTH_TRYING 16
#define ROOM_AT_ONCE 32

/* Format into the room that is left. 1: done, or the buffer is broken; 0: call again with
 * *ret_needed bytes of room. */
__attribute__((format(printf, 2, 0))) static int
try_append(PQExpBuffer str, const char *fmt, va_list args, size_t *ret_needed)
{
	size_t room = str->maxlen - str->len;
	va_list copy;
	int n;

	*ret_needed = ROOM_AT_ONCE;
	if (room <= WORTH_TRYING)
		return 0;
	va_copy(copy, args);
	n = vsnprintf(str->data + str->len, room, fmt, copy);
	va_end(copy);
	*ret_needed = (size_t)n + 1;
	if (n >= 0 && (size_t)n >= room)
		return 0;
	if (n < 0)
		set_broken(str);
	else
		str->len += (size_t)n;
	return 1;
}

__attribute__((format(printf, 2, 0))) static void
append_va(PQExpBuffer str, const char *fmt, va_list args)
{
	size_t needed;

	while (!is_broken(str) && !try_append(str, fmt, args, &needed))
		(void)enlargePQExpBuffer(str, needed);
}

CPQ_EXPORT void
printfPQExpBuffer(PQExpBuffer str, const char *fmt, ...)
{
	va_list args;

	resetPQExpBuffer(str);
	va_start(args, fmt);
	append_va(str, fmt, args);
	va_end(args);
}

CPQ_EXPORT void
appendPQExpBuffer(PQExpBuffer str, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	append_va(str, fmt, args);
	va_end(args);
}

/* As in libpq 18. 1: done, or the buffer is broken; 0: call again. */
CPQ_EXPORT bool
appendPQExpBufferVA(PQExpBuffer str, const char *fmt, va_list args)
{
	append_va(str, fmt, args);
	return true;
}
