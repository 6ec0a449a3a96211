/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "crypto/crypto.h"
#include "support/cnt_random.h"

/* Both ends of SCRAM against the standard's example, against each other, and against wrong
 * messages. */

static const struct cnp_hash *hash;
static const uint8_t binding[CNP_SCRAM_BINDING_LEN] = "what both ends of TLS know";
static const uint8_t another_binding[CNP_SCRAM_BINDING_LEN] =
	"what somebody between knows";

/* RFC 7677, section 3. */
#define NONCE        "rOprNGfwEbeRWgbNEkqO"
#define SERVER_NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
#define CLIENT_FIRST "n,,n=user,r=" NONCE
#define SERVER_FIRST "r=" NONCE SERVER_NONCE ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
#define CLIENT_FINAL                                                                     \
	"c=biws,r=" NONCE SERVER_NONCE ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
#define SERVER_FINAL "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

static struct cnp_scram_verifier
example_verifier(void)
{
	struct cnp_scram_verifier v = { .iterations = 4096, .salt_len = 16 };
	struct cnp_scram_keys keys;

	assert_int_equal(
		cnc_base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==", 24, v.salt, 16), 16);
	assert_ok(cnp_scram_keys_derive(
		hash, "pencil", v.salt, v.salt_len, v.iterations, &keys));
	assert_ok(hash->sha256(keys.client_key, sizeof(keys.client_key), v.stored_key));
	memcpy(v.server_key, keys.server_key, sizeof(v.server_key));
	return v;
}

static void
assert_text(const struct cnp_str *text, const char *wanted)
{
	assert_int_equal(text->n, strlen(wanted));
	assert_memory_equal(text->p, wanted, text->n);
}

static void
the_clients_part_of_the_example_is_ours(void **state)
{
	struct cnp_scram_client c;
	struct cnp_scram_keys keys;
	struct cnp_str out;

	assert_ok(cnp_scram_client_begin(
		&c, hash, "user", CNP_SCRAM_UNBOUND, NULL, NONCE, &out));
	assert_text(&out, CLIENT_FIRST);
	assert_ok(cnp_scram_client_challenge(&c, SERVER_FIRST, strlen(SERVER_FIRST)));
	assert_ok(cnp_scram_keys_derive(
		hash, "pencil", c.salt, c.salt_len, c.iterations, &keys));
	assert_ok(cnp_scram_client_prove(&c, &keys, &out));
	assert_text(&out, CLIENT_FINAL);
	assert_ok(cnp_scram_client_verify(&c, SERVER_FINAL, strlen(SERVER_FINAL)));
	assert_int_equal(c.state, CNP_SCRAM_CLIENT_DONE);
	cnp_scram_client_finish(&c);
}

static void
the_servers_part_of_the_example_is_ours(void **state)
{
	const struct cnp_scram_verifier v = example_verifier();
	struct cnp_scram_server s;
	struct cnp_str out;

	cnp_scram_server_init(&s, hash, 0, NULL);
	assert_ok(cnp_scram_server_take(&s, CLIENT_FIRST, strlen(CLIENT_FIRST)));
	assert_string_equal(s.user, "user");
	assert_ok(cnp_scram_server_challenge(&s, &v, 0, SERVER_NONCE, &out));
	assert_text(&out, SERVER_FIRST);
	assert_ok(cnp_scram_server_check(&s, CLIENT_FINAL, strlen(CLIENT_FINAL), &out));
	assert_text(&out, SERVER_FINAL);
	/* the server checks a proof only once */
	assert_int_equal(
		cnp_scram_server_check(&s, CLIENT_FINAL, strlen(CLIENT_FINAL), &out),
		CENOTE_ERR_PROTOCOL);
	cnp_scram_server_finish(&s);
}

/* ---- an exchange between both ends ---- */

struct exchange {
	const char *user;
	const char *password; /* the client's */
	struct cnp_scram_verifier verifier; /* the server's */
	int is_made_up;
	const uint8_t *client_binding; /* NULL: no TLS */
	const uint8_t *server_binding;
	const char *mechanisms; /* the list that the client gets */
	/* number of the message that is changed on the way, from 0; -1: none */
	int changed;
	void (*change)(char *text, size_t *n, void *user);
	void *change_user;
	struct cnp_scram_client client;
	struct cnp_scram_server server;
};

static void
pass(struct exchange *x, int number, const struct cnp_str *from,
	char to[CNP_SCRAM_MESSAGE_MAX + 64], size_t *ret_n)
{
	assert_true(from->n <= CNP_SCRAM_MESSAGE_MAX);
	memcpy(to, from->p, from->n);
	*ret_n = from->n;
	if (number == x->changed)
		x->change(to, ret_n, x->change_user);
}

static int
serve_first(
	struct exchange *x, const char *text, size_t n, int is_plus, struct cnp_str *out)
{
	int r;

	cnp_scram_server_init(&x->server, hash, is_plus, x->server_binding);
	r = cnp_scram_server_take(&x->server, text, n);
	if (r == CENOTE_OK && strcmp(x->server.user, x->user) != 0)
		return CENOTE_ERR_AUTH;
	return r < 0 ? r
		     : cnp_scram_server_challenge(
			       &x->server, &x->verifier, x->is_made_up, NULL, out);
}

/* Run the exchange. Returns the status of the end that stopped; CENOTE_OK: both ends accept. */
static int
run(struct exchange *x)
{
	enum cnp_scram_binding how;
	const char *mechanism =
		cnp_scram_choose(x->mechanisms, x->client_binding != NULL, &how);
	char text[CNP_SCRAM_MESSAGE_MAX + 64];
	struct cnp_scram_keys keys;
	struct cnp_str out;
	size_t n;
	int r;

	if (!mechanism)
		return CENOTE_ERR_UNSUPPORTED;
	r = cnp_scram_client_begin(
		&x->client, hash, x->user, how, x->client_binding, NULL, &out);
	if (r < 0)
		return r;
	pass(x, 0, &out, text, &n);
	r = serve_first(x, text, n, strcmp(mechanism, CNP_SCRAM_PLUS) == 0, &out);
	if (r < 0)
		return r;
	pass(x, 1, &out, text, &n);
	r = cnp_scram_client_challenge(&x->client, text, n);
	if (r == CENOTE_OK)
		r = cn_crypto_get(CN_CRYPTO_ABI)
			    ->keys->derive(x->password, x->client.salt,
				    x->client.salt_len, x->client.iterations, &keys);
	if (r == CENOTE_OK)
		r = cnp_scram_client_prove(&x->client, &keys, &out);
	if (r < 0)
		return r;
	pass(x, 2, &out, text, &n);
	r = cnp_scram_server_check(&x->server, text, n, &out);
	if (r < 0)
		return r;
	pass(x, 3, &out, text, &n);
	return cnp_scram_client_verify(&x->client, text, n);
}

static void
init(struct exchange *x, const char *user, const char *password)
{
	*x = (struct exchange){ .user = user,
		.password = password,
		.mechanisms = CNP_SCRAM_PLAIN,
		.changed = -1 };
	assert_ok(cnp_scram_verifier_make(
		hash, password, CNP_SCRAM_ITERATIONS, &x->verifier));
}

static void
with_tls(struct exchange *x)
{
	x->client_binding = binding;
	x->server_binding = binding;
	x->mechanisms = CNP_SCRAM_PLUS " " CNP_SCRAM_PLAIN;
}

static void
random_text(struct cnt_random *rnd, char *out, size_t max)
{
	size_t n = cnt_random_size(rnd, max);

	for (size_t i = 0; i < n; i++)
		out[i] = (char)(1 + cnt_random_below(rnd, 255));
	out[n] = '\0';
}

static void
random_names_and_passwords_log_in_and_no_others(void **state)
{
	struct cnt_random rnd;

	cnt_random_init_printed(&rnd);
	for (int i = 0; i < 60; i++) {
		char user[CNP_SCRAM_NAME_MAX + 1], password[200], other[201];
		struct exchange x;

		random_text(&rnd, user, CNP_SCRAM_NAME_MAX);
		random_text(&rnd, password, sizeof(password) - 1);
		init(&x, user, password);
		if (i % 2)
			with_tls(&x);
		assert_ok(run(&x));
		assert_int_equal(x.client.state, CNP_SCRAM_CLIENT_DONE);
		snprintf(other, sizeof(other), "%s.", password);
		x.password = other;
		assert_int_equal(run(&x), CENOTE_ERR_AUTH);
		x.password = password;
		x.is_made_up = 1;
		assert_int_equal(run(&x), CENOTE_ERR_AUTH);
	}
}

/* ---- messages that are changed on the way ---- */

struct flip {
	size_t bit;
	int was_there;
};

static void
flip(char *text, size_t *n, void *user)
{
	struct flip *f = user;

	f->was_there = f->bit / 8 < *n;
	if (f->was_there)
		text[f->bit / 8] = (char)(text[f->bit / 8] ^ (1 << f->bit % 8));
}

static void
cut(char *text, size_t *n, void *user)
{
	const size_t *len = user;

	(void)text;
	if (*len < *n)
		*n = *len;
}

/* No message of the exchange is longer. */
#define LONGEST 200u

static void
no_message_can_be_cut(void **state)
{
	struct exchange x;

	init(&x, "user", "pencil");
	with_tls(&x);
	x.change = cut;
	for (x.changed = 0; x.changed < 4; x.changed++) {
		for (size_t n = 0; n < LONGEST; n++) {
			int r;

			x.change_user = &n;
			r = run(&x);
			/* a message that is cut at its full length is whole */
			if (r == CENOTE_OK)
				break;
			assert_true(r == CENOTE_ERR_PROTOCOL || r == CENOTE_ERR_AUTH ||
				    r == CENOTE_ERR_UNSUPPORTED);
		}
		x.change_user = &(size_t){ LONGEST };
		assert_ok(run(&x));
	}
}

static void
no_bit_can_be_changed(void **state)
{
	struct exchange x;
	struct flip f;

	init(&x, "user", "pencil");
	with_tls(&x);
	x.change = flip;
	x.change_user = &f;
	for (x.changed = 0; x.changed < 4; x.changed++) {
		f = (struct flip){ 0, 1 };
		while (f.was_there) {
			int r = run(&x);

			assert_int_equal(r == CENOTE_OK, !f.was_there);
			f.bit++;
		}
		assert_true(f.bit > 8u * 40);
	}
}

/* ---- channel binding ---- */

static void
who_stands_between_is_found_out(void **state)
{
	struct exchange x;

	init(&x, "user", "pencil");
	with_tls(&x);
	/* a middleman with two TLS connections passes the messages on */
	x.server_binding = another_binding;
	assert_int_equal(run(&x), CENOTE_ERR_PROTOCOL);
	/* the middleman also hides that the server can bind */
	x.mechanisms = CNP_SCRAM_PLAIN;
	assert_int_equal(run(&x), CENOTE_ERR_PROTOCOL);
	/* a server that cannot bind */
	x.server_binding = NULL;
	assert_ok(run(&x));
	assert_int_equal(x.client.binding, CNP_SCRAM_UNOFFERED);
	/* a client that cannot bind may log in */
	x.client_binding = NULL;
	x.server_binding = binding;
	x.mechanisms = CNP_SCRAM_PLUS " " CNP_SCRAM_PLAIN;
	assert_ok(run(&x));
	assert_int_equal(x.client.binding, CNP_SCRAM_UNBOUND);
}

static void
the_best_mechanism_is_chosen(void **state)
{
	static const struct {
		const char *list;
		int can_bind;
		const char *chosen;
		enum cnp_scram_binding binding;
	} cases[] = {
		{ "SCRAM-SHA-256-PLUS SCRAM-SHA-256", 1, CNP_SCRAM_PLUS,
			CNP_SCRAM_BOUND },
		{ "SCRAM-SHA-256 SCRAM-SHA-256-PLUS", 1, CNP_SCRAM_PLUS,
			CNP_SCRAM_BOUND },
		{ "EXTERNAL SCRAM-SHA-256", 1, CNP_SCRAM_PLAIN, CNP_SCRAM_UNOFFERED },
		{ "SCRAM-SHA-256-PLUS SCRAM-SHA-256", 0, CNP_SCRAM_PLAIN,
			CNP_SCRAM_UNBOUND },
		{ "SCRAM-SHA-256-PLUS", 0, NULL, CNP_SCRAM_UNBOUND },
		{ "SCRAM-SHA-1 SCRAM-SHA-256-PLUSPLUS XSCRAM-SHA-256", 1, NULL,
			CNP_SCRAM_UNOFFERED },
		{ "", 1, NULL, CNP_SCRAM_UNOFFERED },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		enum cnp_scram_binding how;
		const char *chosen =
			cnp_scram_choose(cases[i].list, cases[i].can_bind, &how);

		assert_int_equal(how, cases[i].binding);
		if (!cases[i].chosen)
			assert_null(chosen);
		else
			assert_string_equal(chosen, cases[i].chosen);
	}
}

/* ---- single messages ---- */

static void
openings_that_are_not_wanted_are_refused(void **state)
{
	static const char *const bad[] = { "", "n", "n,", "n,,", "n,,n=user",
		"n,,r=abc,n=u", "n,a=root,n=user,r=abc", "n,,m=x,n=user,r=abc",
		"n,,n=user,r=", "n,,n=user,r=abc,m=x", "n,,n=user,r=a c",
		"n,,n=user,r=abc,", "n,,n=us=er,r=abc", "n,,n=us=2D,r=abc",
		"n,,n=us=2,r=abc", "n,,n=us=,r=abc", "x,,n=user,r=abc",
		"p=tls-exporter,,n=user,r=abc", "p=tls-unique,,n=user,r=abc",
		"n,,n=user,r=\x7f\x80", "n,,N=user,r=abc", "n,,n=user,r=abc,=x",
		"n,,n=user,r=abc,1=x" };
	struct cnp_scram_server s;

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		cnp_scram_server_init(&s, hash, 0, NULL);
		assert_int_equal(cnp_scram_server_take(&s, bad[i], strlen(bad[i])),
			CENOTE_ERR_PROTOCOL);
	}
	cnp_scram_server_init(&s, hash, 0, NULL);
	assert_int_equal(
		cnp_scram_server_take(&s, "n,,n=u\0r,r=abc", 14), CENOTE_ERR_PROTOCOL);
	cnp_scram_server_init(&s, hash, 0, NULL);
	assert_ok(cnp_scram_server_take(&s, "n,,n=a=2Cb=3D,r=abc,x=y", 23));
	assert_string_equal(s.user, "a,b=");
	/* there was no challenge yet */
	assert_int_equal(
		cnp_scram_server_check(&s, "c=biws", 6, &(struct cnp_str){ NULL, 0 }),
		CENOTE_ERR_PROTOCOL);
}

static void
challenges_that_cannot_be_ours_are_refused(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{ "", CENOTE_ERR_PROTOCOL },
		{ "e=unknown-user", CENOTE_ERR_PROTOCOL },
		/* another nonce; the client's nonce without the server's part */
		{ "r=abc,s=c2FsdA==,i=4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE ",s=c2FsdA==,i=4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=,i=4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=!,i=4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,i=4096,s=c2FsdA==", CENOTE_ERR_PROTOCOL },
		{ "m=x,r=" NONCE "x,s=c2FsdA==,i=4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=4096,m=x", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=-4096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=04096", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=4096 ", CENOTE_ERR_PROTOCOL },
		{ "r=" NONCE "x,s=c2FsdA==,i=99999999999999999999", CENOTE_ERR_PROTOCOL },
		/* so few iterations that guessing is cheap; more than the client computes */
		{ "r=" NONCE "x,s=c2FsdA==,i=4095", CENOTE_ERR_UNSUPPORTED },
		{ "r=" NONCE "x,s=c2FsdA==,i=1", CENOTE_ERR_UNSUPPORTED },
		{ "r=" NONCE "x,s=c2FsdA==,i=1000001", CENOTE_ERR_UNSUPPORTED },
		{ "r=" NONCE "x,s=c2FsdA==,i=1000000", CENOTE_OK },
		{ "r=" NONCE "x,s=c2FsdA==,i=4096,x=y", CENOTE_OK },
	};
	struct cnp_scram_client c;
	struct cnp_str out;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(cnp_scram_client_begin(
			&c, hash, "user", CNP_SCRAM_UNBOUND, NULL, NONCE, &out));
		assert_int_equal(cnp_scram_client_challenge(
					 &c, cases[i].text, strlen(cases[i].text)),
			cases[i].status);
		/* no step can be left out, and no step follows a failure */
		assert_int_equal(
			cnp_scram_client_verify(&c, SERVER_FINAL, strlen(SERVER_FINAL)),
			CENOTE_ERR_PROTOCOL);
		assert_int_equal(cnp_scram_client_challenge(
					 &c, SERVER_FIRST, strlen(SERVER_FIRST)),
			CENOTE_ERR_PROTOCOL);
		assert_int_equal(c.state, CNP_SCRAM_CLIENT_FAILED);
	}
}

static void
what_is_too_long_is_refused(void **state)
{
	char name[CNP_SCRAM_NAME_MAX + 2];
	char text[CNP_SCRAM_MESSAGE_MAX + 64];
	struct exchange x;

	memset(name, ',', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	init(&x, name, "pencil");
	assert_int_equal(run(&x), CENOTE_ERR_LIMIT);
	name[CNP_SCRAM_NAME_MAX] = '\0';
	assert_ok(run(&x));
	memset(text, 'x', sizeof(text));
	memcpy(text, "n,,n=user,r=", 12);
	cnp_scram_server_init(&x.server, hash, 0, NULL);
	assert_int_equal(cnp_scram_server_take(&x.server, text, 12 + CNP_SCRAM_NONCE_MAX),
		CENOTE_ERR_PROTOCOL);
	cnp_scram_server_init(&x.server, hash, 0, NULL);
	assert_int_equal(cnp_scram_server_take(&x.server, text, sizeof(text)),
		CENOTE_ERR_PROTOCOL);
}

/* ---- verifiers ---- */

/* What PostgreSQL 15 stores for create role … password 'pencil'. */
#define OF_POSTGRESQL                                                                    \
	"SCRAM-SHA-256$4096:Eud57b8IlfdeEdU2MofEBA==$"                                   \
	"9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0=:"                                  \
	"OCzKqPQGQtvtfalsHB2deVv5+NrjkA4ERG/+brYSgbM="

static void
a_verifier_of_postgresqls_is_one_of_ours(void **state)
{
	char text[CNP_SCRAM_VERIFIER_MAX];
	struct exchange x;

	init(&x, "user", "pencil");
	assert_ok(cnp_scram_verifier_parse(OF_POSTGRESQL, &x.verifier));
	assert_ok(run(&x));
	cnp_scram_verifier_text(&x.verifier, text);
	assert_string_equal(text, OF_POSTGRESQL);
}

static void
a_verifier_reads_back_the_same(void **state)
{
	struct cnp_scram_verifier v, again;
	char text[CNP_SCRAM_VERIFIER_MAX];

	for (uint32_t n = 1; n <= CNP_SCRAM_SALT_MAX; n++) {
		v = example_verifier();
		memset(v.salt, (int)n, n);
		v.salt_len = n;
		v.iterations = n % 2 ? CNP_SCRAM_ITERATIONS_MAX : 4096;
		memset(v.salt + n, 0, sizeof(v.salt) - n);
		cnp_scram_verifier_text(&v, text);
		assert_ok(cnp_scram_verifier_parse(text, &again));
		assert_memory_equal(&again, &v, sizeof(v));
	}
}

static void
what_is_no_verifier_is_refused(void **state)
{
	const struct cnp_scram_verifier v = example_verifier();
	char text[CNP_SCRAM_VERIFIER_MAX], bad[CNP_SCRAM_VERIFIER_MAX + 1];
	struct cnp_scram_verifier got;
	size_t n;

	cnp_scram_verifier_text(&v, text);
	n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		snprintf(bad, sizeof(bad), "%.*s", (int)i, text);
		assert_int_equal(cnp_scram_verifier_parse(bad, &got), CENOTE_ERR_ARG);
		snprintf(bad, sizeof(bad), "%s", text);
		bad[i] = '!';
		assert_int_equal(cnp_scram_verifier_parse(bad, &got), CENOTE_ERR_ARG);
	}
	snprintf(bad, sizeof(bad), "%s=", text);
	assert_int_equal(cnp_scram_verifier_parse(bad, &got), CENOTE_ERR_ARG);
	memcpy(strstr(strcpy(bad, text), "4096"), "4095", 4);
	assert_int_equal(cnp_scram_verifier_parse(bad, &got), CENOTE_ERR_UNSUPPORTED);
	assert_int_equal(got.iterations, 4095);
	assert_int_equal(
		cnp_scram_verifier_parse("md5a3556571e93b0d20722ba62be61e8c2d", &got),
		CENOTE_ERR_ARG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clients_part_of_the_example_is_ours),
		cmocka_unit_test(the_servers_part_of_the_example_is_ours),
		cmocka_unit_test(random_names_and_passwords_log_in_and_no_others),
		cmocka_unit_test(no_message_can_be_cut),
		cmocka_unit_test(no_bit_can_be_changed),
		cmocka_unit_test(who_stands_between_is_found_out),
		cmocka_unit_test(the_best_mechanism_is_chosen),
		cmocka_unit_test(openings_that_are_not_wanted_are_refused),
		cmocka_unit_test(challenges_that_cannot_be_ours_are_refused),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(a_verifier_of_postgresqls_is_one_of_ours),
		cmocka_unit_test(a_verifier_reads_back_the_same),
		cmocka_unit_test(what_is_no_verifier_is_refused),
	};

	hash = cn_crypto_get(CN_CRYPTO_ABI)->hash;
	return cmocka_run_group_tests_name("scram", tests, NULL, NULL);
}
