/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of the process for statistics. All numbers come from the scoreboard and are read for
 * each request. stats.c calls this file.
 *
 * The names of pools and backends have no character that JSON or OpenMetrics escapes
 * (is_pool_name() in config.c, is_name() in module.c), and only the master writes them. Of what workers
 * wrote, only the digests of statements are shown, in JSON. All other texts here are constants.
 */
#include "stats_internal.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cenote/types.h>

#include "shared/status.h"

#define OK          200u
#define UNAVAILABLE 503u
#define N_ITEMS(a)  (sizeof(a) / sizeof((a)[0]))

/* An asker who may see nothing private. */
static const struct cnd_asker anybody = { .uid = (uid_t)-1,
	.cenoted = (uid_t)-1,
	.pool = CND_POOL_RECORD,
	.slot = -1,
	.may_read_sql = true };

/* ---- the numbers ---- */

/* What the sessions of a pool have, counted by their slots. */
struct counts {
	uint64_t lent; /* clients that have the server's socket */
	uint64_t transactions;
	uint64_t tls_clients;
	uint64_t tls_servers;
};

struct pool {
	struct cnd_status_row row;
	struct counts counts;
};

/* One request is answered at a time. */
static struct pool pools[CND_POOL_RECORD];
static size_t n_pools;

static struct pool *
find_pool(uint32_t index)
{
	for (size_t i = 0; i < n_pools; i++) {
		if (pools[i].row.index == index)
			return &pools[i];
	}
	return NULL;
}

static void
count_slot(const struct cnd_scoreboard *b, uint32_t slot)
{
	const struct cnd_slot *s = cnd_slot_at(b, slot);
	struct pool *p = cnd_slot_head(b, slot)->pid != 0
				 ? find_pool(cnd_slot_head(b, slot)->pool)
				 : NULL;
	uint32_t state = s->state;
	struct cnd_identity identity;
	struct cnd_login login;

	if (p == NULL)
		return;
	cnd_slot_login(s, &login);
	p->counts.tls_servers += login.tls[0] != '\0';
	if (state != CND_SLOT_ATTACHED && state != CND_SLOT_SUSPENDED)
		return;
	cnd_slot_identity(s, &identity);
	p->counts.tls_clients += identity.tls[0] != '\0';
	p->counts.lent += s->is_lent != 0;
	p->counts.transactions += s->tx != CENOTE_TX_IDLE;
}

/* Read the pools of the configuration, and not those that it has no more, whose last clients are
 * still here: a new pool may have the same name. */
static void
read_pools(struct cnd_scoreboard *b)
{
	n_pools = 0;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		struct pool *p = &pools[n_pools];

		*p = (struct pool){ .counts = { 0 } };
		if (cnd_status_kinds[CND_STATUS_POOLS].read(b, i, &anybody, &p->row) &&
			p->row.head->max_sessions > 0)
			n_pools++;
	}
	for (uint32_t i = 0; i < b->n_slots; i++)
		count_slot(b, i);
}

/* ---- OpenMetrics 1.0 ---- */

static void
begin_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

static void
write_fields(FILE *out)
{
	const struct cnd_status_kind *k = &cnd_status_kinds[CND_STATUS_POOLS];

	for (uint32_t i = 0; i < k->n_fields; i++) {
		const struct cnd_status_field *f = &k->fields[i];
		char name[64];

		if (f->metric == NULL)
			continue;
		snprintf(name, sizeof(name), "cenote_pool_%s", f->metric);
		begin_family(out, name, f->is_counter ? "counter" : "gauge", f->help);
		for (size_t p = 0; p < n_pools; p++)
			fprintf(out, "%s%s{pool=\"%s\"} %llu\n", name,
				f->is_counter ? "_total" : "", pools[p].row.head->name,
				(unsigned long long)f->number(&pools[p].row));
	}
}

/* One sample of a metric that has a second label. */
static void
write_sample(FILE *out, const char *name, const struct pool *p, const char *label,
	const char *value, uint64_t n)
{
	fprintf(out, "cenote_pool_%s{pool=\"%s\",%s=\"%s\"} %llu\n", name,
		p->row.head->name, label, value, (unsigned long long)n);
}

static void
write_states(FILE *out)
{
	begin_family(out, "cenote_pool_sessions", "gauge", "Sessions by their state.");
	for (size_t p = 0; p < n_pools; p++) {
		for (uint32_t i = CND_SLOT_FREE + 1; i < CND_SLOT_STATES; i++)
			write_sample(out, "sessions", &pools[p], "state",
				cnd_slot_states[i].name, pools[p].row.census.n[i]);
	}
}

static void
write_pins(FILE *out)
{
	begin_family(out, "cenote_pool_pinned_sessions", "gauge",
		"Sessions that stay with their client, by the reason. One session may "
		"have "
		"several.");
	for (size_t p = 0; p < n_pools; p++) {
		write_sample(out, "pinned_sessions", &pools[p], "pin", "transaction",
			pools[p].counts.transactions);
		for (size_t i = 0; i < CND_PINS; i++)
			write_sample(out, "pinned_sessions", &pools[p], "pin",
				cnd_pin_names[i].key, pools[p].row.census.pins[i]);
	}
	begin_family(out, "cenote_pool_pins", "counter",
		"How often a pin began to keep a session with its client.");
	for (size_t p = 0; p < n_pools; p++) {
		for (size_t i = 0; i < CND_PINS; i++)
			write_sample(out, "pins_total", &pools[p], "pin",
				cnd_pin_names[i].key, pools[p].row.pool->pins[i]);
	}
}

static void
write_tls(FILE *out)
{
	begin_family(out, "cenote_pool_tls_sessions", "gauge",
		"Sessions with TLS, to the client or to the server.");
	for (size_t p = 0; p < n_pools; p++) {
		write_sample(out, "tls_sessions", &pools[p], "side", "client",
			pools[p].counts.tls_clients);
		write_sample(out, "tls_sessions", &pools[p], "side", "server",
			pools[p].counts.tls_servers);
	}
}

static void
write_lines(FILE *out)
{
	char number[16];

	begin_family(out, "cenote_pool_server_sessions", "gauge",
		"Sessions of each server line, counted from 1.");
	for (size_t p = 0; p < n_pools; p++) {
		for (uint32_t i = 0; i < pools[p].row.head->n_servers; i++) {
			snprintf(number, sizeof(number), "%u", i + 1);
			write_sample(out, "server_sessions", &pools[p], "line", number,
				pools[p].row.pool->line_sessions[i]);
		}
	}
}

/* ---- roles and lag, as the servers of pools with `target` reported them ---- */

struct line_gauge {
	const char *name;
	const char *help;
	/* Negative: unknown, so there is no sample. */
	double (*value)(const struct cnd_pool_record *p, uint32_t line);
};

static double
is_primary(const struct cnd_pool_record *p, uint32_t line)
{
	return p->line_role[line] == CND_ROLE_PRIMARY;
}

static double
suits(const struct cnd_pool_record *p, uint32_t line)
{
	return p->line_suits[line] != 0;
}

static double
lag_of(const struct cnd_pool_record *p, uint32_t line)
{
	int64_t ms = p->line_lag_ms[line];

	if (p->line_role[line] != CND_ROLE_REPLICA || ms == CND_LAG_STOPPED)
		return -1;
	return (double)ms / 1000;
}

static void
write_line_gauge(FILE *out, const struct pool *p, const struct line_gauge *g)
{
	const struct cnd_pool_record *record = p->row.pool;

	for (uint32_t i = 0; i < p->row.head->n_servers; i++) {
		double value = record->line_role[i] != CND_ROLE_UNKNOWN
				       ? g->value(record, i)
				       : -1;

		if (value >= 0)
			fprintf(out, "%s{pool=\"%s\",line=\"%u\"} %.9g\n", g->name,
				p->row.head->name, i + 1, value);
	}
}

static void
write_roles(FILE *out)
{
	static const struct line_gauge gauges[] = {
		{ "cenote_pool_server_primary",
			"1 if the server of the line last reported that it is a primary.",
			is_primary },
		{ "cenote_pool_server_suits",
			"1 if the server has a role and a lag with which the pool uses "
			"it.",
			suits },
		{ "cenote_pool_server_lag_seconds",
			"How far the replica was behind when it was last asked.",
			lag_of },
	};

	for (size_t i = 0; i < N_ITEMS(gauges); i++) {
		begin_family(out, gauges[i].name, "gauge", gauges[i].help);
		for (size_t p = 0; p < n_pools; p++) {
			if (pools[p].row.head->target != CND_TARGET_ANY)
				write_line_gauge(out, &pools[p], &gauges[i]);
		}
	}
}

static void
write_certificates(FILE *out)
{
	static const char name[] = "cenote_pool_certificate_end_time_seconds";

	begin_family(out, name, "gauge", "The day on which tls_cert ends, since 1970.");
	fprintf(out, "# UNIT %s seconds\n", name);
	for (size_t p = 0; p < n_pools; p++) {
		int64_t end = pools[p].row.head->certificate_end_s;

		if (end != 0)
			fprintf(out, "%s{pool=\"%s\"} %lld\n", name,
				pools[p].row.head->name, (long long)end);
	}
}

static void
write_lent(FILE *out)
{
	begin_family(out, "cenote_pool_lent_sessions", "gauge",
		"Sessions whose client has the server's socket.");
	for (size_t p = 0; p < n_pools; p++)
		fprintf(out, "cenote_pool_lent_sessions{pool=\"%s\"} %llu\n",
			pools[p].row.head->name,
			(unsigned long long)pools[p].counts.lent);
}

/* `line`: from 1; 0: the whole pool. */
static void
write_buckets(FILE *out, const char *name, const struct pool *p, uint32_t line,
	const struct cnd_times *times)
{
	char labels[CND_POOL_NAME_MAX + 32];
	unsigned long long n = 0;
	int len = snprintf(labels, sizeof(labels), "pool=\"%s\"", p->row.head->name);

	if (line > 0)
		snprintf(
			labels + len, sizeof(labels) - (size_t)len, ",line=\"%u\"", line);
	for (uint32_t i = 0; i < CND_BUCKETS; i++) {
		n += times->n[i];
		fprintf(out, "%s_bucket{%s,le=\"", name, labels);
		if (i + 1 < CND_BUCKETS)
			fprintf(out, "%.9g\"} %llu\n",
				(double)cnd_bucket_limit_us(i) / 1e6, n);
		else
			fprintf(out, "+Inf\"} %llu\n", n);
	}
	fprintf(out, "%s_count{%s} %llu\n%s_sum{%s} %.6f\n", name, labels, n, name,
		labels, (double)times->sum_us / 1e6);
}

static void
write_histogram(FILE *out, const char *name, const char *help, size_t offset)
{
	struct cnd_times times;

	begin_family(out, name, "histogram", help);
	fprintf(out, "# UNIT %s seconds\n", name);
	for (size_t p = 0; p < n_pools; p++) {
		cnd_histogram_read(
			(const void *)((const char *)pools[p].row.pool + offset), &times);
		write_buckets(out, name, &pools[p], 0, &times);
	}
}

/* Of pools with several server lines. */
static void
write_line_histogram(FILE *out, const char *name, const char *help, size_t offset)
{
	struct cnd_times times;

	begin_family(out, name, "histogram", help);
	fprintf(out, "# UNIT %s seconds\n", name);
	for (size_t p = 0; p < n_pools; p++) {
		const struct cnd_buckets *lines =
			(const void *)((const char *)pools[p].row.pool + offset);
		uint32_t n = pools[p].row.head->n_servers;

		for (uint32_t i = 0; n > 1 && i < n; i++) {
			cnd_buckets_read(&lines[i], &times);
			write_buckets(out, name, &pools[p], i + 1, &times);
		}
	}
}

static void
write_times(FILE *out)
{
	write_histogram(out, "cenote_pool_request_seconds",
		"How long requests took in the worker and the server.",
		offsetof(struct cnd_pool_record, request_time));
	write_histogram(out, "cenote_pool_waiting_seconds",
		"How long clients waited for a session that came through the door or "
		"stayed.",
		offsetof(struct cnd_pool_record, waiting_time));
	write_histogram(out, "cenote_pool_session_seconds",
		"How long clients had a session.",
		offsetof(struct cnd_pool_record, session_time));
	write_histogram(out, "cenote_pool_login_seconds",
		"How long logins to the server took that succeeded.",
		offsetof(struct cnd_pool_record, login_time));
	write_line_histogram(out, "cenote_pool_server_request_seconds",
		"How long requests took on each server line, if there are several.",
		offsetof(struct cnd_pool_record, line_requests));
	write_line_histogram(out, "cenote_pool_server_login_seconds",
		"How long logins took on each server line, if there are several.",
		offsetof(struct cnd_pool_record, line_logins));
}

static void
write_rules(FILE *out)
{
	begin_family(out, "cenote_rule_decisions", "counter",
		"How often each rule matched a statement, also in a dry run.");
	for (size_t p = 0; p < n_pools; p++) {
		const struct cnd_pool_head *head = pools[p].row.head;

		for (uint32_t i = 0; i < head->n_rules && i < CND_QUERY_RULES_MAX; i++) {
			const struct cnd_rule_head *rule = &head->rules[i];

			fprintf(out,
				"cenote_rule_decisions_total{pool=\"%s\",line=\"%u\","
				"action=\"%s\",dry_run=\"%s\"} %llu\n",
				head->name, rule->line,
				cnd_query_action_name((uint8_t)rule->action),
				rule->is_dry_run ? "yes" : "no",
				(unsigned long long)pools[p].row.pool->rule_decisions[i]);
		}
	}
}

static const struct {
	const char *name, *type, *suffix, *help;
	size_t at; /* in the counts */
} cache_families[] = {
	{ "cenote_cache_hits", "counter", "_total",
		"Statements that the pool's cache answered.",
		offsetof(struct cnd_cache_counts, hits) },
	{ "cenote_cache_misses", "counter", "_total",
		"Statements that a rule keeps, and that the server answered.",
		offsetof(struct cnd_cache_counts, misses) },
	{ "cenote_cache_kept", "counter", "_total",
		"Results that the pool's cache has kept.",
		offsetof(struct cnd_cache_counts, kept) },
	{ "cenote_cache_evicted", "counter", "_total", "Results that gave way to others.",
		offsetof(struct cnd_cache_counts, evicted) },
	{ "cenote_cache_bytes", "gauge", "",
		"How much of the memory of the pool's cache was written.",
		offsetof(struct cnd_cache_counts, bytes) },
};

static void
write_caches(FILE *out)
{
	for (size_t f = 0; f < N_ITEMS(cache_families); f++) {
		begin_family(out, cache_families[f].name, cache_families[f].type,
			cache_families[f].help);
		for (size_t p = 0; p < n_pools; p++) {
			const char *counts = (const char *)&pools[p].row.pool->cache;
			const _Atomic uint64_t *n =
				(const void *)(counts + cache_families[f].at);

			if (pools[p].row.head->cache_size > 0)
				fprintf(out, "%s%s{pool=\"%s\"} %llu\n",
					cache_families[f].name, cache_families[f].suffix,
					pools[p].row.head->name, (unsigned long long)*n);
		}
	}
}

static void
write_process(const struct cnd_child *child, FILE *out)
{
	begin_family(out, "cenote_sessions_limit", "gauge",
		"The most sessions of all pools together.");
	fprintf(out, "cenote_sessions_limit %u\n", child->board->n_slots);
	begin_family(out, "process_start_time_seconds", "gauge",
		"When cenoted started, since 1970.");
	fprintf(out,
		"# UNIT process_start_time_seconds seconds\n"
		"process_start_time_seconds %lld\n",
		(long long)child->started_s);
	begin_family(out, "cenote_build", "info", "The version of cenoted.");
	fprintf(out, "cenote_build_info{version=\"%s\"} 1\n", CND_VERSION);
}

static unsigned
write_metrics(const struct cnd_child *child, FILE *out)
{
	static void (*const parts[])(FILE * out) = { write_fields, write_states,
		write_pins, write_tls, write_lines, write_roles, write_lent,
		write_certificates, write_times, write_rules, write_caches };

	read_pools(child->board);
	for (size_t i = 0; i < N_ITEMS(parts); i++)
		parts[i](out);
	write_process(child, out);
	fputs("# EOF\n", out);
	return OK;
}

/* ---- for programs that watch cenoted ---- */

/* The master notes each second that it works. It may need longer during a reload, when it looks up names. */
#define BEAT_LATE_MS 10000

static unsigned
write_live(const struct cnd_child *child, FILE *out)
{
	int64_t silent_ms = cnd_now_ms() - cnd_scoreboard_last_beat_ms(child->board);

	if (getppid() != child->master) {
		fputs("the master has ended\n", out);
		return UNAVAILABLE;
	}
	if (silent_ms > BEAT_LATE_MS) {
		fprintf(out, "the master has not worked for %lld s\n",
			(long long)silent_ms / 1000);
		return UNAVAILABLE;
	}
	fputs("alive\n", out);
	return OK;
}

/* A pool that keeps no sessions is ready without one, unless its server refuses them. */
static int
is_ready(const struct cnd_status_row *r)
{
	const struct cnd_census *c = &r->census;

	return c->n[CND_SLOT_IDLE] + c->in_use > 0 ||
	       (r->head->min_sessions == 0 && c->n[CND_SLOT_FAILING] == 0);
}

static unsigned
write_ready(const struct cnd_child *child, FILE *out)
{
	unsigned status = OK;

	read_pools(child->board);
	for (size_t i = 0; i < n_pools; i++) {
		if (is_ready(&pools[i].row))
			continue;
		fprintf(out, "%s%s", status == OK ? "no session is logged in: " : ", ",
			pools[i].row.head->name);
		status = UNAVAILABLE;
	}
	fputs(status == OK ? "ready\n" : "\n", out);
	return status;
}

/* ---- JSON ---- */

/* How many digests of a pool are shown: those with the longest total time. cenotectl shows all. */
#define DIGESTS_MAX 20u

/* The texts are UTF-8 and have no control characters. */
static void
write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* What the sessions of a pool have. */
static void
write_counts(FILE *out, const struct cnd_status_row *row)
{
	const struct pool *p = find_pool(row->index);

	if (p != NULL)
		fprintf(out,
			",\"pinned\":%u,\"lent\":%llu,\"tls_clients\":%llu,\"tls_"
			"servers\":%llu",
			row->census.pinned, (unsigned long long)p->counts.lent,
			(unsigned long long)p->counts.tls_clients,
			(unsigned long long)p->counts.tls_servers);
}

static void
write_row(FILE *out, const struct cnd_status_kind *k, const struct cnd_status_row *row)
{
	const char *between = "{";

	for (uint32_t i = 0; i < k->n_fields; i++) {
		const struct cnd_status_field *f = &k->fields[i];

		if (f->is_private)
			continue;
		fprintf(out, "%s\"%s\":", between, f->name);
		if (f->number != NULL)
			fprintf(out, "%lld", (long long)f->number(row));
		else
			write_text(out, f->text(row));
		between = ",";
	}
	if (k == &cnd_status_kinds[CND_STATUS_POOLS])
		write_counts(out, row);
	fputc('}', out);
}

static unsigned
write_status(const struct cnd_child *child, FILE *out)
{
	struct cnd_status_row row;

	read_pools(child->board);
	fprintf(out, "{\"version\":\"%s\",\"started\":%lld", CND_VERSION,
		(long long)child->started_s);
	for (size_t i = 0; i < CND_STATUS_KINDS; i++) {
		const struct cnd_status_kind *k = &cnd_status_kinds[i];
		const char *between = "\n";

		fprintf(out, ",\n\"%s\":[", k->what);
		for (uint32_t n = 0; n < cnd_status_most(k, child->board); n++) {
			if (i == CND_STATUS_DIGESTS && n % k->a_pool >= DIGESTS_MAX)
				continue;
			if (!k->read(child->board, n, &anybody, &row))
				continue;
			fputs(between, out);
			write_row(out, k, &row);
			between = ",\n";
		}
		fputc(']', out);
	}
	fputs("}\n", out);
	return OK;
}

static unsigned
write_page(const struct cnd_child *child, FILE *out)
{
	(void)child;
	fputs(cnd_stats_page, out);
	return OK;
}

const struct cnd_page *
cnd_page_find(const char *path)
{
	static const struct cnd_page pages[] = {
		{ "/", "text/html; charset=utf-8", write_page },
		{ "/metrics",
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
			write_metrics },
		{ "/status.json", "application/json", write_status },
		{ "/live", "text/plain", write_live },
		{ "/ready", "text/plain", write_ready },
	};

	for (size_t i = 0; i < N_ITEMS(pages); i++) {
		if (strcmp(path, pages[i].path) == 0)
			return &pages[i];
	}
	return NULL;
}
