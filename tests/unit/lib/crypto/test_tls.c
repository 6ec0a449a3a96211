/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS as the library and cenoted use it: certificates, versions, ciphers, client
 * certificates, and a wire that delivers a byte at a time. Both ends run in this
 * process.
 */
#include "support/cnt_cmocka.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

static struct pair pair;

static struct cn_tls_client_options
client_options(void)
{
	return (struct cn_tls_client_options){ .verify = CN_TLS_VERIFY_NAME,
		.host = "localhost",
		.port = "9432",
		.user = "u",
		.sni = "localhost",
		.ca = pair_path("ca.crt") };
}

/* The options of both ends, and the texts that the server's options point to. */
struct terms {
	struct cn_tls_client_options c;
	struct cn_tls_server_options s;
	char *cert, *key, *ca, *crl;
};

static struct terms
terms_of(const char *cert, const char *key)
{
	struct terms t = { .c = client_options(),
		.cert = pair_text(cert),
		.key = pair_text(key),
		.ca = pair_text("ca.crt"),
		.crl = pair_text("ca.crl") };

	t.s = (struct cn_tls_server_options){
		.name = "main", .cert = t.cert, .key = t.key
	};
	return t;
}

static void
free_terms(struct terms *t)
{
	free(t->cert);
	free(t->key);
	free(t->ca);
	free(t->crl);
}

static void
shake(const struct terms *t)
{
	pair_init(&pair);
	assert_ok(pair_open(&pair, &t->c, &t->s));
	pair_shake(&pair);
}

static void
finish(struct terms *t)
{
	pair_finish(&pair);
	free_terms(t);
}

static void
assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* ---- which certificates are good ---- */

static void
each_check_says_what_it_found(void **state)
{
	static const struct {
		const char *cert;
		const char *ca;
		const char *crl;
		const char *host;
		enum cn_tls_verify verify;
		const char *error; /* NULL: the certificate is good */
	} cases[] = {
		{ "server.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_NAME, NULL },
		{ "server.crt", "ca.crt", "", "127.0.0.1", CN_TLS_VERIFY_NAME, NULL },
		{ "server.crt", "ca.crt", "ca.crl", "localhost", CN_TLS_VERIFY_NAME,
			NULL },
		{ "server.crt", "other-ca.crt", "", "localhost", CN_TLS_VERIFY_NAME,
			"certificate not trusted: issuer CN=Cenote tests\\, ca" },
		{ "server.crt", "other-ca.crt", "", "localhost", CN_TLS_VERIFY_NONE,
			NULL },
		{ "other-ca.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_CHAIN,
			"certificate not trusted: issuer CN=Cenote tests\\, other-ca" },
		{ "expired.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_CHAIN,
			"expired on 20" },
		{ "not-yet.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_CHAIN,
			"not yet valid: from 20" },
		{ "wrong-name.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_NAME,
			"name mismatch: wanted localhost, certificate says "
			"DNS:db.example" },
		{ "server.crt", "ca.crt", "", "192.0.2.1", CN_TLS_VERIFY_NAME,
			"name mismatch: wanted 192.0.2.1, certificate says "
			"DNS:localhost, IP:127.0.0.1" },
		{ "wrong-name.crt", "ca.crt", "", "localhost", CN_TLS_VERIFY_CHAIN,
			NULL },
		{ "revoked.crt", "ca.crt", "ca.crl", "localhost", CN_TLS_VERIFY_NAME,
			"revoked: CN=localhost" },
		{ "revoked.crt", "ca.crt", "empty.crl", "localhost", CN_TLS_VERIFY_NAME,
			NULL },
		{ "server.crt", "other-ca.crt", "ca.crl", "localhost",
			CN_TLS_VERIFY_CHAIN, "not trusted" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct terms t = terms_of(cases[i].cert,
			strcmp(cases[i].cert, "other-ca.crt") == 0 ? "other-ca.key"
								   : "server.key");

		t.c.ca = pair_path(cases[i].ca);
		t.c.crl = *cases[i].crl ? pair_path(cases[i].crl) : "";
		t.c.host = cases[i].host;
		t.c.verify = cases[i].verify;
		shake(&t);
		if (cases[i].error == NULL) {
			assert_ok(pair.client.status);
			assert_ok(pair.server.status);
		} else {
			assert_int_equal(pair.client.status, CENOTE_ERR_AUTH);
			assert_has(pair_ops->error(pair.client.tls), cases[i].error);
			assert_true(pair.server.status < 0);
			assert_has(pair_ops->error(pair.server.tls),
				"refused this one's certificate");
		}
		finish(&t);
	}
}

/* Run a handshake with a server that uses OpenSSL directly. It may have settings that cenoted
 * refuses. */
static int
shake_with(SSL *raw, BIO *wire, struct pair *p)
{
	char bytes[4096];

	for (int i = 0; i < 1000 && p->client.status == CENOTE_AGAIN; i++) {
		int n;

		p->client.status = pair_ops->handshake(p->client.tls);
		while (p->to_server.at < p->to_server.len)
			p->to_server.at += (size_t)BIO_write(wire,
				p->to_server.bytes + p->to_server.at,
				(int)(p->to_server.len - p->to_server.at));
		(void)SSL_do_handshake(raw);
		while ((n = BIO_read(wire, bytes, sizeof(bytes))) > 0) {
			memcpy(p->to_client.bytes + p->to_client.len, bytes, (size_t)n);
			p->to_client.len += (size_t)n;
		}
	}
	return p->client.status;
}

/* Connect the client to a server with `context`. Returns the client's status and error. */
static int
client_against(SSL_CTX *context, const struct cn_tls_client_options *c, char *error)
{
	struct terms unused = terms_of("server.crt", "server.key");
	SSL *raw = SSL_new(context);
	BIO *inside, *outside;
	int r;

	assert_int_equal(BIO_new_bio_pair(&inside, 65536, &outside, 65536), 1);
	SSL_set_bio(raw, inside, inside);
	SSL_set_accept_state(raw);
	pair_init(&pair);
	assert_ok(pair_open(&pair, c, &unused.s));
	r = shake_with(raw, outside, &pair);
	(void)snprintf(error, CN_TLS_ERROR_MAX, "%s", pair_ops->error(pair.client.tls));
	pair_finish(&pair);
	SSL_free(raw);
	BIO_free(outside);
	free_terms(&unused);
	return r;
}

static SSL_CTX *
weak_server(const char *cert, const char *key)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	SSL_CTX_set_security_level(context, 0);
	assert_int_equal(SSL_CTX_use_certificate_chain_file(context, pair_path(cert)), 1);
	assert_int_equal(
		SSL_CTX_use_PrivateKey_file(context, pair_path(key), SSL_FILETYPE_PEM),
		1);
	return context;
}

static void
a_weak_key_is_refused_at_both_ends(void **state)
{
	struct terms t = terms_of("weak.crt", "weak.key");
	SSL_CTX *context = weak_server("weak.crt", "weak.key");
	char error[CN_TLS_ERROR_MAX];

	pair_init(&pair);
	assert_int_equal(pair_open(&pair, &t.c, &t.s), CENOTE_ERR_ARG);
	assert_string_equal(pair.error.text, "tls_cert: ee key too small");
	pair_finish(&pair);
	assert_int_equal(client_against(context, &t.c, error), CENOTE_ERR_AUTH);
	assert_string_equal(error, "weak key: RSA of 1024 bits");
	SSL_CTX_free(context);
	free_terms(&t);
}

static void
another_protocol_s_server_is_no_pool(void **state)
{
	struct cn_tls_client_options c = client_options();
	SSL_CTX *context = weak_server("server.crt", "server.key");
	char error[CN_TLS_ERROR_MAX];

	assert_int_equal(client_against(context, &c, error), CENOTE_ERR_AUTH);
	assert_string_equal(
		error, "the other end did not agree to speak cenote/1 (ALPN)");
	SSL_CTX_free(context);
}

static void
an_old_version_is_refused(void **state)
{
	struct cn_tls_client_options c = client_options();
	SSL_CTX *context = weak_server("server.crt", "server.key");
	char error[CN_TLS_ERROR_MAX];

	(void)SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
	(void)SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
	assert_int_equal(client_against(context, &c, error), CENOTE_ERR_AUTH);
	assert_has(error, "protocol version: the other end allows none");
	(void)SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	c.min_version = "1.3";
	assert_int_equal(client_against(context, &c, error), CENOTE_ERR_AUTH);
	assert_has(error, "protocol version: ");
	SSL_CTX_free(context);
}

/* ---- versions and ciphers ---- */

static void
both_ends_have_a_say_in_versions_and_ciphers(void **state)
{
	static const struct {
		const char *client_min, *client_ciphers, *client_groups;
		const char *server_min, *server_ciphers, *server_groups;
		const char *version, *cipher; /* NULL: the ends do not agree */
		const char *says; /* the server's error then */
	} cases[] = {
		{ "1.2", "", "", "1.2", "", "", "TLSv1.3", "TLS_AES_256_GCM_SHA384",
			NULL },
		{ "1.3", "TLS_AES_128_GCM_SHA256", "", "1.2", "", "", "TLSv1.3",
			"TLS_AES_128_GCM_SHA256", NULL },
		{ "1.2", "", "", "1.2", "ECDHE-ECDSA-AES128-GCM-SHA256", "", "TLSv1.2",
			"ECDHE-ECDSA-AES128-GCM-SHA256", NULL },
		{ "1.3", "", "", "1.2", "ECDHE-ECDSA-AES128-GCM-SHA256", "", NULL, NULL,
			"protocol version" },
		{ "1.2", "ECDHE-ECDSA-AES128-GCM-SHA256", "", "1.3", "", "", NULL, NULL,
			"protocol version" },
		{ "1.2", "TLS_AES_128_GCM_SHA256", "", "1.2", "TLS_AES_256_GCM_SHA384",
			"", NULL, NULL, "no shared cipher" },
		{ "1.2", "", "X25519", "1.2", "", "P-256", NULL, NULL,
			"no shared group" },
		{ "1.2", "", "P-384", "1.2", "", "P-384", "TLSv1.3",
			"TLS_AES_256_GCM_SHA384", NULL },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct terms t = terms_of("server.crt", "server.key");
		struct cn_tls_facts f;

		t.c.min_version = cases[i].client_min;
		t.c.ciphers = cases[i].client_ciphers;
		t.c.groups = cases[i].client_groups;
		t.s.min_version = cases[i].server_min;
		t.s.ciphers = cases[i].server_ciphers;
		t.s.groups = cases[i].server_groups;
		shake(&t);
		if (cases[i].version != NULL) {
			assert_ok(pair.client.status);
			pair_ops->facts(pair.client.tls, &f);
			assert_string_equal(f.version, cases[i].version);
			assert_string_equal(f.cipher, cases[i].cipher);
		} else {
			assert_int_equal(pair.server.status, CENOTE_ERR_AUTH);
			assert_has(pair_ops->error(pair.server.tls), cases[i].says);
			assert_int_equal(pair.client.status, CENOTE_ERR_AUTH);
		}
		finish(&t);
	}
}

static void
what_cannot_be_is_said_of_the_option(void **state)
{
	static const struct {
		const char *min, *ciphers, *groups, *ca, *cert, *key, *crl, *error;
	} cases[] = {
		{ "1.1", "", "", "ca.crt", "", "", "",
			"minimum version \"1.1\": it can be 1.2 or 1.3" },
		{ "", "NULL-CIPHER", "", "ca.crt", "", "", "",
			"ciphers \"NULL-CIPHER\": no such cipher is known" },
		{ "", "", "P-1", "ca.crt", "", "", "",
			"groups \"P-1\": there is one that is not known" },
		{ "", "", "", "nowhere", "", "", "", "No such file or directory" },
		{ "", "", "", "server.key", "", "", "", "ca " },
		{ "", "", "", "ca.crt", "nowhere", "", "", "cert " },
		{ "", "", "", "ca.crt", "client.crt", "nowhere", "",
			"No such file or directory" },
		{ "", "", "", "ca.crt", "client.crt", "server.key", "", "key " },
		{ "", "", "", "ca.crt", "client.crt", "client.crt", "",
			"others may read it (mode 0644); chmod 600" },
		{ "", "", "", "ca.crt", "", "client.key", "",
			"a key without a certificate" },
		{ "", "", "", "ca.crt", "", "", "nowhere", "crl " },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct terms t = terms_of("server.crt", "server.key");

		t.c.min_version = cases[i].min;
		t.c.ciphers = cases[i].ciphers;
		t.c.groups = cases[i].groups;
		t.c.ca = pair_path(cases[i].ca);
		t.c.cert = *cases[i].cert ? pair_path(cases[i].cert) : "";
		t.c.key = *cases[i].key ? pair_path(cases[i].key) : "";
		t.c.crl = *cases[i].crl ? pair_path(cases[i].crl) : "";
		pair_init(&pair);
		assert_int_equal(pair_open(&pair, &t.c, &t.s), CENOTE_ERR_ARG);
		assert_has(pair.error.text, cases[i].error);
		finish(&t);
	}
}

/* ---- clients' certificates ---- */

static void
clients_show_what_the_pool_asks_for(void **state)
{
	static const struct {
		enum cn_tls_client_cert mode;
		const char *cert, *key;
		const char *says; /* the server's error; NULL: none */
		const char *peer; /* name in the certificate that the server sees */
	} cases[] = {
		{ CN_TLS_CLIENT_CERT_NONE, "", "", NULL, "" },
		{ CN_TLS_CLIENT_CERT_NONE, "client.crt", "client.key", NULL, "" },
		{ CN_TLS_CLIENT_CERT_REQUEST, "", "", NULL, "" },
		{ CN_TLS_CLIENT_CERT_REQUEST, "client.crt", "client.key", NULL,
			"CN=cert" },
		{ CN_TLS_CLIENT_CERT_REQUIRE, "client.crt", "client.key", NULL,
			"CN=cert" },
		{ CN_TLS_CLIENT_CERT_REQUIRE, "", "",
			"the other end shows no certificate, and must", "" },
		{ CN_TLS_CLIENT_CERT_REQUEST, "client-expired.crt", "client.key",
			"expired on 20", "" },
		{ CN_TLS_CLIENT_CERT_REQUIRE, "client-revoked.crt", "client.key",
			"revoked: CN=mallory", "" },
		{ CN_TLS_CLIENT_CERT_REQUIRE, "other-ca.crt", "other-ca.key",
			"certificate not trusted: issuer CN=Cenote tests\\, other-ca",
			"" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct terms t = terms_of("server.crt", "server.key");
		struct cn_tls_facts f;

		t.c.cert = *cases[i].cert ? pair_path(cases[i].cert) : "";
		t.c.key = *cases[i].key ? pair_path(cases[i].key) : "";
		t.s.client_cert = cases[i].mode;
		t.s.ca = t.ca;
		t.s.crl = t.crl;
		shake(&t);
		if (cases[i].says == NULL) {
			assert_ok(pair.server.status);
			pair_ops->facts(pair.server.tls, &f);
			assert_string_equal(f.peer, cases[i].peer);
			assert_int_equal(f.is_verified, *cases[i].peer != '\0');
			assert_string_equal(f.alt_names,
				*cases[i].peer ? "email:cert@db.example" : "");
		} else {
			uint8_t byte;
			size_t n;

			assert_int_equal(pair.server.status, CENOTE_ERR_AUTH);
			assert_has(pair_ops->error(pair.server.tls), cases[i].says);
			/* in TLS 1.3, the client learns of the refusal after its own handshake */
			assert_int_equal(pair_ops->read(pair.client.tls, &byte, 1, &n),
				CENOTE_ERR_AUTH);
			assert_has(pair_ops->error(pair.client.tls),
				*cases[i].cert ? "refused this one's certificate"
					       : "wants a client certificate");
		}
		finish(&t);
	}
}

/* ---- the wire ---- */

static void
fill(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
}

static void
data_survives_a_wire_of_any_width(void **state)
{
	static const size_t widths[] = { 1, 2, 3, 7, 100, 5000, 0 };
	static uint8_t bytes[60000];

	fill(bytes, sizeof(bytes));
	for (size_t i = 0; i < CNT_COUNT(widths); i++) {
		struct terms t = terms_of("server.crt", "server.key");
		size_t n = widths[i] == 0 || widths[i] > 7 ? sizeof(bytes) : 3000;

		pair_init(&pair);
		pair.to_client.most = pair.to_server.most = widths[i];
		pair.to_client.room = pair.to_server.room = widths[i] * 3;
		assert_ok(pair_open(&pair, &t.c, &t.s));
		pair_shake(&pair);
		assert_ok(pair.client.status);
		assert_ok(pair.server.status);
		assert_int_equal(pair_send(&pair.client, &pair.server, bytes, n), n);
		assert_int_equal(pair_send(&pair.server, &pair.client, bytes, n), n);
		assert_int_equal(pair_ops->unsent(pair.server.tls), 0);
		assert_int_equal(pair_ops->pending(pair.client.tls), 0);
		finish(&t);
	}
}

static void
nothing_stays_unseen_behind_an_empty_wire(void **state)
{
	struct terms t = terms_of("server.crt", "server.key");
	uint8_t bytes[900], room[100];
	size_t n, got = 0;

	fill(bytes, sizeof(bytes));
	shake(&t);
	/* three records, received at once */
	for (size_t i = 0; i < 3; i++)
		assert_ok(pair_ops->write(pair.server.tls, bytes + i * 300, 300, &n));
	do {
		assert_ok(pair_ops->read(pair.client.tls, room, sizeof(room), &n));
		assert_memory_equal(room, bytes + got, n);
		got += n;
		assert_int_equal(pair.to_client.at, pair.to_client.len);
	} while (got < sizeof(bytes) && pair_ops->pending(pair.client.tls));
	assert_int_equal(got, sizeof(bytes));
	assert_int_equal(
		pair_ops->read(pair.client.tls, room, sizeof(room), &n), CENOTE_AGAIN);
	assert_int_equal(pair_ops->pending(pair.client.tls), 0);
	finish(&t);
}

/* How many bytes a whole handshake and one answer take, each way. */
static void
measure(size_t *ret_to_server, size_t *ret_to_client)
{
	struct terms t = terms_of("server.crt", "server.key");

	shake(&t);
	assert_int_equal(
		pair_send(&pair.client, &pair.server, (const uint8_t *)"x", 1), 1);
	assert_int_equal(
		pair_send(&pair.server, &pair.client, (const uint8_t *)"y", 1), 1);
	*ret_to_server = pair.to_server.len;
	*ret_to_client = pair.to_client.len;
	finish(&t);
}

/* Cut the wire of one direction at byte `at`, or change that byte. */
static void
disturb(int is_to_server, int is_flip, size_t at)
{
	static const uint8_t question[] = "question", answer[] = "answer";
	struct terms t = terms_of("server.crt", "server.key");
	struct wire *w;
	size_t n;

	pair_init(&pair);
	w = is_to_server ? &pair.to_server : &pair.to_client;
	*(is_flip ? &w->flip_at : &w->cut_at) = at;
	assert_ok(pair_open(&pair, &t.c, &t.s));
	pair_shake(&pair);
	/* an end may wait for the bytes of a changed length, but both see that the wire is cut */
	if (!is_flip) {
		assert_int_not_equal(pair.client.status, CENOTE_AGAIN);
		assert_int_not_equal(pair.server.status, CENOTE_AGAIN);
	}
	if (pair.client.status == CENOTE_OK && pair.server.status == CENOTE_OK) {
		n = pair_send(&pair.client, &pair.server, question, sizeof(question));
		assert_true(n == 0 || n == sizeof(question));
		n = pair_send(&pair.server, &pair.client, answer, sizeof(answer));
		assert_true(n == 0 || n == sizeof(answer));
		/* no answer crosses a wire that was cut */
		assert_true(is_flip || n == 0);
	}
	finish(&t);
}

static void
a_wire_that_ends_at_any_byte_gives_nothing(void **state)
{
	size_t to_server, to_client;

	measure(&to_server, &to_client);
	assert_true(to_server > 200 && to_client > 500);
	for (size_t at = 0; at < to_server; at++)
		disturb(1, 0, at);
	for (size_t at = 0; at < to_client; at++)
		disturb(0, 0, at);
}

static void
a_byte_that_is_changed_is_never_believed(void **state)
{
	size_t to_server, to_client;

	measure(&to_server, &to_client);
	for (size_t at = 0; at < to_server; at += 3)
		disturb(1, 1, at);
	for (size_t at = 0; at < to_client; at += 3)
		disturb(0, 1, at);
}

/* ---- sessions ---- */

/* Connect once. Returns 1 if a session was resumed, 0 if not, or the status of a refusal. */
static int
visit(const struct terms *v)
{
	struct cn_tls_facts f;
	int r;

	shake(v);
	r = pair.server.status;
	if (r == CENOTE_OK) {
		/* the ticket comes with the first answer */
		assert_int_equal(
			pair_send(&pair.server, &pair.client, (const uint8_t *)"x", 1),
			1);
		pair_ops->facts(pair.server.tls, &f);
		r = f.is_resumed;
		pair_ops->facts(pair.client.tls, &f);
		assert_int_equal(f.is_resumed, r);
	}
	pair_finish(&pair);
	return r;
}

static void
sessions_are_resumed_where_nothing_changed(void **state)
{
	struct cn_tls_tickets *tickets = calloc(1, pair_ops->tickets_size());
	struct terms v = terms_of("server.crt", "server.key");

	assert_ok(pair_ops->tickets_rotate(tickets));
	v.s.tickets = tickets;
	v.c.user = "resumer";
	for (int is_old = 0; is_old < 2; is_old++) {
		v.c.ciphers = is_old ? "ECDHE-ECDSA-AES256-GCM-SHA384" : "";
		assert_int_equal(visit(&v), 0);
		assert_int_equal(visit(&v), 1);
		assert_int_equal(visit(&v), 1);
		/* another user, another port, another kind of check */
		v.c.user = is_old ? "b" : "a";
		assert_int_equal(visit(&v), 0);
		v.c.user = "resumer";
		v.c.port = "1";
		assert_int_equal(visit(&v), 0);
		v.c.port = "9432";
		v.c.verify = CN_TLS_VERIFY_CHAIN;
		assert_int_equal(visit(&v), 0);
		v.c.verify = CN_TLS_VERIFY_NAME;
		assert_int_equal(visit(&v), 1);
		/* another pool */
		v.s.name = "other";
		assert_int_equal(visit(&v), 0);
		v.s.name = "main";
		assert_int_equal(visit(&v), 0);
		assert_int_equal(visit(&v), 1);
	}
	v.c.ciphers = "";
	/* a ticket of the key before the newest one works and is replaced; tickets of older keys
	 * do not work */
	assert_ok(pair_ops->tickets_rotate(tickets));
	assert_int_equal(visit(&v), 1);
	assert_ok(pair_ops->tickets_rotate(tickets));
	assert_int_equal(visit(&v), 1);
	assert_ok(pair_ops->tickets_rotate(tickets));
	assert_ok(pair_ops->tickets_rotate(tickets));
	assert_int_equal(visit(&v), 0);
	v.s.tickets = NULL;
	assert_int_equal(visit(&v), 0);
	assert_int_equal(visit(&v), 0);
	free_terms(&v);
	free(tickets);
}

static void
a_client_revoked_meanwhile_is_not_resumed(void **state)
{
	struct cn_tls_tickets *tickets = calloc(1, pair_ops->tickets_size());
	char *before = pair_text("empty.crl");
	struct terms v = terms_of("server.crt", "server.key");

	assert_ok(pair_ops->tickets_rotate(tickets));
	v.c.cert = pair_path("client-revoked.crt");
	v.c.key = pair_path("client.key");
	v.s.tickets = tickets;
	v.s.client_cert = CN_TLS_CLIENT_CERT_REQUIRE;
	v.s.ca = v.ca;
	v.s.crl = before;
	for (int is_old = 0; is_old < 2; is_old++) {
		v.c.ciphers = is_old ? "ECDHE-ECDSA-AES256-GCM-SHA384" : "";
		v.s.crl = before;
		assert_int_equal(visit(&v), 0);
		assert_int_equal(visit(&v), 1);
		v.s.crl = v.crl;
		assert_int_equal(visit(&v), CENOTE_ERR_AUTH);
		assert_int_equal(visit(&v), CENOTE_ERR_AUTH);
	}
	free(before);
	free_terms(&v);
	free(tickets);
}

static void
a_server_revoked_meanwhile_is_not_resumed(void **state)
{
	struct cn_tls_tickets *tickets = calloc(1, pair_ops->tickets_size());
	struct terms v = terms_of("revoked.crt", "server.key");
	char crl[96];

	assert_ok(pair_ops->tickets_rotate(tickets));
	v.s.tickets = tickets;
	(void)snprintf(crl, sizeof(crl), "%s", pair_path("now.crl"));
	v.c.crl = crl;
	assert_int_equal(link(pair_path("empty.crl"), crl), 0);
	assert_int_equal(visit(&v), 0);
	assert_int_equal(visit(&v), 1);
	assert_int_equal(unlink(crl), 0);
	assert_int_equal(link(pair_path("ca.crl"), crl), 0);
	assert_true(visit(&v) < 0);
	free_terms(&v);
	free(tickets);
}

static void
both_ends_have_the_same_binding_and_no_other_has(void **state)
{
	static const char *const ciphers[] = { "", "ECDHE-ECDSA-AES256-GCM-SHA384" };
	uint8_t seen[2][32], other[32];

	for (size_t i = 0; i < CNT_COUNT(ciphers); i++) {
		struct terms t = terms_of("server.crt", "server.key");

		t.c.ciphers = ciphers[i];
		shake(&t);
		assert_ok(pair_ops->binding(pair.client.tls, seen[i]));
		assert_ok(pair_ops->binding(pair.server.tls, other));
		assert_memory_equal(seen[i], other, 32);
		finish(&t);
	}
	assert_memory_not_equal(seen[0], seen[1], 32);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_check_says_what_it_found),
		cmocka_unit_test(a_weak_key_is_refused_at_both_ends),
		cmocka_unit_test(another_protocol_s_server_is_no_pool),
		cmocka_unit_test(an_old_version_is_refused),
		cmocka_unit_test(both_ends_have_a_say_in_versions_and_ciphers),
		cmocka_unit_test(what_cannot_be_is_said_of_the_option),
		cmocka_unit_test(clients_show_what_the_pool_asks_for),
		cmocka_unit_test(data_survives_a_wire_of_any_width),
		cmocka_unit_test(nothing_stays_unseen_behind_an_empty_wire),
		cmocka_unit_test(a_wire_that_ends_at_any_byte_gives_nothing),
		cmocka_unit_test(a_byte_that_is_changed_is_never_believed),
		cmocka_unit_test(sessions_are_resumed_where_nothing_changed),
		cmocka_unit_test(a_client_revoked_meanwhile_is_not_resumed),
		cmocka_unit_test(a_server_revoked_meanwhile_is_not_resumed),
		cmocka_unit_test(both_ends_have_the_same_binding_and_no_other_has),
	};

	return cmocka_run_group_tests_name("tls", tests, pair_setup, pair_teardown);
}
