/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of cenotectl. Each writes its answer: lines "say", "warning", "columns" and "row", and last "ok" or "error". admin.c calls
 * this file.
 */
#include "admin.h"
#include "upgrade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/log.h"

/* A command, and its words; words[0] is its name. NULL after the last. */
struct command {
	const char *name;
	int min_words; /* besides the name */
	int max_words;
	void (*run)(struct cnd_admin_client *c, char **words);
};

static void
say_ok(struct cnd_admin_client *c)
{
	cnd_report_line(&c->report, "ok", "%s", "");
}

/* ---- what there is ---- */

static void
run_table(struct cnd_admin_client *c, char **words)
{
	const struct cnd_asker root = {
		.pool = CND_POOL_RECORD, .slot = -1, .may_read_sql = true
	};

	cnd_report_status(&c->report, cnd_the_master.child.board, words[0], &root);
	say_ok(c);
}

static void
run_digests(struct cnd_admin_client *c, char **words)
{
	uint32_t n = 0;

	if (words[1] == NULL) {
		run_table(c, words);
		return;
	}
	if (strcmp(words[1], "--reset") != 0) {
		cnd_report_line(&c->report, "error",
			"digests: unknown word \"%s\"; there is --reset", words[1]);
		return;
	}
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		const struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p->config == NULL || !p->config->has_digests)
			continue;
		cnd_digests_reset(&cnd_master_record(p)->digests);
		n++;
	}
	cnd_report_line(&c->report, "ok",
		"statistics of statements begin anew in %u pool%s", n, n == 1 ? "" : "s");
}

static void
say_pool(struct cnd_report *to, const struct cnd_pool *p)
{
	struct cnd_census census;
	char failing[32] = "";

	cnd_pool_census(cnd_the_master.child.board, p->index, &census);
	if (census.n[CND_SLOT_FAILING] > 0)
		snprintf(failing, sizeof(failing), ", %u cannot log in",
			census.n[CND_SLOT_FAILING]);
	cnd_report_line(to, "say",
		"pool %s: %s, mode = %s, %u of %u sessions in use, %u waiting%s%s",
		p->name, p->config->backend,
		p->config->mode == CND_MODE_TRANSACTION ? "transaction" : "session",
		census.in_use, p->config->max_sessions, cnd_master_record(p)->waiting,
		failing, cnd_master_head(p)->is_paused ? ", paused" : "");
}

static void
run_status(struct cnd_admin_client *c, char **words)
{
	static const char *const phases[] = { "serving", "leaving", "draining",
		"ending" };
	struct cnd_report *to = &c->report;

	(void)words;
	cnd_report_line(to, "say", "cenoted " CND_VERSION ", pid %d, %s", (int)getpid(),
		phases[cnd_the_master.phase]);
	cnd_report_line(to, "say", "up for %lld s",
		(long long)(cnd_now_ms() - cnd_the_master.started_ms) / 1000);
	cnd_report_line(to, "say", "configuration %s", cnd_the_master.config->path);
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config != NULL)
			say_pool(to, &cnd_the_master.pools[i]);
	}
	say_ok(c);
}

/* ---- reload, drain, log-level ---- */

static void
on_log(void *user, const char *text)
{
	cnd_report_line(user, "warning", "%s", text);
}

static void
run_reload(struct cnd_admin_client *c, char **words)
{
	int r;

	(void)words;
	if (cnd_the_master.phase != CND_PHASE_SERVING) {
		cnd_report_line(&c->report, "error", "cenoted is ending");
		return;
	}
	cnd_log_set_listener(on_log, &c->report);
	r = cnd_pools_reload();
	cnd_log_set_listener(NULL, NULL);
	if (r < 0)
		cnd_report_line(&c->report, "error", "the configuration stays as it was");
	else
		cnd_report_line(
			&c->report, "ok", "%s is in force", cnd_the_master.config->path);
}

static void
run_drain(struct cnd_admin_client *c, char **words)
{
	if (words[1] != NULL && strcmp(words[1], "--now") != 0) {
		cnd_report_line(&c->report, "error",
			"drain: unknown word \"%s\"; there is --now", words[1]);
		return;
	}
	c->phase = CND_ADMIN_DRAINING;
	cnd_master_drain(words[1] != NULL);
}

static void
run_upgrade(struct cnd_admin_client *c, char **words)
{
	const char *why;

	(void)words;
	why = cnd_the_master.phase == CND_PHASE_SERVING ? cnd_upgrade_begin()
							: "cenoted is ending";
	if (why == NULL)
		c->phase = CND_ADMIN_UPGRADING;
	else
		cnd_report_line(&c->report, "error", "upgrade: %s", why);
}

static void
run_log_level(struct cnd_admin_client *c, char **words)
{
	int level = cnd_log_level_parse(words[1]);

	if (level < 0) {
		cnd_report_line(&c->report, "error",
			"log-level: unknown level \"%s\"; there are error, warning, "
			"notice, info and debug",
			words[1]);
		return;
	}
	cnd_log_set_level(level);
	cnd_report_line(&c->report, "ok", "log level %s until the next reload", words[1]);
}

/* ---- pause and resume ---- */

/* Whether the word names this pool, or all. */
static bool
is_meant(const struct cnd_pool *p, const char *name)
{
	return p->config != NULL &&
	       (strcmp(name, "all") == 0 || strcmp(name, p->name) == 0);
}

/* CND_BOARD_NONE: there is no such pool, and the answer says so. CND_POOL_RECORD: all. */
static uint32_t
set_paused(struct cnd_admin_client *c, const char *name, uint32_t is_paused)
{
	uint32_t index = CND_BOARD_NONE;

	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool *p = &cnd_the_master.pools[i];

		if (!is_meant(p, name))
			continue;
		cnd_pools_set_paused(p, is_paused);
		index = p->index;
	}
	if (strcmp(name, "all") == 0)
		return CND_POOL_RECORD;
	if (index == CND_BOARD_NONE)
		cnd_report_line(&c->report, "error",
			"there is no pool \"%s\"; see cenotectl pools", name);
	return index;
}

static void
run_pause(struct cnd_admin_client *c, char **words)
{
	bool waits = strcmp(words[1], "--wait") == 0;
	const char *name = waits ? words[2] : words[1];

	if (name == NULL || (!waits && words[2] != NULL)) {
		cnd_report_line(
			&c->report, "error", "usage: pause [--wait] POOL, or all");
		return;
	}
	if (cnd_the_master.phase != CND_PHASE_SERVING) {
		cnd_report_line(&c->report, "error", "cenoted is ending");
		return;
	}
	c->pool = set_paused(c, name, 1);
	if (c->pool == CND_BOARD_NONE)
		return;
	if (!waits) {
		cnd_report_line(&c->report, "ok", "paused: %s", name);
		return;
	}
	/* a worker may be about to begin a request that it took before the pause */
	c->until_ms = cnd_now_ms() + CND_PAUSE_SETTLES_MS;
	c->phase = CND_ADMIN_PAUSING;
}

static void
run_resume(struct cnd_admin_client *c, char **words)
{
	if (set_paused(c, words[1], 0) != CND_BOARD_NONE)
		cnd_report_line(&c->report, "ok", "resumed: %s", words[1]);
}

/* Whether a transaction is open in this slot, or may begin there in spite of the pause. */
static bool
is_open(uint32_t slot)
{
	const struct cnd_place *place = &cnd_the_master.places[slot];
	const struct cnd_slot *s = cnd_slot_at(cnd_the_master.child.board, slot);

	if (place->pid == 0 ||
		(s->state != CND_SLOT_ATTACHED && s->state != CND_SLOT_SUSPENDED))
		return false;
	return s->tx != CENOTE_TX_IDLE || s->request != s->finished;
}

bool
cnd_admin_is_quiet(uint32_t pool)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if ((pool == CND_POOL_RECORD || cnd_the_master.places[i].pool == pool) &&
			is_open(i))
			return false;
	}
	return true;
}

/* ---- kill ---- */

/* Whether the slot has a client, and it or its worker is this process. */
static bool
has_process(uint32_t slot, pid_t pid)
{
	const struct cnd_place *place = &cnd_the_master.places[slot];
	const struct cnd_slot *s = cnd_slot_at(cnd_the_master.child.board, slot);
	struct cnd_identity client;

	if (place->pid == 0 ||
		(s->state != CND_SLOT_ATTACHED && s->state != CND_SLOT_SUSPENDED))
		return false;
	cnd_slot_identity(s, &client);
	return place->pid == pid || client.pid == pid;
}

static void
run_kill(struct cnd_admin_client *c, char **words)
{
	char *end;
	long pid = strtol(words[1], &end, 10);
	unsigned n = 0;

	if (*end != '\0' || pid <= 0 || pid > INT32_MAX) {
		cnd_report_line(&c->report, "error",
			"kill: \"%s\" is not a process id; see cenotectl clients",
			words[1]);
		return;
	}
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (!has_process(i, (pid_t)pid))
			continue;
		cnd_children_kill_client(i);
		n++;
	}
	if (n == 0)
		cnd_report_line(&c->report, "error",
			"no client has a session with process id %ld; see cenotectl "
			"clients",
			pid);
	else
		cnd_report_line(
			&c->report, "ok", "ended %u session%s", n, n == 1 ? "" : "s");
}

/* ---- the line ---- */

static const struct command commands[] = {
	{ "status", 0, 0, run_status },
	{ "pools", 0, 0, run_table },
	{ "workers", 0, 0, run_table },
	{ "clients", 0, 0, run_table },
	{ "pins", 0, 0, run_table },
	{ "servers", 0, 0, run_table },
	{ "times", 0, 0, run_table },
	{ "digests", 0, 1, run_digests },
	{ "rules", 0, 0, run_table },
	{ "cache", 0, 0, run_table },
	{ "reload", 0, 0, run_reload },
	{ "drain", 0, 1, run_drain },
	{ "upgrade", 0, 0, run_upgrade },
	{ "log-level", 1, 1, run_log_level },
	{ "pause", 1, 2, run_pause },
	{ "resume", 1, 1, run_resume },
	{ "kill", 1, 1, run_kill },
};

/* The number of words. More than CND_ADMIN_WORDS: only the first ones are in `words`. */
static int
split(char *line, char *words[CND_ADMIN_WORDS + 1])
{
	char *left = NULL;
	int n = 0;

	for (char *word = strtok_r(line, " ", &left); word != NULL;
		word = strtok_r(NULL, " ", &left)) {
		if (n < (int)CND_ADMIN_WORDS)
			words[n] = word;
		n++;
	}
	return n;
}

void
cnd_admin_carry_out(struct cnd_admin_client *c)
{
	char *words[CND_ADMIN_WORDS + 1] = { NULL };
	int n = split(c->line, words);

	for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->name, words[0]) != 0)
			continue;
		if (n - 1 < command->min_words || n - 1 > command->max_words)
			cnd_report_line(&c->report, "error",
				"%s: too %s words; see cenotectl --help", words[0],
				n - 1 < command->min_words ? "few" : "many");
		else
			command->run(c, words);
		return;
	}
	cnd_report_line(&c->report, "error",
		"unknown command \"%s\"; see cenotectl --help", n > 0 ? words[0] : "");
}
