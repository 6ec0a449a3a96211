/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches MariaDB's library while it logs in. The server chooses how the password is proved, and the library obeys: it sends the
 * password in clear text, or encrypts it with whatever key the server sends. So each plugin that proves a password runs under
 * watch, and what the server line does not allow is never sent. connect.c arms the watch of a connection. Oracle's library has
 * rules of its own, and gets options.
 */
#include "my.h"

#if CND_MY_IS_MARIADB

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ma_pvio.h>
#include <mysql/plugin_auth.h>

typedef int authenticate_fn(MYSQL_PLUGIN_VIO *vio, MYSQL *my);

/* A plugin of the library. mysql/client_plugin.h has it, too, but includes a header that Debian lacks. */
struct library_plugin {
	struct st_mysql_client_plugin head;
	authenticate_fn *authenticate;
};

#define TYPE_AUTHENTICATION 2
/* The upper byte of the version of that structure, in all of libmariadb 3. */
#define INTERFACE           1u

struct plugin {
	const char *name;
	authenticate_fn *wrapper; /* what the library calls instead of `original` */
	authenticate_fn *original; /* NULL: not loaded yet */
	uint8_t key_request; /* the packet of one byte that asks for the server's key; 0: none */
	uint8_t may_send; /* the plugin may send the password itself, so its packets are looked at */
	uint8_t is_clear; /* the plugin does nothing but send the password itself */
};

/* A public key in PEM takes 800 bytes at 4096 bits. */
#define KEY_MAX 8192

#define IS_PUBLIC                                                                        \
	"the server asks for the password in clear text, and the connection has no "     \
	"TLS. "                                                                          \
	"Use TLS (ssl_mode=required, ssl_ca and ssl_verify_server_cert=yes)"

/* What a plugin gets in place of the library's stream. */
struct watch {
	MYSQL_PLUGIN_VIO vio; /* first: the functions below get its address */
	MYSQL_PLUGIN_VIO *library;
	MYSQL *my;
	const struct plugin *plugin;
	const struct cnd_my_options *options;
	const char *key_file; /* NULL: none */
	int has_asked; /* the plugin wanted the server's key */
	int reads_file; /* the next packet that it reads is the file */
	char refusal[400]; /* why nothing more is sent; empty: go on */
	unsigned char key[KEY_MAX];
};

/* ---- what a connection shows ---- */

/* Whether the connection has TLS, or will have it with the first packet of the login. */
static int
has_tls(const MYSQL *my)
{
	return my->net.pvio->ctls ||
	       (my->options.use_ssl && (my->server_capabilities & CLIENT_SSL));
}

static int
is_private(const MYSQL *my)
{
	return has_tls(my) || my->net.pvio->type == PVIO_TYPE_UNIXSOCKET;
}

/* Returns CR_ERROR. */
static int
refuse(MYSQL *my, unsigned code, const char *plugin, const char *why)
{
	my->net.last_errno = code;
	memcpy(my->net.sqlstate, "HY000", sizeof("HY000"));
	(void)snprintf(my->net.last_error, sizeof(my->net.last_error), "%s: %.400s",
		plugin, why);
	return CR_ERROR;
}

/* ---- packets of a plugin ---- */

static struct watch *
of_vio(MYSQL_PLUGIN_VIO *vio)
{
	return (struct watch *)(void *)vio;
}

/* Returns 1, for failure. The plugin may set an error of its own; run_watched() sets this one then. */
static int
refuse_packet(struct watch *w, const char *why)
{
	(void)snprintf(w->refusal, sizeof(w->refusal), "%s", why);
	return 1;
}

/* Give the plugin the key of the file. The length, or -1. */
static int
read_file(struct watch *w, unsigned char **ret_packet)
{
	FILE *f = fopen(w->key_file, "re");
	int error = errno;
	size_t n = f ? fread(w->key, 1, sizeof(w->key), f) : 0;

	if (f)
		(void)fclose(f);
	w->reads_file = 0;
	*ret_packet = w->key;
	if (n > 0 && n < sizeof(w->key))
		return (int)n;
	(void)snprintf(w->refusal, sizeof(w->refusal), "server_public_key %.200s: %s",
		w->key_file,
		!f      ? strerror(error)
		: n > 0 ? "too long for a public key"
			: "empty, or not readable");
	return -1;
}

static int
read_packet(MYSQL_PLUGIN_VIO *vio, unsigned char **ret_packet)
{
	struct watch *w = of_vio(vio);

	if (w->refusal[0])
		return -1;
	return w->reads_file ? read_file(w, ret_packet)
			     : w->library->read_packet(w->library, ret_packet);
}

/* If there is a file, the server is not asked. */
static int
ask_for_key(struct watch *w, const unsigned char *packet, int len)
{
	w->has_asked = 1;
	if (w->key_file) {
		w->reads_file = 1;
		return 0;
	}
	if (w->options->takes_server_key || is_private(w->my))
		return w->library->write_packet(w->library, packet, len);
	return refuse_packet(w, CND_MY_NO_KEY);
}

static int
has_password(const struct watch *w, const unsigned char *packet, int len)
{
	size_t n = w->my->passwd ? strlen(w->my->passwd) : 0;

	return n > 0 && len >= 0 && (size_t)len >= n &&
	       memcmp(packet, w->my->passwd, n) == 0;
}

static int
write_packet(MYSQL_PLUGIN_VIO *vio, const unsigned char *packet, int len)
{
	struct watch *w = of_vio(vio);

	if (w->refusal[0])
		return 1;
	if (w->plugin->key_request && len == 1 && *packet == w->plugin->key_request)
		return ask_for_key(w, packet, len);
	if (has_password(w, packet, len) && !is_private(w->my))
		return refuse_packet(w, IS_PUBLIC);
	return w->library->write_packet(w->library, packet, len);
}

static void
describe(MYSQL_PLUGIN_VIO *vio, struct st_plugin_vio_info *info)
{
	MYSQL_PLUGIN_VIO *library = of_vio(vio)->library;

	library->info(library, info);
}

/* ---- a login ---- */

#define OPTIONS_KEY "cenoted"

static const struct cnd_my_options *
options_of(MYSQL *my)
{
	void *options = NULL;

	(void)mysql_get_optionv(
		my, MARIADB_OPT_USERDATA, (void *)(uintptr_t)OPTIONS_KEY, &options);
	return options;
}

static int
run_watched(const struct plugin *p, const struct cnd_my_options *o, MYSQL_PLUGIN_VIO *vio,
	MYSQL *my)
{
	struct watch w = { .vio = { read_packet, write_packet, describe },
		.library = vio,
		.my = my,
		.plugin = p,
		.options = o,
		.key_file = o->server_public_key };
	my_bool wants_tls = my->options.use_ssl;
	int r;

	/* default_file may name a file. Our own does not go through the library, which would not free its copy. */
	if (!w.key_file)
		(void)mysql_get_optionv(my, MYSQL_SERVER_PUBLIC_KEY, (void *)&w.key_file);
	/* caching_sha2_password takes the wish for TLS for TLS, and would send the password in clear text */
	if (!has_tls(my))
		my->options.use_ssl = 0;
	r = p->original(&w.vio, my);
	my->options.use_ssl = wants_tls;
	if (w.refusal[0])
		return refuse(my, CR_AUTH_PLUGIN_ERR, p->name, w.refusal);
	/* the plugin says nothing of its own about a key that it cannot read */
	if (r == CR_ERROR && (w.has_asked || w.key_file) &&
		(mysql_errno(my) == 0 || mysql_errno(my) == CR_UNKNOWN_ERROR))
		return refuse(my, CR_AUTH_PLUGIN_ERR, p->name,
			w.key_file ? "server_public_key is no RSA key in PEM form "
				     "(-----BEGIN PUBLIC KEY-----)"
				   : "the server sent no RSA key");
	return r;
}

static int
authenticate(const struct plugin *p, MYSQL_PLUGIN_VIO *vio, MYSQL *my)
{
	const struct cnd_my_options *o = options_of(my);

	if (!o)
		return p->original(vio, my);
	if (o->tls_mode == CND_MY_TLS_REQUIRED && !has_tls(my))
		return refuse(my, CR_SSL_CONNECTION_ERROR, p->name, CND_MY_NO_TLS);
	if (p->is_clear && !o->has_cleartext)
		return refuse(my, CR_AUTH_PLUGIN_ERR, p->name,
			"the server asks for the password in clear "
			"text, " CND_MY_NO_CLEARTEXT);
	if (p->is_clear && !is_private(my))
		return refuse(my, CR_AUTH_PLUGIN_ERR, p->name, IS_PUBLIC);
	return p->may_send ? run_watched(p, o, vio, my) : p->original(vio, my);
}

/* ---- the plugins ---- */

static authenticate_fn native, old, ed25519, parsec, caching_sha2, sha256, dialog, clear;

/* mysql_native_password and mysql_old_password read the library's own stream behind `vio`, so they cannot get another one. They send no
 * password; what the latter sends is as good as the password. */
static struct plugin plugins[] = {
	{ .name = "mysql_native_password", .wrapper = native },
	{ .name = "mysql_old_password", .wrapper = old, .is_clear = 1 },
	{ .name = "client_ed25519", .wrapper = ed25519 },
	{ .name = "parsec", .wrapper = parsec },
	{ .name = "caching_sha2_password",
		.wrapper = caching_sha2,
		.key_request = 2,
		.may_send = 1 },
	{ .name = "sha256_password", .wrapper = sha256, .key_request = 1, .may_send = 1 },
	{ .name = "dialog", .wrapper = dialog, .may_send = 1 },
	{ .name = "mysql_clear_password",
		.wrapper = clear,
		.may_send = 1,
		.is_clear = 1 },
};

/* The library does not tell its function which plugin it is. */
#define WRAPPER(function, index)                                                         \
	static int function(MYSQL_PLUGIN_VIO *vio, MYSQL *my)                            \
	{                                                                                \
		return authenticate(&plugins[index], vio, my);                           \
	}

WRAPPER(native, 0)
WRAPPER(old, 1)
WRAPPER(ed25519, 2)
WRAPPER(parsec, 3)
WRAPPER(caching_sha2, 4)
WRAPPER(sha256, 5)
WRAPPER(dialog, 6)
WRAPPER(clear, 7)

/* Load the plugin, and put the wrapper in its place. If a plugin cannot be loaded, the login that needs it reports that. */
static void
wrap(MYSQL *my, struct plugin *p)
{
	struct st_mysql_client_plugin *head =
		mysql_client_find_plugin(my, p->name, TYPE_AUTHENTICATION);
	struct library_plugin *found = (void *)head;

	if (!found || head->interface_version >> 8 != INTERFACE ||
		found->authenticate == p->wrapper)
		return;
	p->original = found->authenticate;
	found->authenticate = p->wrapper;
}

void
cnd_my_watch_login(MYSQL *my, const struct cnd_my_options *o)
{
	size_t i;

	(void)mysql_optionsv(my, MARIADB_OPT_USERDATA, (void *)(uintptr_t)OPTIONS_KEY,
		(void *)(uintptr_t)o);
	for (i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
		wrap(my, &plugins[i]);
	my->net.last_errno = 0;
	my->net.last_error[0] = '\0';
}

#else

void
cnd_my_watch_login(MYSQL *my, const struct cnd_my_options *o)
{
	bool takes_key = o->takes_server_key && !o->server_public_key;

	if (o->server_public_key)
		(void)mysql_options(my, MYSQL_SERVER_PUBLIC_KEY, o->server_public_key);
	(void)mysql_options(my, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &takes_key);
	/* the library keeps one key for all connections, and this may be to another server */
	mysql_reset_server_public_key();
}

#endif
