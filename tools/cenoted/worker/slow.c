/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slow log: requests that took longer than the pool's log_min_duration. It owns w->failed_state and the number of lines that
 * the limit of this process has left out. owner.c calls it.
 */
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/sql.h"
#include "shared/log.h"
#include "shared/normal.h"

/* How many lines a process may write in each second: a server that has become slow must not fill the disk. */
#define LINES_PER_S   10u
/* Reading a longer statement to its end would keep the session's next request waiting. */
#define TRACE_SQL_MAX 1048576u

static struct {
	int64_t second;
	unsigned n; /* lines in that second */
	unsigned long n_left_out; /* since the last line */
} limit;

static bool
may_log(void)
{
	int64_t second = cnd_now_ms() / 1000;

	if (second != limit.second) {
		limit.second = second;
		limit.n = 0;
	}
	if (limit.n < LINES_PER_S) {
		limit.n++;
		return true;
	}
	limit.n_left_out++;
	return false;
}

bool
cnd_slow_is_on(const struct cnd_worker *w)
{
	return w->config->log_min_duration_ms > 0;
}

/* 0: not known. */
static uint32_t
rules_of(const struct cnd_serving *s, struct cnp_str sql)
{
	return s->backend->sql_rules != NULL && s->session != NULL
		       ? s->backend->sql_rules(s->session, sql.p, sql.n)
		       : 0;
}

/* The trace context of the statement is nearer than that of its connection. If the rules are not known, a text may pass for a
 * comment; then the line has the trace that this text names. */
static struct cnc_traceparent
trace_of(const struct cnd_worker *w, struct cnp_str sql, uint32_t rules)
{
	struct cnc_traceparent trace = w->client.trace;

	if (sql.n <= TRACE_SQL_MAX)
		(void)cnc_traceparent_find(sql.p, sql.n,
			rules != 0 ? rules : (uint32_t)CNC_SQL_UNKNOWN, &trace);
	return trace;
}

static void
write_line(const struct cnd_worker *w, const char *request,
	const struct cnd_normal *normal, const struct cnc_traceparent *trace, int64_t us)
{
	char ms[32], digest[24] = "", left_out[24] = "", rows[24];
	struct cnd_identity id;
	const struct cnd_log_field fields[] = {
		{ .name = "duration_ms",
			.value = ms,
			.is_number = true,
			.is_said = true },
		{ .name = "request", .value = request, .is_said = true },
		{ .name = "user", .value = id.user },
		{ .name = "application", .value = id.application },
		{ .name = "rows", .value = rows, .is_number = true },
		{ .name = "sqlstate", .value = w->failed_state },
		{ .name = "left_out", .value = left_out, .is_number = true },
		{ .name = "trace_id", .value = trace->trace_id },
		{ .name = "span_id", .value = trace->span_id },
		{ .name = "digest", .value = digest },
		{ .name = "statement", .value = normal->text },
	};

	cnd_slot_identity(w->slot, &id);
	(void)snprintf(ms, sizeof(ms), "%" PRId64 ".%03d", us / 1000, (int)(us % 1000));
	(void)snprintf(rows, sizeof(rows), "%" PRIu64, w->serving.result.n_rows);
	if (normal->hash != 0)
		(void)snprintf(digest, sizeof(digest), "%016" PRIx64, normal->hash);
	if (limit.n_left_out > 0)
		(void)snprintf(left_out, sizeof(left_out), "%lu", limit.n_left_out);
	limit.n_left_out = 0;
	cnd_log_fields(LOG_NOTICE, fields, sizeof(fields) / sizeof(fields[0]),
		"slow request: %s took %s ms", request, ms);
}

void
cnd_slow_log(const struct cnd_worker *w, const struct cnp_msg *m, int64_t us)
{
	struct cnc_traceparent trace;
	struct cnd_normal normal;
	struct cnp_str sql;
	uint32_t rules;

	if (us < w->config->log_min_duration_ms * 1000 || !may_log())
		return;
	sql = cnd_worker_sql_of(w, m);
	rules = rules_of(&w->serving, sql);
	cnd_normalise(rules, sql, &normal);
	trace = trace_of(w, sql, rules);
	write_line(w, cnp_msg_name(m->code), &normal, &trace, us);
}
