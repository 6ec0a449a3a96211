/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status of pools and workers: what each column is, and who may see it. It comes from the
 * scoreboard. Answers to status queries (answer.c) and the process that serves statistics use these
 * tables, so both say the same.
 */
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cenote/types.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define NUMBER(name, expression)                                                         \
	static int64_t name(const struct cnd_status_row *r)                              \
	{                                                                                \
		return (int64_t)(expression);                                            \
	}
#define TEXT(name, expression)                                                           \
	static const char *name(const struct cnd_status_row *r)                          \
	{                                                                                \
		return expression;                                                       \
	}

TEXT(pool_name, r->head->name)
TEXT(pool_backend, r->head->backend)
NUMBER(pool_min, r->head->min_sessions)
NUMBER(pool_max, r->head->max_sessions)
NUMBER(pool_live, r->census.live)
NUMBER(pool_idle, r->census.n[CND_SLOT_IDLE])
NUMBER(pool_in_use, r->census.in_use)
NUMBER(pool_suspended, r->census.n[CND_SLOT_SUSPENDED])
NUMBER(pool_failing, r->census.n[CND_SLOT_FAILING])
NUMBER(pool_waiting, r->pool->waiting)
NUMBER(pool_attaches, r->pool->attaches)
NUMBER(pool_requests, r->pool->requests)
NUMBER(pool_errors, r->pool->errors)
NUMBER(pool_yields, r->pool->yields)
NUMBER(pool_relogins, r->pool->relogins)
NUMBER(pool_queued, r->pool->queued)
NUMBER(pool_timeouts, r->pool->timeouts)
NUMBER(pool_failed_logins, r->pool->failed_logins)
NUMBER(pool_refused_logins, r->pool->refused_logins)
TEXT(worker_error, r->login.error)

#define DAY_S 86400

/* Whole days until the certificate ends; "": the pool has no TLS. The next call overwrites the text. */
static const char *
pool_certificate(const struct cnd_status_row *r)
{
	static char text[24];
	int64_t left = r->head->certificate_end_s - (int64_t)time(NULL);

	text[0] = '\0';
	if (r->head->certificate_end_s != 0)
		(void)snprintf(text, sizeof(text), "%lld",
			(long long)((left > 0 ? left + DAY_S - 1 : left) / DAY_S));
	return text;
}

NUMBER(worker_pid, cnd_slot_head(r->board, r->index)->pid)
TEXT(worker_state, r->state == CND_SLOT_ATTACHED && r->slot->is_lent
			   ? "lent"
			   : cnd_slot_states[r->state % CND_SLOT_STATES].name)
NUMBER(worker_state_ms, cnd_now_ms() - r->slot->since_ms)
TEXT(worker_server, r->login.server)
TEXT(worker_user, r->identity.user)
TEXT(worker_program, r->identity.program)
TEXT(worker_application, r->identity.application)
NUMBER(worker_client_pid, r->identity.pid)
TEXT(worker_tls, r->identity.tls)
TEXT(worker_server_tls, r->login.tls)
NUMBER(worker_attaches, r->slot->attaches)
NUMBER(worker_requests, r->slot->requests)
NUMBER(worker_errors, r->slot->errors)
NUMBER(pinned_s, (cnd_now_ms() - r->slot->pinned_ms) / 1000)
TEXT(pin_key, cnd_pin_names[r->pin].key)
NUMBER(pin_now, r->census.pins[r->pin])
NUMBER(pin_begun, r->pool->pins[r->pin])

/* Write `first` and the keys of the pins. The next call overwrites the text: a process has one thread, and each value is
 * copied before the next is read. */
static const char *
keys_of_pins(uint32_t pins, const char *first)
{
	static char text[128];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", first);

	for (size_t i = 0; i < CND_PINS; i++) {
		if (pins & 1u << i)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
				len > 0 ? "," : "", cnd_pin_names[i].key);
	}
	return text;
}

/* The reasons why the client's session cannot be yielded. */
static const char *
worker_pins(const struct cnd_status_row *r)
{
	if (r->state != CND_SLOT_ATTACHED && r->state != CND_SLOT_SUSPENDED)
		return "";
	return keys_of_pins(
		r->slot->pins, r->slot->tx != CENOTE_TX_IDLE ? "transaction" : "");
}

TEXT(pinned_by, keys_of_pins(r->slot->pinned, ""))

/* ---- servers ---- */

/* Whether the server was asked for its role. */
static bool
has_role(const struct cnd_status_row *r)
{
	return r->head->target != CND_TARGET_ANY &&
	       r->pool->line_asked_ms[r->line] != 0 &&
	       r->pool->line_role[r->line] != CND_ROLE_UNKNOWN;
}

static const char *
server_role(const struct cnd_status_row *r)
{
	if (!has_role(r))
		return "";
	return r->pool->line_role[r->line] == CND_ROLE_PRIMARY ? "primary" : "replica";
}

/* In milliseconds; -1: unknown, or the server is not a replica; -2: the replication has stopped. */
static int64_t
server_lag(const struct cnd_status_row *r)
{
	int64_t lag = r->pool->line_lag_ms[r->line];

	if (!has_role(r) || r->pool->line_role[r->line] != CND_ROLE_REPLICA)
		return -1;
	return lag == CND_LAG_STOPPED ? -2 : lag;
}

static const char *
server_use(const struct cnd_status_row *r)
{
	if (r->pool->line_failed_ms[r->line] != 0)
		return "failed";
	return has_role(r) && !r->pool->line_suits[r->line] ? "unsuitable" : "ok";
}

NUMBER(server_line, r->line + 1)
NUMBER(server_sessions, r->pool->line_sessions[r->line])
NUMBER(server_asked, has_role(r) ? cnd_now_ms() - r->pool->line_asked_ms[r->line] : -1)

/* ---- times ---- */

/* What a pool's histograms count. A pool with several server lines has more rows for each line, and one with `user_limits` for
 * each user there. */
static const struct {
	const char *what;
	size_t of_pool;
	size_t of_lines; /* 0: none */
} histograms[] = {
	{ "request", offsetof(struct cnd_pool_record, request_time),
		offsetof(struct cnd_pool_record, line_requests) },
	{ "waiting", offsetof(struct cnd_pool_record, waiting_time), 0 },
	{ "session", offsetof(struct cnd_pool_record, session_time), 0 },
	{ "login", offsetof(struct cnd_pool_record, login_time),
		offsetof(struct cnd_pool_record, line_logins) },
};
#define TIMES_OF_LINES ((uint32_t)N_ITEMS(histograms) * (CND_SERVERS_MAX + 1))
#define TIMES_OF_POOL  (TIMES_OF_LINES + CND_USER_LIMITS_MAX)

TEXT(times_what, r->what)
NUMBER(times_line, r->line)
TEXT(times_user, r->identity.user)
NUMBER(times_count, r->times.count)
NUMBER(times_mean, r->times.sum_us / r->times.count)
NUMBER(times_p50, r->times.p50_us)
NUMBER(times_p99, r->times.p99_us)
NUMBER(times_p999, r->times.p999_us)

/* ---- digests ---- */

/* As a number of 16 hexadecimal digits; "": all other statements. The next call overwrites the text. */
static const char *
digest_id(const struct cnd_status_row *r)
{
	static char text[17];

	text[0] = '\0';
	if (r->digest.hash != 0)
		(void)snprintf(text, sizeof(text), "%016llx",
			(unsigned long long)r->digest.hash);
	return text;
}

NUMBER(digest_calls, r->digest.calls)
NUMBER(digest_errors, r->digest.errors)
NUMBER(digest_rows, r->digest.rows)
NUMBER(digest_total, r->digest.time_us)
NUMBER(digest_mean, r->digest.time_us / r->digest.calls)
NUMBER(digest_p99, r->digest.p99_us)
TEXT(digest_query, r->digest.text)

/* ---- rules ---- */

static const struct cnd_rule_head *
rule_of(const struct cnd_status_row *r)
{
	return &r->head->rules[r->rule];
}

NUMBER(rule_line, rule_of(r)->line)
TEXT(rule_action, cnd_query_action_name((uint8_t)rule_of(r)->action))
TEXT(rule_is_dry_run, rule_of(r)->is_dry_run ? "yes" : "no")
NUMBER(rule_decisions, r->pool->rule_decisions[r->rule])
NUMBER(cache_size, r->head->cache_size)
NUMBER(cache_bytes, r->pool->cache.bytes)
NUMBER(cache_hits, r->pool->cache.hits)
NUMBER(cache_misses, r->pool->cache.misses)
NUMBER(cache_kept, r->pool->cache.kept)
NUMBER(cache_evicted, r->pool->cache.evicted)
TEXT(rule_text, rule_of(r)->text)

/* In a pool's table: a metric that goes up and down, and one that only grows. */
#define GAUGE(NAME, GET, METRIC, HELP)                                                   \
	{                                                                                \
		.name = (NAME), .number = (GET), .metric = (METRIC), .help = (HELP)      \
	}
#define COUNTER(NAME, GET, METRIC, HELP)                                                 \
	{                                                                                \
		.name = (NAME), .number = (GET), .metric = (METRIC), .help = (HELP),     \
		.is_counter = 1                                                          \
	}

static const struct cnd_status_field pool_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "backend", .text = pool_backend },
	GAUGE("min", pool_min, "min_sessions",
		"The fewest sessions that the pool keeps."),
	GAUGE("max", pool_max, "max_sessions", "The most sessions that the pool opens."),
	{ .name = "live", .number = pool_live },
	{ .name = "idle", .number = pool_idle },
	GAUGE("in_use", pool_in_use, "in_use_sessions",
		"Sessions that a client has, or that are reset after a client."),
	{ .name = "suspended", .number = pool_suspended },
	{ .name = "failing", .number = pool_failing },
	GAUGE("waiting", pool_waiting, "waiting_clients",
		"Clients that wait for a session now."),
	COUNTER("attaches", pool_attaches, "attaches",
		"How often a client got a session."),
	COUNTER("requests", pool_requests, "requests", "Requests of clients."),
	COUNTER("errors", pool_errors, "errors", "Requests that ended with an error."),
	COUNTER("yields", pool_yields, "yields",
		"How often the pool took a session back from a client that held "
		"nothing."),
	COUNTER("relogins", pool_relogins, "relogins",
		"How often a session logged in again because no reset was enough."),
	COUNTER("queued", pool_queued, "queued_clients", "Clients that had to wait."),
	COUNTER("timeouts", pool_timeouts, "queue_timeouts",
		"Clients that waited for queue_timeout and got no session."),
	COUNTER("failed_logins", pool_failed_logins, "failed_logins",
		"Logins to the server that failed."),
	COUNTER("refused_logins", pool_refused_logins, "refused_logins",
		"Clients that were refused by a rule or for a wrong password."),
	{ .name = "last_error", .text = worker_error, .is_private = 1 },
	{ .name = "certificate_days", .text = pool_certificate },
};

static const struct cnd_status_field worker_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "pid", .number = worker_pid },
	{ .name = "state", .text = worker_state },
	{ .name = "state_ms", .number = worker_state_ms },
	{ .name = "server", .text = worker_server, .is_private = 1 },
	{ .name = "user", .text = worker_user, .is_private = 1 },
	{ .name = "program", .text = worker_program, .is_private = 1 },
	{ .name = "application", .text = worker_application, .is_private = 1 },
	{ .name = "client_pid", .number = worker_client_pid, .is_private = 1 },
	{ .name = "attaches", .number = worker_attaches },
	{ .name = "requests", .number = worker_requests },
	{ .name = "errors", .number = worker_errors },
	{ .name = "pins", .text = worker_pins },
	{ .name = "last_error", .text = worker_error, .is_private = 1 },
	{ .name = "tls", .text = worker_tls, .is_private = 1 },
	{ .name = "server_tls", .text = worker_server_tls, .is_private = 1 },
};

static const struct cnd_status_field pinned_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "pid", .number = worker_pid },
	{ .name = "state", .text = worker_state },
	{ .name = "user", .text = worker_user, .is_private = 1 },
	{ .name = "program", .text = worker_program, .is_private = 1 },
	{ .name = "application", .text = worker_application, .is_private = 1 },
	{ .name = "client_pid", .number = worker_client_pid, .is_private = 1 },
	{ .name = "pins", .text = pinned_by },
	{ .name = "pinned_s", .number = pinned_s },
};

static const struct cnd_status_field client_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "client_pid", .number = worker_client_pid, .is_private = 1 },
	{ .name = "user", .text = worker_user, .is_private = 1 },
	{ .name = "program", .text = worker_program, .is_private = 1 },
	{ .name = "application", .text = worker_application, .is_private = 1 },
	{ .name = "state", .text = worker_state },
	{ .name = "state_ms", .number = worker_state_ms },
	{ .name = "pins", .text = worker_pins },
	{ .name = "tls", .text = worker_tls, .is_private = 1 },
	{ .name = "worker_pid", .number = worker_pid },
};

static const struct cnd_status_field pin_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "pin", .text = pin_key },
	{ .name = "pinned", .number = pin_now },
	{ .name = "begun", .number = pin_begun },
};

static const struct cnd_status_field server_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "line", .number = server_line },
	{ .name = "use", .text = server_use },
	{ .name = "role", .text = server_role },
	{ .name = "lag_ms", .number = server_lag },
	{ .name = "asked_ms", .number = server_asked },
	{ .name = "sessions", .number = server_sessions },
};

static const struct cnd_status_field times_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "time", .text = times_what },
	{ .name = "line", .number = times_line },
	{ .name = "user", .text = times_user, .is_private = 1 },
	{ .name = "count", .number = times_count },
	{ .name = "mean_us", .number = times_mean },
	{ .name = "p50_us", .number = times_p50 },
	{ .name = "p99_us", .number = times_p99 },
	{ .name = "p999_us", .number = times_p999 },
};

/* The names are those of PostgreSQL's pg_stat_statements, where it has such a column. */
static const struct cnd_status_field digest_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "queryid", .text = digest_id },
	{ .name = "calls", .number = digest_calls },
	{ .name = "errors", .number = digest_errors },
	{ .name = "rows", .number = digest_rows },
	{ .name = "total_us", .number = digest_total },
	{ .name = "mean_us", .number = digest_mean },
	{ .name = "p99_us", .number = digest_p99 },
	{ .name = "query", .text = digest_query },
};

static const struct cnd_status_field rule_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "line", .number = rule_line },
	{ .name = "action", .text = rule_action },
	{ .name = "dry_run", .text = rule_is_dry_run },
	{ .name = "decisions", .number = rule_decisions },
	{ .name = "rule", .text = rule_text, .is_private = 1 },
};

static const struct cnd_status_field cache_fields[] = {
	{ .name = "pool", .text = pool_name },
	{ .name = "size", .number = cache_size },
	{ .name = "bytes", .number = cache_bytes },
	{ .name = "hits", .number = cache_hits },
	{ .name = "misses", .number = cache_misses },
	{ .name = "kept", .number = cache_kept },
	{ .name = "evicted", .number = cache_evicted },
};

_Static_assert(N_ITEMS(pool_fields) <= CND_STATUS_FIELDS_MAX &&
		       N_ITEMS(worker_fields) <= CND_STATUS_FIELDS_MAX,
	"room for all columns");

static int
may_know_of(const struct cnd_asker *asker, uint32_t pool)
{
	return asker->pool == CND_POOL_RECORD || asker->pool == pool;
}

static int
read_pool(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	if (!cnd_pool_head(b, index)->is_used || !may_know_of(asker, index))
		return 0;
	*r = (struct cnd_status_row){ .board = b,
		.index = index,
		.head = cnd_pool_head(b, index),
		.pool = cnd_pool_record(b, index) };
	cnd_pool_census(b, index, &r->census);
	if (asker->slot >= 0 && cnd_slot_head(b, (uint32_t)asker->slot)->pool == index) {
		r->census.n[CND_SLOT_OPENING]--;
		r->census.n[CND_SLOT_IDLE]++;
		r->census.in_use--;
	}
	if (r->census.failing_slot >= 0)
		cnd_slot_login(
			cnd_slot_at(b, (uint32_t)r->census.failing_slot), &r->login);
	return 1;
}

/* Whether the asker may know who the client is: only the client's own user, and users who run the
 * pool, may. */
static int
may_know(const struct cnd_asker *asker, const struct cnd_identity *client)
{
	/* a TCP client has no user id, and must not match others without one */
	if (asker->uid == (uid_t)-1)
		return 0;
	return asker->uid == 0 || asker->uid == asker->cenoted ||
	       asker->uid == (uid_t)client->uid;
}

static int
read_worker(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	const struct cnd_slot_head *head = cnd_slot_head(b, index);
	const struct cnd_slot *slot;

	if (head->pid == 0 || !may_know_of(asker, head->pool))
		return 0;
	slot = cnd_slot_at(b, index);
	*r = (struct cnd_status_row){ .board = b,
		.index = index,
		.head = cnd_pool_head(b, head->pool),
		.pool = cnd_pool_record(b, head->pool),
		.slot = slot };
	r->state = asker->slot == (int)index ? (uint32_t)CND_SLOT_IDLE : slot->state;
	cnd_slot_identity(slot, &r->identity);
	if (!may_know(asker, &r->identity))
		r->identity = (struct cnd_identity){ .pid = 0 };
	cnd_slot_login(slot, &r->login);
	return 1;
}

static int
read_pinned(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	return read_worker(b, index, asker, r) && cnd_slot_pinned(r->slot, r->state) != 0;
}

static int
read_client(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	return read_worker(b, index, asker, r) &&
	       (r->state == CND_SLOT_ATTACHED || r->state == CND_SLOT_SUSPENDED);
}

static int
read_pin(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	uint32_t pool = index / CND_PINS, pin = index % CND_PINS;

	if (cnd_pool_record(b, pool)->pins[pin] == 0 || !read_pool(b, pool, asker, r))
		return 0;
	r->pin = pin;
	return 1;
}

static int
read_server(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	uint32_t pool = index / CND_SERVERS_MAX, line = index % CND_SERVERS_MAX;
	const struct cnd_pool_head *head = cnd_pool_head(b, pool);

	if (!head->is_used || line >= head->n_servers || !may_know_of(asker, pool))
		return 0;
	*r = (struct cnd_status_row){ .board = b,
		.index = index,
		.head = head,
		.pool = cnd_pool_record(b, pool),
		.line = line };
	return 1;
}

/* The times of a user of `user_limits`. Only those who see who the clients are see them. */
static int
read_user_times(const struct cnd_asker *asker, uint32_t user, struct cnd_status_row *r)
{
	if (!may_know(asker, &(struct cnd_identity){ .uid = -1 }))
		return 0;
	snprintf(r->identity.user, sizeof(r->identity.user), "%s",
		r->head->user_names[user]);
	if (r->identity.user[0] != '\0')
		cnd_buckets_read(&r->pool->user_requests[user], &r->times);
	return r->times.count > 0;
}

/* Line 0 is the whole pool. */
static int
read_times(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	uint32_t pool = index / TIMES_OF_POOL, at = index % TIMES_OF_POOL;
	uint32_t what = at / (CND_SERVERS_MAX + 1), line = at % (CND_SERVERS_MAX + 1);
	const char *record = (const char *)cnd_pool_record(b, pool);

	if (!cnd_pool_head(b, pool)->is_used || !may_know_of(asker, pool))
		return 0;
	*r = (struct cnd_status_row){ .board = b,
		.index = index,
		.head = cnd_pool_head(b, pool),
		.pool = cnd_pool_record(b, pool),
		.what = histograms[0].what };
	if (at >= TIMES_OF_LINES)
		return read_user_times(asker, at - TIMES_OF_LINES, r);
	r->what = histograms[what].what;
	r->line = line;
	if (line == 0)
		cnd_histogram_read(
			(const void *)(record + histograms[what].of_pool), &r->times);
	else if (histograms[what].of_lines != 0 && r->head->n_servers > 1 &&
		 line <= r->head->n_servers)
		cnd_buckets_read((const struct cnd_buckets *)(const void
						 *)(record + histograms[what].of_lines) +
					 line - 1,
			&r->times);
	return r->times.count > 0;
}

/* The order of a pool's rows is found out with the first of them. A process reads all rows of a pool in a row. */
static int
read_digest(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	static uint16_t order[CND_DIGESTS + 1];
	static uint32_t n;
	uint32_t pool = index / (CND_DIGESTS + 1), rank = index % (CND_DIGESTS + 1);
	const struct cnd_pool_record *record = cnd_pool_record(b, pool);

	if (!cnd_pool_head(b, pool)->is_used || !may_know_of(asker, pool))
		return 0;
	if (rank == 0)
		n = cnd_digests_order(&record->digests, order);
	if (rank >= n)
		return 0;
	*r = (struct cnd_status_row){
		.board = b, .index = index, .head = cnd_pool_head(b, pool), .pool = record
	};
	if (!cnd_digest_read(&record->digests, order[rank], &r->digest))
		return 0;
	if (r->digest.hash == 0)
		snprintf(r->digest.text, sizeof(r->digest.text), "(others)");
	else if (!asker->may_read_sql)
		r->digest.text[0] = '\0';
	return 1;
}

static int
read_cache(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	return cnd_pool_head(b, index)->cache_size > 0 && read_pool(b, index, asker, r);
}

static int
read_rule(struct cnd_scoreboard *b, uint32_t index, const struct cnd_asker *asker,
	struct cnd_status_row *r)
{
	uint32_t pool = index / CND_QUERY_RULES_MAX, rule = index % CND_QUERY_RULES_MAX;
	const struct cnd_pool_head *head = cnd_pool_head(b, pool);

	if (!head->is_used || !may_know_of(asker, pool) || rule >= head->n_rules)
		return 0;
	*r = (struct cnd_status_row){ .board = b,
		.index = index,
		.head = head,
		.pool = cnd_pool_record(b, pool),
		.rule = rule };
	return 1;
}

uint32_t
cnd_status_most(const struct cnd_status_kind *k, const struct cnd_scoreboard *b)
{
	return k->a_pool > 0 ? CND_POOL_RECORD * k->a_pool : b->n_slots;
}

#define FIELDS(list) (list), N_ITEMS(list)

const struct cnd_status_kind cnd_status_kinds[CND_STATUS_KINDS] = {
	[CND_STATUS_POOLS] = { "pools", FIELDS(pool_fields), 1, read_pool },
	[CND_STATUS_WORKERS] = { "workers", FIELDS(worker_fields), 0, read_worker },
	[CND_STATUS_PINS] = { "pins", FIELDS(pinned_fields), 0, read_pinned },
	[CND_STATUS_PIN_COUNTS] = { "pin_counts", FIELDS(pin_fields), CND_PINS,
		read_pin },
	[CND_STATUS_SERVERS] = { "servers", FIELDS(server_fields), CND_SERVERS_MAX,
		read_server },
	[CND_STATUS_TIMES] = { "times", FIELDS(times_fields), TIMES_OF_POOL, read_times },
	[CND_STATUS_DIGESTS] = { "digests", FIELDS(digest_fields), CND_DIGESTS + 1,
		read_digest },
	[CND_STATUS_RULES] = { "rules", FIELDS(rule_fields), CND_QUERY_RULES_MAX,
		read_rule },
	[CND_STATUS_CACHE] = { "cache", FIELDS(cache_fields), 1, read_cache },
};

const struct cnd_status_kind cnd_status_clients = { "clients", FIELDS(client_fields), 0,
	read_client };
