/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenoted --explain-auth: read the question, and print each rule with its verdict. It uses the
 * same functions as a worker (auth/).
 */
#include "explain.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "auth/admission.h"
#include "shared/units.h"

enum word {
	WORD_POOL,
	WORD_USER,
	WORD_FROM,
	WORD_TLS,
	WORD_CERT,
	WORD_UNIX,
	N_WORDS
};

static const char *const names[N_WORDS] = { "pool", "user", "from", "tls", "cert",
	"unix" };

struct question {
	const char *words[N_WORDS];
	const struct cnd_pool_config *pool;
	const char *unix_name; /* the unix user of a client on the unix socket */
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
		"cenoted: --explain-auth: \"%s\" is not pool=, user=, from=, tls=, "
		"cert= or unix=",
		word);
	if (nearest != NULL)
		fprintf(stderr, "; did you mean \"%s=\"?", nearest);
	fputc('\n', stderr);
	return -1;
}

/* 1: yes; 0: no, or not given; -1: another word. */
static int
yes_or_no(const char *word)
{
	if (word == NULL || strcmp(word, "no") == 0)
		return 0;
	return strcmp(word, "yes") == 0 ? 1 : -1;
}

/* Find the unix user of the client: unix=NAME, or else the user that it asks for. */
static int
set_unix_user(struct question *q)
{
	const char *name = q->words[WORD_UNIX];
	const struct passwd *pw;
	uint64_t uid = (uid_t)-1;

	if (name == NULL)
		name = q->words[WORD_USER];
	pw = name != NULL ? getpwnam(name) : getpwuid(geteuid());
	if (name == NULL)
		name = pw != NULL ? pw->pw_name : "";
	if (pw != NULL) {
		uid = pw->pw_uid;
	} else if (cnd_number_parse(name, UINT32_MAX - 1, &uid) < 0 &&
		   !q->pool->is_open) {
		fprintf(stderr,
			"cenoted: --explain-auth: there is no unix user \"%s\" here; "
			"name the client's unix user with unix=NAME\n",
			name);
		return -1;
	}
	q->arrival.uid = (uid_t)uid;
	q->unix_name = name;
	if (*q->arrival.user == '\0')
		q->arrival.user = name;
	return 0;
}

static int
set_from(struct question *q)
{
	const char *from = q->words[WORD_FROM];
	struct cnd_network n;

	q->arrival.peer.door = CND_DOOR_UNIX;
	if (from == NULL || strcmp(from, "unix") == 0)
		return set_unix_user(q);
	if (strchr(from, '/') != NULL || cnd_network_parse(from, &n) < 0) {
		fprintf(stderr,
			"cenoted: --explain-auth: from=%s is neither an address nor "
			"unix\n",
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

	q->pool = name != NULL ? cnd_config_pool(c, name) : NULL;
	if (q->pool == NULL)
		fprintf(stderr,
			name == NULL ? "cenoted: --explain-auth: pool=NAME is missing\n"
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
		fputs("cenoted: --explain-auth: tls= and cert= must be yes or no\n",
			stderr);
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

/* Print what the daemon's log would say. Returns the exit status. */
static int
print_refusal(const struct question *q, const char *why)
{
	printf("refused: pool %s: %s\n", q->pool->name, why);
	return 1;
}

/* Print why `allow_hours` refuse the user now, if they do. Returns the exit status. */
static int
explain_hours(const struct question *q)
{
	const struct cnd_hours *hours = &q->pool->hours;
	const char *user = q->arrival.user;
	char when[CND_HOURS_TEXT_MAX], why[2 * CND_HOURS_TEXT_MAX];
	int64_t opens;

	if (user == NULL || *user == '\0' ||
		cnd_hours_allow(hours, user, time(NULL), &opens))
		return 0;
	if (opens == CND_HOURS_NEVER)
		return print_refusal(q, "allow_hours do not let the user in");
	(void)snprintf(why, sizeof(why), "allow_hours do not let the user in before %s",
		cnd_hours_text(hours, user, opens, when));
	return print_refusal(q, why);
}

int
cnd_explain_auth(const struct cnd_config *c, char *const *words, int n_words)
{
	const struct cnd_rule *decides;
	enum cnd_admission admission;
	struct question q;

	if (read_question(c, words, n_words, &q) < 0)
		return 2;
	admission = cnd_admit(q.pool, &q.arrival, &decides);
	if (admission != CND_ADMITTED && admission != CND_NO_RULE)
		return print_refusal(&q, cnd_admission_text(admission));
	for (size_t i = 0; i < q.pool->rules.n; i++) {
		const struct cnd_rule *rule = &q.pool->rules.list[i];

		print_rule(c, rule);
		if (rule == decides)
			break;
		printf(": %s\n", cnd_rule_mismatch(rule, &q.arrival));
	}
	if (decides == NULL)
		return print_refusal(&q, cnd_admission_text(admission));
	puts(": decides");
	if (q.unix_name != NULL && decides->method == CND_METHOD_PEER &&
		decides->map_path == NULL && strcmp(q.unix_name, q.arrival.user) != 0)
		return print_refusal(&q, "it asks for another user");
	return decides->method == CND_METHOD_REJECT ? 1 : explain_hours(&q);
}
