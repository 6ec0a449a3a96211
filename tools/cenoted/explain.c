/* SPDX-License-Identifier: BSD-2-Clause */
#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

enum word {
	WORD_POOL,
	WORD_USER,
	WORD_FROM,
	WORD_TLS,
	WORD_CERT,
	N_WORDS
};

static const char *const names[N_WORDS] = { "pool", "user", "from", "tls", "cert" };

struct question {
	const char *words[N_WORDS];
	const struct cnd_pool_config *pool;
	struct cnd_arrival arrival;
};

static int
take_word(struct question *q, const char *word)
{
	const char *equals = strchr(word, '=');
	const char *nearest;

	for (size_t i = 0; i < N_WORDS && equals != NULL; i++) {
		if (strlen(names[i]) == (size_t)(equals - word) &&
			strncmp(names[i], word, (size_t)(equals - word)) == 0) {
			q->words[i] = equals + 1;
			return 0;
		}
	}
	nearest = cnd_nearest(word, names, N_WORDS, sizeof(names[0]));
	fprintf(stderr,
		"cenoted: --explain-auth: \"%s\" is not pool=, user=, from=, tls= or "
		"cert=",
		word);
	if (nearest != NULL)
		fprintf(stderr, "; did you mean \"%s=\"?", nearest);
	fputc('\n', stderr);
	return -1;
}

/* 1, 0; -1: neither. */
static int
yes_or_no(const char *word)
{
	if (word == NULL || strcmp(word, "no") == 0)
		return 0;
	return strcmp(word, "yes") == 0 ? 1 : -1;
}

static int
set_from(struct question *q)
{
	const char *from = q->words[WORD_FROM];
	struct cnd_network n;

	q->arrival.peer.door = CND_DOOR_UNIX;
	if (from == NULL || strcmp(from, "unix") == 0)
		return 0;
	if (strchr(from, '/') != NULL || cnd_network_parse(from, &n) < 0) {
		fprintf(stderr,
			"cenoted: --explain-auth: from=%s is not an address, nor unix\n",
			from);
		return -1;
	}
	q->arrival.peer.door = CND_DOOR_TCP;
	q->arrival.peer.addr = n.addr;
	return 0;
}

static int
find_pool(const struct cnd_config *c, struct question *q)
{
	const char *name = q->words[WORD_POOL];

	for (size_t i = 0; i < c->n_pools && name != NULL; i++) {
		if (strcmp(c->pools[i].name, name) == 0)
			q->pool = &c->pools[i];
	}
	if (q->pool == NULL)
		fprintf(stderr,
			name == NULL ? "cenoted: --explain-auth: pool= is wanted\n"
				     : "cenoted: --explain-auth: there is no pool "
				       "\"%s\"\n",
			name);
	return q->pool != NULL ? 0 : -1;
}

static int
read_question(const struct cnd_config *c, char *const *words, int n, struct question *q)
{
	int tls, cert;

	*q = (struct question){ .pool = NULL };
	for (int i = 0; i < n; i++) {
		if (take_word(q, words[i]) < 0)
			return -1;
	}
	tls = yes_or_no(q->words[WORD_TLS]);
	cert = yes_or_no(q->words[WORD_CERT]);
	if (tls < 0 || cert < 0) {
		fputs("cenoted: --explain-auth: tls= and cert= are yes or no\n", stderr);
		return -1;
	}
	q->arrival.user = q->words[WORD_USER] != NULL ? q->words[WORD_USER] : "";
	q->arrival.has_tls = (uint8_t)(tls || cert);
	q->arrival.has_cert = (uint8_t)cert;
	return find_pool(c, q) < 0 ? -1 : set_from(q);
}

static void
print_rule(const struct cnd_config *c, const struct cnd_rule *rule)
{
	if (rule->line > 0)
		printf("%s:%u: ", c->path, rule->line);
	else
		printf("%s, by default: ", c->path);
	cnd_rule_print(rule, stdout);
}

/* 0: by its address it does not get as far as the rules. */
static int
is_admitted(const struct question *q)
{
	if (q->arrival.peer.door == CND_DOOR_UNIX ||
		cnd_networks_admit(&q->pool->networks, &q->arrival.peer.addr))
		return 1;
	printf("refused: allow and deny of pool %s keep this address out\n",
		q->pool->name);
	return 0;
}

int
cnd_explain_auth(const struct cnd_config *c, char *const *words, int n_words)
{
	struct question q;

	if (read_question(c, words, n_words, &q) < 0)
		return 2;
	if (!is_admitted(&q))
		return 1;
	for (size_t i = 0; i < q.pool->rules.n; i++) {
		const struct cnd_rule *rule = &q.pool->rules.list[i];
		const char *why = cnd_rule_mismatch(rule, &q.arrival);

		print_rule(c, rule);
		printf(": %s\n", why != NULL ? why : "decides");
		if (why == NULL)
			return rule->method == CND_METHOD_REJECT;
	}
	printf("refused: no rule of pool %s matches\n", q.pool->name);
	return 1;
}
