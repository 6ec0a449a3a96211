/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TLS client and a TLS server in one process, joined by two buffers. The certificates
 * come from tests/support/make-certs, once per test program.
 */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_process.h"

#define TURNS 100000

char pair_dir[64];
const struct cn_tls_ops *pair_ops;

const char *
pair_path(const char *name)
{
	static char texts[64][96];
	static size_t at;

	at = (at + 1) % 64;
	(void)snprintf(texts[at], sizeof(texts[at]), "%s/%s", pair_dir, name);
	return texts[at];
}

char *
pair_text(const char *name)
{
	FILE *f = fopen(pair_path(name), "re");
	char *text = calloc(1, 65536);

	if (f == NULL || text == NULL || fread(text, 1, 65535, f) == 0)
		abort();
	fclose(f);
	return text;
}

int
pair_setup(void **state)
{
	const char *const argv[] = { CNT_MAKE_CERTS, pair_dir, NULL };
	char noise[4096];
	const struct cnt_command command = {
		.argv = argv, .output = noise, .size = sizeof(noise)
	};

	(void)state;
	pair_ops = cn_crypto_get(CN_CRYPTO_ABI)->tls;
	(void)snprintf(pair_dir, sizeof(pair_dir), "/tmp/cenote-tls-XXXXXX");
	return mkdtemp(pair_dir) == NULL ? -1 : cnt_run(&command);
}

int
pair_teardown(void **state)
{
	(void)state;
	cnt_remove_tree(pair_dir);
	return 0;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int
wire_read(void *user, void *room, size_t n, size_t *ret_n)
{
	struct wire *w = ((struct end *)user)->in;

	n = least(n, least(w->len, w->cut_at) - w->at);
	if (w->most > 0)
		n = least(n, w->most);
	if (n == 0 && w->at < w->cut_at)
		return CENOTE_AGAIN;
	memcpy(room, w->bytes + w->at, n);
	w->at += n;
	*ret_n = n;
	return CENOTE_OK;
}

static int
wire_write(void *user, const void *bytes, size_t n, size_t *ret_n)
{
	struct wire *w = ((struct end *)user)->out;

	if (w->most > 0)
		n = least(n, w->most);
	if (w->room > 0)
		n = least(n, w->room - (w->len - w->at));
	n = least(n, WIRE_SIZE - w->len);
	if (n == 0)
		return CENOTE_AGAIN;
	memcpy(w->bytes + w->len, bytes, n);
	if (w->flip_at >= w->len && w->flip_at < w->len + n)
		w->bytes[w->flip_at] ^= 0x20;
	w->len += n;
	*ret_n = n;
	return CENOTE_OK;
}

void
pair_init(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->client.in = p->server.out = &p->to_client;
	p->client.out = p->server.in = &p->to_server;
	p->to_client.cut_at = p->to_server.cut_at = SIZE_MAX;
	p->to_client.flip_at = p->to_server.flip_at = SIZE_MAX;
}

void
pair_finish(struct pair *p)
{
	pair_ops->destroy(p->client.tls);
	pair_ops->destroy(p->server.tls);
	pair_ops->server_destroy(p->context);
	p->client.tls = NULL;
	p->server.tls = NULL;
	p->context = NULL;
}

int
pair_open(struct pair *p, const struct cn_tls_client_options *client,
	const struct cn_tls_server_options *server)
{
	const struct cn_tls_io of_client = { wire_read, wire_write, &p->client };
	const struct cn_tls_io of_server = { wire_read, wire_write, &p->server };
	int r = pair_ops->server_create(server, &p->context, &p->error);

	if (r == CENOTE_OK)
		r = pair_ops->accept(p->context, &of_server, &p->server.tls);
	if (r == CENOTE_OK)
		r = pair_ops->connect(client, &of_client, &p->client.tls, &p->error);
	p->client.status = CENOTE_AGAIN;
	p->server.status = CENOTE_AGAIN;
	return r;
}

void
pair_shake(struct pair *p)
{
	for (int i = 0; i < TURNS; i++) {
		if (p->client.status == CENOTE_AGAIN)
			p->client.status = pair_ops->handshake(p->client.tls);
		if (p->server.status == CENOTE_AGAIN)
			p->server.status = pair_ops->handshake(p->server.tls);
		if (p->client.status != CENOTE_AGAIN && p->server.status != CENOTE_AGAIN)
			return;
		/* an end that failed closes its side */
		if (p->client.status < 0)
			p->to_server.cut_at = p->to_server.len;
		if (p->server.status < 0)
			p->to_client.cut_at = p->to_client.len;
	}
}

size_t
pair_send(struct end *from, struct end *to, const uint8_t *bytes, size_t n)
{
	uint8_t room[5000];
	size_t put = 0, got = 0;

	for (int i = 0; i < TURNS && got < n; i++) {
		size_t k = 0;
		int r;

		if (put < n &&
			pair_ops->write(from->tls, bytes + put, n - put, &k) == CENOTE_OK)
			put += k;
		else
			(void)pair_ops->flush(from->tls);
		k = 0;
		r = pair_ops->read(to->tls, room, sizeof(room), &k);
		if (r < 0 || (r == CENOTE_OK && k == 0))
			return got;
		if (k > n - got || memcmp(room, bytes + got, k) != 0)
			return SIZE_MAX;
		got += k;
	}
	return got;
}
