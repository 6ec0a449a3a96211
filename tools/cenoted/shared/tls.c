/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS settings, certificates and keys of the pools, and the keys of session tickets. The master reads
 * the files and makes new ticket keys. Workers and helpers make the server's end of TLS and then
 * forget the private key. lib/crypto does the rest.
 */
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "log.h"
#include "place.h"
#include "scoreboard.h"
#include "sealed.h"

#define FILE_MAX  ((size_t)1 << 20)
#define ROTATE_MS ((int64_t)3600 * 1000)

static const struct cn_tls_ops *
tls_ops(void)
{
	const struct cn_crypto *crypto = cn_crypto_get(CN_CRYPTO_ABI);

	return crypto != NULL ? crypto->tls : NULL;
}

/* ---- reading ---- */

static const char *
setting(const struct cnd_tls_config *t, int key)
{
	return t->settings[key] != NULL ? t->settings[key] : "";
}

static void
inherit(struct cnd_tls_config *t, const struct cnd_tls_config *from)
{
	for (int i = 0; i < CND_TLS_SETTINGS; i++) {
		if (t->settings[i] != NULL)
			continue;
		t->settings[i] = strdup(setting(from, i));
		if (t->settings[i] == NULL)
			cnd_fatal("out of memory");
	}
}

/* Whether others cannot read a private key. A group may read a key that root owns. */
static int
is_private(const struct stat *st)
{
	return (st->st_mode & (st->st_uid == 0 ? 07 : 077)) == 0;
}

/* Returns the text, which the caller owns. NULL: the reason is in errno. */
static char *
read_file(int fd)
{
	char *text = malloc(FILE_MAX + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (text != NULL && n < FILE_MAX && got > 0) {
		got = read(fd, text + n, FILE_MAX - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (text == NULL)
		return NULL;
	if (got != 0) {
		errno = got < 0 ? errno : EFBIG;
		cnc_wipe(text, n);
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Return the unused part of a 1 MB allocation. */
static char *
shrink(char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		cnd_fatal("out of memory");
	cnc_wipe(text, strlen(text));
	free(text);
	return copy;
}

static void
take_file(struct cnd_config *c, struct cnd_pool_config *p, int key, const char *name)
{
	const char *path = setting(&p->tls, key);
	const struct cnd_account who = cnd_pool_config_account(c, p);
	struct stat st = { 0 };
	const char *fault;
	char *text;
	int fd;

	/* the key may be in the certificate's file */
	if (key == CND_TLS_KEY && *path == '\0' && p->tls.texts[CND_TLS_CERT] != NULL)
		path = setting(&p->tls, CND_TLS_CERT);
	if (*path == '\0')
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		cnd_config_error(c, p->line, "pool %s: %s %s: %s", p->name, name, path,
			strerror(errno));
		return;
	}
	fault = fstat(fd, &st) < 0 ? strerror(errno)
				   : cnd_place_fault(&st, who.uid, who.gid);
	if (fault != NULL) {
		cnd_config_error(
			c, p->line, "pool %s: %s %s %s", p->name, name, path, fault);
		close(fd);
		return;
	}
	if (key == CND_TLS_KEY && !is_private(&st)) {
		cnd_config_error(c, p->line,
			"pool %s: %s %s: others may read it (mode %04o); use chmod 600",
			p->name, name, path, (unsigned)(st.st_mode & 07777));
		close(fd);
		return;
	}
	text = read_file(fd);
	if (text == NULL)
		cnd_config_error(c, p->line, "pool %s: %s %s: %s", p->name, name, path,
			strerror(errno));
	else
		p->tls.texts[key] = shrink(text);
	close(fd);
}

/* ---- using ---- */

static int
client_cert_of(const char *text)
{
	static const char *const words[] = { "none", "request", "require" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, words[i]) == 0)
			return i;
	}
	return -1;
}

static struct cn_tls_server_options
options_of(const struct cnd_pool_config *p, const struct cn_tls_tickets *tickets)
{
	const struct cnd_tls_config *t = &p->tls;

	return (struct cn_tls_server_options){
		.name = p->name,
		.cert = t->texts[CND_TLS_CERT],
		.key = t->texts[CND_TLS_KEY],
		.ca = t->texts[CND_TLS_CA],
		.crl = t->texts[CND_TLS_CRL],
		.min_version = setting(t, CND_TLS_MIN_VERSION),
		.ciphers = setting(t, CND_TLS_CIPHERS),
		.groups = setting(t, CND_TLS_GROUPS),
		.client_cert = (enum cn_tls_client_cert)client_cert_of(
			setting(t, CND_TLS_CLIENT_CERT)),
		.tickets = tickets,
	};
}

static void
try_out(struct cnd_config *c, struct cnd_pool_config *p)
{
	const struct cn_tls_server_options o = options_of(p, NULL);
	const struct cn_tls_ops *ops = tls_ops();
	struct cn_tls_server *server;
	struct cn_tls_error error;

	if (ops == NULL) {
		cnd_config_error(c, p->line,
			"pool %s: tls_cert: this build of cenoted has no TLS", p->name);
	} else if (ops->server_create(&o, &server, &error) < 0) {
		cnd_config_error(c, p->line, "pool %s: TLS: %s", p->name, error.text);
	} else {
		p->tls.days_left =
			ops->expiry(server, p->tls.expires, sizeof(p->tls.expires));
		ops->server_destroy(server);
	}
}

void
cnd_tls_load(struct cnd_config *c, struct cnd_pool_config *p)
{
	static const char *const files[] = { "tls_cert", "tls_key", "tls_ca", "tls_crl" };
	size_t n_errors = c->n_errors;

	inherit(&p->tls, &c->tls);
	if (client_cert_of(setting(&p->tls, CND_TLS_CLIENT_CERT)) < 0)
		cnd_config_error(c, p->line,
			"pool %s: tls_client_cert \"%s\"; write none, request or require",
			p->name, setting(&p->tls, CND_TLS_CLIENT_CERT));
	if (*setting(&p->tls, CND_TLS_CERT) == '\0')
		return;
	for (int i = 0; i < CND_TLS_FILES; i++)
		take_file(c, p, i, files[i]);
	if (c->n_errors == n_errors)
		try_out(c, p);
}

void
cnd_tls_forget(struct cnd_tls_config *t)
{
	for (int i = 0; i < CND_TLS_FILES; i++) {
		if (t->texts[i] != NULL)
			cnc_wipe(t->texts[i], strlen(t->texts[i]));
		free(t->texts[i]);
		t->texts[i] = NULL;
	}
}

void
cnd_tls_destroy(struct cnd_tls_config *t)
{
	cnd_tls_forget(t);
	for (int i = 0; i < CND_TLS_SETTINGS; i++)
		free(t->settings[i]);
}

int
cnd_tls_is_equal(const struct cnd_tls_config *a, const struct cnd_tls_config *b)
{
	for (int i = 0; i < CND_TLS_FILES; i++) {
		const char *x = a->texts[i] != NULL ? a->texts[i] : "";
		const char *y = b->texts[i] != NULL ? b->texts[i] : "";

		if (strcmp(x, y) != 0)
			return 0;
	}
	return 1;
}

struct cn_tls_server *
cnd_tls_server(const struct cnd_pool_config *p, const struct cn_tls_tickets *tickets)
{
	const struct cn_tls_server_options o = options_of(p, tickets);
	const struct cn_tls_ops *ops = tls_ops();
	struct cn_tls_server *server;
	struct cn_tls_error error;

	if (ops == NULL || !cnd_tls_is_on(&p->tls))
		return NULL;
	if (ops->server_create(&o, &server, &error) < 0) {
		cnd_log(LOG_ERR, "TLS: %s", error.text);
		return NULL;
	}
	return server;
}

/* ---- tickets ---- */

/* Make the first key, in memory that no child inherits. -1 with errno. */
static int
begin_keys(const struct cn_tls_ops *ops, void *room)
{
	size_t size = ops->tickets_size();

	/* a core dump must not contain the keys: they decrypt recorded connections */
	(void)madvise(room, size, MADV_DONTDUMP);
	if (madvise(room, size, MADV_DONTFORK) == 0 &&
		ops->tickets_rotate(room) == CENOTE_OK)
		return 0;
	munmap(room, size);
	return -1;
}

void
cnd_tls_tickets_create(struct cnd_tls_tickets *t, int64_t now)
{
	const struct cn_tls_ops *ops = tls_ops();
	void *room;
	int fd;

	if (ops == NULL || t->keys != NULL)
		return;
	room = cnd_sealed_create("cenoted-tickets", ops->tickets_size(), &fd);
	if (room == NULL || begin_keys(ops, room) < 0) {
		cnd_log(LOG_WARNING, "TLS sessions cannot be resumed: %s",
			strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	t->keys = room;
	t->fd = fd;
	t->due_ms = now + ROTATE_MS;
}

void
cnd_tls_tickets_destroy(struct cnd_tls_tickets *t)
{
	const struct cn_tls_ops *ops = tls_ops();

	if (ops == NULL || t->keys == NULL)
		return;
	munmap(t->keys, ops->tickets_size());
	close(t->fd);
	*t = (struct cnd_tls_tickets){ .keys = NULL };
}

int64_t
cnd_tls_tickets_tend(struct cnd_tls_tickets *t, int64_t now)
{
	const struct cn_tls_ops *ops = tls_ops();

	if (ops == NULL || t->keys == NULL)
		return INT64_MAX;
	if (now < t->due_ms)
		return t->due_ms;
	if (ops->tickets_rotate(t->keys) < 0)
		cnd_log(LOG_ERR,
			"cannot make a new key for TLS sessions; the present one stays");
	t->due_ms = now + ROTATE_MS;
	return t->due_ms;
}

const struct cn_tls_tickets *
cnd_tls_tickets_map(const struct cnd_tls_tickets *t)
{
	const struct cn_tls_ops *ops = tls_ops();
	void *room;

	if (ops == NULL || t->keys == NULL)
		return NULL;
	room = mmap(NULL, ops->tickets_size(), PROT_READ, MAP_SHARED, t->fd, 0);
	if (room == MAP_FAILED) {
		cnd_log(LOG_WARNING, "TLS sessions cannot be resumed: %s",
			strerror(errno));
		return NULL;
	}
	(void)madvise(room, ops->tickets_size(), MADV_DONTDUMP);
	return room;
}
