/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of an answer that are the same from every server: results without rows, the end of a row, and the
 * canonical form of values that come as text. Backends call it, and it has no state.
 */
#include "answer.h"

#include "core/dt.h"
#include "core/mem.h"

int
cnd_done(struct cnd_sink *sink, const char *tag, uint8_t flags)
{
	const struct cnp_done done = {
		.tag = cnp_str(tag), .affected = -1, .flags = flags
	};

	return sink->ops->done(sink, &done);
}

const char *
cnd_savepoint_tag(uint8_t action)
{
	static const char *const tags[] = { "SAVEPOINT", "RELEASE", "ROLLBACK" };

	return tags[action];
}

struct cnp_param *
cnd_params_make(const struct cenote_allocator *mem, uint32_t n)
{
	struct cnp_param *params = cnc_calloc(mem, (size_t)n + 1, sizeof(*params));

	for (uint32_t i = 0; params != NULL && i < n; i++)
		params[i] = (struct cnp_param){ CENOTE_TYPE_NULL, 0, CNP_STR_NONE };
	return params;
}

int
cnd_params_send(struct cnd_sink *sink, const struct cenote_allocator *mem,
	struct cnp_param *params, uint32_t n, int r)
{
	if (params == NULL)
		return CENOTE_ERR_NOMEM;
	if (r == CENOTE_OK)
		r = sink->ops->params(sink, params, n);
	cnc_free(mem, params);
	return r;
}

int
cnd_row_end(struct cnc_batch *batch, int r)
{
	if (r == CENOTE_OK)
		cnc_batch_row_done(batch);
	else
		cnc_batch_row_undo(batch);
	return r;
}

/* Read the text, and write it again in canonical form. Returns the length, or 0 if the text is not of that
 * type. */
static size_t
make_canonical(uint8_t type, const char *p, size_t n, char *out)
{
	cenote_timestamp ts;
	uint64_t u64;
	int64_t i64;
	double d;

	switch (type) {
	case CENOTE_TYPE_INT64:
		return cnc_text_int64(p, n, &i64) < 0 ? 0 : cnc_int64_text(i64, out);
	case CENOTE_TYPE_UINT64:
		return cnc_text_uint64(p, n, &u64) < 0 ? 0 : cnc_uint64_text(u64, out);
	case CENOTE_TYPE_DOUBLE:
		return cnc_text_double(p, n, &d) < 0 ? 0 : cnc_double_text(d, out);
	case CENOTE_TYPE_DATE:
		return cnc_date_parse(p, n, &ts.date) < 0 ? 0
							  : cnc_date_text(&ts.date, out);
	case CENOTE_TYPE_TIME:
		return cnc_time_parse(p, n, &ts.time) < 0 ? 0
							  : cnc_time_text(&ts.time, out);
	case CENOTE_TYPE_TIMESTAMP:
		return cnc_timestamp_parse(p, n, &ts) < 0 ? 0
							  : cnc_timestamp_text(&ts, out);
	default:
		return 0;
	}
}

int
cnd_put_canonical(struct cnc_batch *batch, uint8_t type, const char *p, size_t n)
{
	char out[CNC_VALUE_TEXT_MAX + CNC_DT_TEXT_MAX];
	size_t len = make_canonical(type, p, n, out);

	return len > 0 ? cnc_batch_put(batch, out, len) : CENOTE_DONE;
}
