/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_tds_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADER      8u
#define PACKET_MAX  32768u
#define TEXT_MAX    4096u
/* How long an endless answer goes on if the client does not stop it. */
#define PATIENCE_MS 60000

/* Types of packets. */
enum {
	BATCH = 1,
	RESULT = 4,
	ATTENTION = 6,
	LOGIN = 16,
	PRELOGIN = 18
};

/* Flags of DONE. */
enum {
	DONE_MORE = 1,
	DONE_ERROR = 2,
	DONE_COUNT = 16,
	DONE_ATTENTION = 32
};

struct out {
	uint8_t bytes[PACKET_MAX];
	size_t n;
};

struct conn {
	struct cnt_tds_peer *peer;
	int fd;
	SSL *ssl; /* NULL: in clear */
	BIO *from_client, *to_client;
	int is_handshake; /* the records of TLS travel in packets */
	uint8_t packet[PACKET_MAX];
	size_t len;
	struct out out;
};

/* ---- bytes ---- */

/* Wait until there is something to read, or room to write. 1; 0: the test is over. */
static int
wait_until(struct conn *c, short events)
{
	struct pollfd fds[2] = { { .fd = c->fd, .events = events },
		{ .fd = c->peer->stop[0], .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

static int
wait_for(struct conn *c)
{
	return wait_until(c, POLLIN);
}

static int
read_raw(struct conn *c, void *room, size_t n)
{
	uint8_t *at = room;

	while (n > 0) {
		ssize_t got = wait_for(c) ? recv(c->fd, at, n, 0) : 0;

		if (got <= 0)
			return -1;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

static int
write_raw(struct conn *c, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n > 0) {
		ssize_t put = send(c->fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (put < 0 && (errno != EAGAIN || !wait_until(c, POLLOUT)))
			return -1;
		if (put > 0) {
			at += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static int
write_packet_raw(struct conn *c, uint8_t type, const uint8_t *bytes, size_t n)
{
	uint8_t packet[PACKET_MAX + HEADER] = { type, 1, (uint8_t)((n + HEADER) >> 8),
		(uint8_t)(n + HEADER) };

	memcpy(packet + HEADER, bytes, n);
	return write_raw(c, packet, n + HEADER);
}

/* Send the bytes that TLS has for the client; during the handshake, in a packet. */
static int
flush_tls(struct conn *c)
{
	uint8_t bytes[PACKET_MAX];
	int n = BIO_read(c->to_client, bytes, sizeof(bytes));

	if (n <= 0)
		return 0;
	return c->is_handshake ? write_packet_raw(c, PRELOGIN, bytes, (size_t)n)
			       : write_raw(c, bytes, (size_t)n);
}

/* Read bytes, through TLS if the connection uses it. */
static int
read_plain(struct conn *c, uint8_t *room, size_t n)
{
	uint8_t one;

	if (!c->ssl)
		return read_raw(c, room, n);
	while (n > 0) {
		int got = SSL_read(c->ssl, room, (int)n);

		if (got > 0) {
			room += got;
			n -= (size_t)got;
		} else if (read_raw(c, &one, 1) < 0) {
			return -1;
		} else {
			(void)BIO_write(c->from_client, &one, 1);
		}
	}
	return 0;
}

/* Read a message. Returns its type, or -1. Of a message in several packets, only the last packet is
 * kept. */
static int
read_packet(struct conn *c)
{
	uint8_t header[HEADER];
	size_t n;

	do {
		if (read_plain(c, header, HEADER) < 0)
			return -1;
		n = (size_t)header[2] << 8 | header[3];
		if (n < HEADER || n - HEADER > sizeof(c->packet) ||
			read_plain(c, c->packet, n - HEADER) < 0)
			return -1;
		c->len = n - HEADER;
	} while (!(header[1] & 1));
	return header[0];
}

/* Send a packet of the answer: the last one, or one before it. */
static int
write_part(struct conn *c, int is_last)
{
	uint8_t packet[PACKET_MAX + HEADER] = { RESULT, (uint8_t)is_last,
		(uint8_t)((c->out.n + HEADER) >> 8), (uint8_t)(c->out.n + HEADER) };
	size_t n = c->out.n + HEADER;

	memcpy(packet + HEADER, c->out.bytes, c->out.n);
	c->out.n = 0;
	if (!c->ssl)
		return write_raw(c, packet, n);
	return SSL_write(c->ssl, packet, (int)n) == (int)n ? flush_tls(c) : -1;
}

static int
write_packet(struct conn *c)
{
	return write_part(c, 1);
}

static void
put(struct out *o, const void *bytes, size_t n)
{
	if (n > sizeof(o->bytes) - o->n)
		abort();
	memcpy(o->bytes + o->n, bytes, n);
	o->n += n;
}

static void
put_number(struct out *o, uint64_t v, size_t n)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	put(o, bytes, n);
}

/* ASCII, in UTF-16 with a count of characters in front. */
static void
put_text(struct out *o, const char *text, size_t count_size)
{
	size_t n = strlen(text);

	put_number(o, n, count_size);
	for (size_t i = 0; i < n; i++)
		put_number(o, (uint8_t)text[i], 2);
}

/* ---- tokens ---- */

static void
put_done(struct out *o, unsigned flags, unsigned count)
{
	put_number(o, 0xfd, 1);
	put_number(o, flags, 2);
	put_number(o, 0xc1, 2);
	put_number(o, count, 8);
}

static void
put_message(struct out *o, int token, uint32_t number, unsigned level, const char *text)
{
	struct out body = { .n = 0 };

	put_number(&body, number, 4);
	put_number(&body, 1, 1);
	put_number(&body, level, 1);
	put_text(&body, text, 2);
	put_text(&body, "peer", 1);
	put_text(&body, "", 1);
	put_number(&body, 1, 4);
	put_number(o, (uint64_t)token, 1);
	put_number(o, body.n, 2);
	put(o, body.bytes, body.n);
}

static void
put_login_ack(struct out *o)
{
	struct out body = { .n = 0 };

	put_number(&body, 1, 1);
	put_number(&body, 0x04000074, 4); /* 7.4, the highest byte first */
	put_text(&body, "peer", 1);
	put_number(&body, 0, 4);
	put_number(o, 0xad, 1);
	put_number(o, body.n, 2);
	put(o, body.bytes, body.n);
}

static void
put_columns(struct out *o, const char *const *names, unsigned n)
{
	static const uint8_t collation[5] = { 9, 4, 0xd0, 0, 0x34 };

	put_number(o, 0x81, 1);
	put_number(o, n, 2);
	for (unsigned i = 0; i < n; i++) {
		put_number(o, 0, 4);
		put_number(o, 9, 2);
		put_number(o, 0xe7, 1); /* nvarchar */
		put_number(o, 4000, 2);
		put(o, collation, sizeof(collation));
		put_text(o, names[i], 1);
	}
}

static void
put_row(struct out *o, const char *const *values, unsigned n)
{
	put_number(o, 0xd1, 1);
	for (unsigned i = 0; i < n; i++) {
		put_number(o, 2 * strlen(values[i]), 2);
		for (const char *p = values[i]; *p; p++)
			put_number(o, (uint8_t)*p, 2);
	}
}

/* ---- the login ---- */

static int
answer_prelogin(struct conn *c)
{
	const struct cnt_tds_peer *p = c->peer;
	const uint8_t answer[] = { 0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0,
		0, (uint8_t)p->encryption };

	if (read_packet(c) != PRELOGIN)
		return -1;
	if (p->is_no_tds) {
		(void)write_raw(c, "220 peer ESMTP\r\n", 16);
		return -1;
	}
	return write_packet_raw(c, RESULT, answer, sizeof(answer));
}

static int
shake_hands(struct conn *c)
{
	c->from_client = BIO_new(BIO_s_mem());
	c->to_client = BIO_new(BIO_s_mem());
	SSL *ssl = SSL_new(c->peer->context);

	SSL_set_bio(ssl, c->from_client, c->to_client);
	SSL_set_accept_state(ssl);
	c->is_handshake = 1;
	while (SSL_do_handshake(ssl) <= 0) {
		if (flush_tls(c) < 0 || read_packet(c) != PRELOGIN) {
			SSL_free(ssl);
			return -1;
		}
		(void)BIO_write(c->from_client, c->packet, (int)c->len);
	}
	if (flush_tls(c) < 0) {
		SSL_free(ssl);
		return -1;
	}
	c->is_handshake = 0;
	c->ssl = ssl;
	return 0;
}

static int
answer_login(struct conn *c)
{
	if (read_packet(c) != LOGIN || c->peer->login == CNT_TDS_LOGIN_CLOSED)
		return -1;
	if (c->peer->login == CNT_TDS_LOGIN_REFUSED) {
		put_message(&c->out, 0xaa, 18456, 14, "Login failed for user 'app'.");
		put_done(&c->out, DONE_ERROR, 0);
		(void)write_packet(c);
		return -1;
	}
	put_login_ack(&c->out);
	put_done(&c->out, 0, 0);
	return write_packet(c);
}

/* ---- statements ---- */

static int
put_rows(struct conn *c, unsigned n)
{
	static const char *const name[] = { "n" };

	put_columns(&c->out, name, 1);
	for (unsigned i = 0; i < n; i++) {
		char text[16];
		const char *const value[] = { text };

		snprintf(text, sizeof(text), "%u", i + 1);
		put_row(&c->out, value, 1);
		if (c->out.n > PACKET_MAX / 2 && write_part(c, 0) < 0)
			return -1;
	}
	return 0;
}

static int
drop(struct conn *c, unsigned n)
{
	if (put_rows(c, n) < 0)
		return -1;
	put_number(&c->out, 0xd1, 1);
	put_number(&c->out, 100, 2);
	(void)write_packet(c);
	return -1;
}

/* Send nothing until the client asks to stop. */
static int
stall(struct conn *c)
{
	if (read_packet(c) != ATTENTION)
		return -1;
	put_done(&c->out, DONE_ATTENTION, 0);
	return write_packet(c);
}

static int
be_deaf(struct conn *c)
{
	while (read_packet(c) >= 0)
		;
	return -1;
}

static void
put_endless(struct conn *c, char what)
{
	static const char *const name[] = { "n" }, *const value[] = { "1" };

	if (what == 'p')
		put_message(&c->out, 0xab, 0, 0, "a message");
	else if (what == 'e')
		put_message(&c->out, 0xaa, 208, 16, "Invalid object name 't'.");
	else if (what == 'r')
		put_columns(&c->out, name, 1);
	if (what == 'r' || what == 'R')
		put_row(&c->out, value, 1);
	if (what != 'R')
		put_done(&c->out, DONE_MORE | (what == 'e' ? DONE_ERROR : 0), 1);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Send without an end, until the client asks to stop. The pauses make it slow enough for a client
 * that keeps everything. */
static int
go_on_and_on(struct conn *c, const char *what, int is_deaf)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	int64_t until = now_ms() + PATIENCE_MS;
	static const char *const name[] = { "n" };
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char kind = *what;

	if (strcmp(what, "rows") == 0) {
		kind = 'R';
		put_columns(&c->out, name, 1);
	}
	for (;;) {
		put_endless(c, kind);
		if (write_part(c, 0) < 0)
			return -1;
		if (now_ms() > until) {
			c->peer->has_given_up = 1;
			return -1;
		}
		(void)nanosleep(&pause, NULL);
		if (is_deaf || poll(&p, 1, 0) <= 0)
			continue;
		if (read_packet(c) != ATTENTION)
			return -1;
		put_done(&c->out, DONE_ATTENTION, 0);
		return write_packet(c);
	}
}

static int
answer_all_others(struct conn *c, const char *sql)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	const char *const values[] = { sql, "peer", "1", "0" };

	put_columns(&c->out, names, 4);
	put_row(&c->out, values, 4);
	put_done(&c->out, DONE_COUNT, 1);
	return write_packet(c);
}

/* The number after a word; 0 if the statement has another word. SELECT may come first, for a
 * statement that must look like a read. */
static unsigned
number_of(const char *sql, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(sql, "select ", 7) == 0)
		sql += 7;
	return strncmp(sql, word, n) == 0 ? (unsigned)strtoul(sql + n, NULL, 10) : 0;
}

static int
answer_statement(struct conn *c, const char *sql)
{
	unsigned n = number_of(sql, "rows ");

	if (n > 0) {
		if (put_rows(c, n) < 0)
			return -1;
		put_done(&c->out, DONE_COUNT, n);
		return write_packet(c);
	}
	n = number_of(sql, "drop ");
	if (n > 0)
		return drop(c, n);
	if (strcmp(sql, "error") == 0) {
		put_message(&c->out, 0xaa, 208, 16, "Invalid object name 't'.");
		put_done(&c->out, DONE_ERROR, 0);
		return write_packet(c);
	}
	if (strcmp(sql, "print") == 0) {
		put_message(&c->out, 0xab, 0, 0, "a message");
		put_done(&c->out, 0, 0);
		return write_packet(c);
	}
	if (strcmp(sql, "stall") == 0)
		return stall(c);
	if (strncmp(sql, "endless ", 8) == 0)
		return go_on_and_on(c, sql + 8, 0);
	if (strncmp(sql, "boundless ", 10) == 0)
		return go_on_and_on(c, sql + 10, 1);
	return strcmp(sql, "deaf") == 0 ? be_deaf(c) : answer_all_others(c, sql);
}

/* Answer a batch, whose text follows the headers of the message in UTF-16. */
static int
answer_batch(struct conn *c)
{
	char sql[TEXT_MAX] = "";
	size_t at, n = 0;

	if (c->len < 4)
		return -1;
	at = (size_t)c->packet[0] | (size_t)c->packet[1] << 8;
	for (; at + 1 < c->len && n + 1 < sizeof(sql); at += 2)
		sql[n++] = (char)c->packet[at];
	sql[n] = '\0';
	return answer_statement(c, sql);
}

static void
serve(struct conn *c)
{
	int type;

	if (answer_prelogin(c) < 0)
		return;
	if (c->peer->context && c->peer->encryption != CNT_TDS_ENCRYPT_NONE &&
		shake_hands(c) < 0)
		return;
	if (answer_login(c) < 0)
		return;
	while ((type = read_packet(c)) >= 0) {
		if (type == ATTENTION) {
			put_done(&c->out, DONE_ATTENTION, 0);
			(void)write_packet(c);
		} else if (type != BATCH || answer_batch(c) < 0) {
			return;
		}
	}
}

static void *
serve_all(void *user)
{
	struct cnt_tds_peer *p = user;
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	for (;;) {
		memset(c, 0, sizeof(*c));
		c->peer = p;
		c->fd = p->fd;
		if (!wait_for(c))
			break;
		c->fd = accept(p->fd, NULL, NULL);
		if (c->fd < 0)
			continue;
		serve(c);
		SSL_free(c->ssl);
		close(c->fd);
	}
	free(c);
	return NULL;
}

/* ---- its life ---- */

static int
make_context(struct cnt_tds_peer *p)
{
	SSL_CTX *context;

	if (!p->certificate)
		return 0;
	context = SSL_CTX_new(TLS_server_method());
	if (!context ||
		SSL_CTX_use_certificate_file(context, p->certificate, SSL_FILETYPE_PEM) !=
			1 ||
		SSL_CTX_use_PrivateKey_file(context, p->key, SSL_FILETYPE_PEM) != 1)
		return -1;
	/* like the servers of this protocol: with TLS 1.3, a ticket would come outside of a packet */
	SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	p->context = context;
	return 0;
}

int
cnt_tds_peer_start(struct cnt_tds_peer *p)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (make_context(p) < 0 || pipe(p->stop) < 0 || p->fd < 0 ||
		bind(p->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		listen(p->fd, 8) < 0 ||
		getsockname(p->fd, (struct sockaddr *)&at, &len) < 0)
		return -1;
	p->port = ntohs(at.sin_port);
	return pthread_create(&p->thread, NULL, serve_all, p) == 0 ? 0 : -1;
}

void
cnt_tds_peer_stop(struct cnt_tds_peer *p)
{
	if (write(p->stop[1], "", 1) == 1)
		pthread_join(p->thread, NULL);
	close(p->stop[0]);
	close(p->stop[1]);
	close(p->fd);
	SSL_CTX_free(p->context);
}
