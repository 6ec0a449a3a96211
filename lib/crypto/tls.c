/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * One TLS connection, of either end. OpenSSL reads and writes through a BIO that calls the owner's
 * functions. Ciphertext that the peer does not take now is kept in tls->out. So a write takes whole
 * records or nothing, and the caller never has to pass the same bytes again.
 */

static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static size_t
unsent_len(const struct cn_tls *tls)
{
	return tls->out_len - tls->out_at;
}

static int
keep_unsent(struct cn_tls *tls, const char *bytes, size_t n)
{
	size_t need = unsent_len(tls) + n;

	if (tls->out_at > 0) {
		memmove(tls->out, tls->out + tls->out_at, unsent_len(tls));
		tls->out_len -= tls->out_at;
		tls->out_at = 0;
	}
	if (need > tls->out_cap) {
		uint8_t *grown = realloc(tls->out, need);

		if (grown == NULL)
			return CENOTE_ERR_NOMEM;
		tls->out = grown;
		tls->out_cap = need;
	}
	memcpy(tls->out + tls->out_len, bytes, n);
	tls->out_len += n;
	return CENOTE_OK;
}

static int
on_bio_write(BIO *bio, const char *bytes, int len)
{
	struct cn_tls *tls = BIO_get_data(bio);
	size_t put = 0, n = (size_t)len;

	BIO_clear_retry_flags(bio);
	if (!tls->is_deaf && unsent_len(tls) == 0)
		tls->is_deaf = tls->io.write(tls->io.user, bytes, n, &put) < 0;
	/* Pretend that the bytes were sent: with an error OpenSSL would also stop reading. */
	if (tls->is_deaf)
		return len;
	if (put < n && keep_unsent(tls, bytes + put, n - put) < 0)
		return -1;
	return len;
}

static int
on_bio_read(BIO *bio, char *room, int len)
{
	struct cn_tls *tls = BIO_get_data(bio);
	size_t got = 0;
	int r = CENOTE_AGAIN;

	BIO_clear_retry_flags(bio);
	if (!tls->is_locked)
		r = tls->io.read(tls->io.user, room, (size_t)len, &got);
	if (r == CENOTE_AGAIN)
		BIO_set_retry_read(bio);
	if (r != CENOTE_OK)
		return -1;
	tls->is_ended = got == 0;
	tls->has_more = got > 0;
	return (int)got;
}

static long
on_bio_ctrl(BIO *bio, int cmd, long number, void *pointer)
{
	const struct cn_tls *tls = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	if (cmd == BIO_CTRL_EOF)
		return tls->is_ended;
	return cmd == BIO_CTRL_FLUSH;
}

static void
make_method(void)
{
	BIO_METHOD *m = BIO_meth_new(
		BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cenote connection");

	if (m == NULL)
		return;
	if (BIO_meth_set_write(m, on_bio_write) && BIO_meth_set_read(m, on_bio_read) &&
		BIO_meth_set_ctrl(m, on_bio_ctrl))
		method = m;
	else
		BIO_meth_free(m);
}

struct cn_tls *
cn_tls_create(SSL *ssl, const struct cn_tls_io *io)
{
	struct cn_tls *tls = calloc(1, sizeof(*tls));
	BIO *bio;

	(void)pthread_once(&method_once, make_method);
	bio = tls != NULL && method != NULL ? BIO_new(method) : NULL;
	if (bio == NULL) {
		SSL_free(ssl);
		free(tls);
		return NULL;
	}
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	SSL_set_app_data(ssl, tls);
	tls->ssl = ssl;
	tls->io = *io;
	return tls;
}

static void
tls_destroy(struct cn_tls *tls)
{
	if (tls == NULL)
		return;
	/* The peer needs no announcement of the end. And without these flags, SSL_free() would make
	 * the TLS session unusable for the next connection. */
	SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(tls->ssl);
	free(tls->out);
	free(tls);
}

static int
tls_flush(struct cn_tls *tls)
{
	size_t put;
	int r;

	while (unsent_len(tls) > 0) {
		r = tls->io.write(
			tls->io.user, tls->out + tls->out_at, unsent_len(tls), &put);
		if (r == CENOTE_AGAIN)
			return r;
		if (r < 0)
			tls->is_deaf = 1;
		tls->out_at += r < 0 ? unsent_len(tls) : put;
	}
	tls->out_at = 0;
	tls->out_len = 0;
	return tls->is_deaf ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* Find out why a call returned no bytes: CENOTE_AGAIN, or the error that ended the connection. */
static int
not_done(struct cn_tls *tls, int result)
{
	int error = SSL_get_error(tls->ssl, result);

	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return CENOTE_AGAIN;
	tls->status = cn_tls_explain(tls, error);
	/* Send the alert by which the peer learns of the error. */
	(void)tls_flush(tls);
	return tls->status;
}

static int
fail_handshake(struct cn_tls *tls, const char *why)
{
	(void)snprintf(tls->error.text, sizeof(tls->error.text), "%s", why);
	tls->status = CENOTE_ERR_AUTH;
	return tls->status;
}

/* Check ALPN: a TLS server of another protocol must not pass for a pool, nor a pool for such a server. */
static int
check_protocol(struct cn_tls *tls)
{
	const unsigned char *name;
	unsigned int len;

	SSL_get0_alpn_selected(tls->ssl, &name, &len);
	if (len != CN_TLS_ALPN_LEN - 1 || memcmp(name, &CN_TLS_ALPN[1], len) != 0)
		return fail_handshake(
			tls, "the other end did not agree to speak cenote/1 (ALPN)");
	return CENOTE_OK;
}

static int
tls_handshake(struct cn_tls *tls)
{
	int r;

	if (tls->status != CENOTE_OK)
		return tls->status;
	(void)tls_flush(tls);
	tls->is_locked = 0;
	ERR_clear_error();
	r = SSL_do_handshake(tls->ssl);
	if (r <= 0)
		return not_done(tls, r);
	r = check_protocol(tls);
	return r < 0 ? r : tls_flush(tls);
}

/* Can a read return something? An incomplete record cannot be read. */
static int
tls_pending(const struct cn_tls *tls)
{
	return tls->has_more && SSL_has_pending(tls->ssl);
}

static int
tls_read(struct cn_tls *tls, void *room, size_t n, size_t *ret_n)
{
	size_t got = 0;
	int r, error;

	if (tls->status != CENOTE_OK)
		return tls->status;
	/* OpenSSL receives as much as fits into its buffer, so first take the bytes that it has. */
	tls->is_locked = tls_pending(tls) != 0;
	ERR_clear_error();
	r = SSL_read_ex(tls->ssl, room, n, &got);
	error = SSL_get_error(tls->ssl, r);
	if (error == SSL_ERROR_WANT_READ) {
		tls->has_more = 0;
		return CENOTE_AGAIN;
	}
	if (r <= 0 && error != SSL_ERROR_ZERO_RETURN && !tls->is_ended)
		return not_done(tls, r);
	*ret_n = got;
	return CENOTE_OK;
}

static void
tls_rebind(struct cn_tls *tls, void *user)
{
	tls->io.user = user;
}

static int
tls_write(struct cn_tls *tls, const void *bytes, size_t n, size_t *ret_n)
{
	int r;

	if (tls->status != CENOTE_OK)
		return tls->status;
	r = tls_flush(tls);
	if (r != CENOTE_OK)
		return r;
	ERR_clear_error();
	r = SSL_write_ex(tls->ssl, bytes, n, ret_n);
	if (r <= 0)
		return not_done(tls, r);
	return tls->is_deaf ? CENOTE_ERR_CONN : CENOTE_OK;
}

static int
tls_unsent(const struct cn_tls *tls)
{
	return unsent_len(tls) > 0;
}

static const char *
tls_error(const struct cn_tls *tls)
{
	return tls->error.text;
}

static int
tls_binding(struct cn_tls *tls, uint8_t ret_binding[32])
{
	static const char label[] = "EXPORTER-Channel-Binding";

	/* Before TLS 1.3, binding is safe only with the extended master secret. */
	if (SSL_version(tls->ssl) < TLS1_3_VERSION &&
		SSL_get_extms_support(tls->ssl) != 1)
		return CENOTE_ERR_UNSUPPORTED;
	if (SSL_export_keying_material(tls->ssl, ret_binding, 32, label,
		    sizeof(label) - 1, (const unsigned char *)"", 0, 1) != 1)
		return CENOTE_ERR_UNSUPPORTED;
	return CENOTE_OK;
}

const struct cn_tls_ops cn_tls_ops = {
	.connect = cn_tls_connect,
	.server_create = cn_tls_server_create,
	.server_destroy = cn_tls_server_destroy,
	.expiry = cn_tls_server_expiry,
	.accept = cn_tls_accept,
	.destroy = tls_destroy,
	.handshake = tls_handshake,
	.read = tls_read,
	.write = tls_write,
	.flush = tls_flush,
	.unsent = tls_unsent,
	.pending = tls_pending,
	.rebind = tls_rebind,
	.error = tls_error,
	.facts = cn_tls_facts,
	.binding = tls_binding,
	.tickets_size = cn_tls_tickets_size,
	.tickets_rotate = cn_tls_tickets_rotate,
};
