/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the fields of an error for the client. Each backend fills struct cnd_error from what its library
 * reports. It has no state.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/sqlstate.h"
#include "core/value.h"

#define FIELDS_MAX ((size_t)64 << 10)

static int
put_text(struct cnc_buf *b, char letter, struct cnp_str text)
{
	return text.n > 0 ? cnc_diag_put_field(b, letter, text.p, text.n) : CENOTE_OK;
}

static int
put_number(struct cnc_buf *b, char letter, int64_t number)
{
	char text[CNC_VALUE_TEXT_MAX];

	return number == 0 ? CENOTE_OK
			   : cnc_diag_put_field(
				     b, letter, text, cnc_int64_text(number, text));
}

static int
put_fields(struct cnc_buf *b, const struct cnd_error *e)
{
	const char *level = e->level != NULL ? e->level : e->severity;
	const struct {
		char letter;
		const char *text;
	} texts[] = { { 'S', level != NULL ? level : "ERROR" }, { 'V', e->severity },
		{ 'C', e->state }, { 'X', e->server_state }, { 'M', e->message },
		{ 'D', e->detail }, { 'H', e->hint }, { 'B', e->server },
		{ 'R', e->procedure } };
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].text != NULL)
			r = put_text(b, texts[i].letter, cnp_str(texts[i].text));
	}
	if (r == CENOTE_OK)
		r = put_text(b, 't', e->table);
	if (r == CENOTE_OK)
		r = put_text(b, 'c', e->column);
	if (r == CENOTE_OK)
		r = put_text(b, 'n', e->constraint);
	if (r == CENOTE_OK)
		r = put_number(b, 'N', e->native);
	if (r == CENOTE_OK)
		r = put_number(b, 'L', e->line);
	return r == CENOTE_OK ? put_number(b, 'P', e->position) : r;
}

void
cnd_error_set(struct cnc_diag *diag, const struct cnd_error *e)
{
	struct cnc_buf b;

	if (diag == NULL)
		return;
	cnc_buf_init(&b, diag->mem != NULL ? diag->mem : &cnc_mem_default, FIELDS_MAX);
	if (put_fields(&b, e) < 0 ||
		cnc_diag_set_fields(diag, cnc_buf_head(&b), cnc_buf_len(&b)) < 0)
		cnc_diag_set(diag, e->state, "%s", e->message);
	diag->native = (int32_t)e->native;
	cnc_buf_finish(&b);
}

int
cnd_refuse(struct cnc_diag *diag, const char *sqlstate, const char *hint,
	const char *format, ...)
{
	char message[CNC_DIAG_MESSAGE_MAX];
	const struct cnd_error e = {
		.severity = "ERROR", .state = sqlstate, .hint = hint, .message = message
	};
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	cnd_error_set(diag, &e);
	return CENOTE_ERR_SERVER;
}

int
cnd_needs_login(struct cnc_diag *diag)
{
	cnc_diag_set(
		diag, CNC_SQLSTATE(OK), "the session holds what only a new login clears");
	return CENOTE_ERR_UNSUPPORTED;
}
