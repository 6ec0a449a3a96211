/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out who a client is, by the method that the pool's rules name. The log has the reason of a
 * refusal; the client does not get it. Passwords, and texts that may be one, appear in neither.
 * attach.c calls this file; auth/ has the rules themselves.
 */
#include "worker.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/admission.h"
#include "shared/answer.h"
#include "core/mem.h"
#include "core/sqlstate.h"
#include "crypto/crypto.h"
#include "shared/log.h"
#include "protocol/plain.h"

/* ---- what the kernel knows about the client ---- */

/* Keep the names of the last users: a look-up reads files. */
static const char *
user_name(uid_t uid)
{
	static struct {
		uid_t uid;
		char name[64];
	} known[8];
	static size_t at;
	const struct passwd *pw;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].uid == uid && known[i].name[0] != '\0')
			return known[i].name;
	}
	pw = getpwuid(uid);
	at = (at + 1) % (sizeof(known) / sizeof(known[0]));
	known[at].uid = uid;
	if (pw != NULL)
		snprintf(known[at].name, sizeof(known[at].name), "%s", pw->pw_name);
	else
		snprintf(known[at].name, sizeof(known[at].name), "%u", (unsigned)uid);
	return known[at].name;
}

void
cnd_auth_prepare(const struct cnd_worker_client *c)
{
	struct ucred peer;

	if (c->peer.door == CND_DOOR_UNIX && cnd_peer_credentials(c->fd, &peer) == 0)
		(void)user_name(peer.uid);
}

/* How many names of a certificate are compared with the user's. */
#define CERT_NAMES_MAX 32u

struct login {
	struct cnd_worker *w;
	struct cnd_arrival arrival;
	struct cn_tls_facts cert; /* valid if arrival.has_cert */
	const struct cnd_rule *rule;
	const char *unix_name; /* NULL: it came by TCP */
	const char *wanted; /* the user name that the client asked for; "": none */
	/* the user name that the client has proved; at most CND_USER_MAX bytes */
	const char *user;
};

/* ---- refusals ---- */

/* The client in words: "unix user joe", "192.0.2.1:5000". */
static const char *
client_text(const struct login *l, char text[CND_PEER_TEXT_MAX + 16])
{
	char peer[CND_PEER_TEXT_MAX];

	if (l->unix_name != NULL)
		snprintf(text, CND_PEER_TEXT_MAX + 16, "unix user %.63s", l->unix_name);
	else
		snprintf(text, CND_PEER_TEXT_MAX + 16, "%s",
			cnd_peer_text(&l->w->client.peer, peer));
	return text;
}

/* Do not repeat a name that came from a client: it may be a password in the wrong field. */
static const char *
user_text(const struct login *l)
{
	const struct cnd_user *known =
		cnd_users_find(&l->w->config->users, l->arrival.user);

	return known != NULL ? known->name : "(not in the users file)";
}

static int
refuse(const struct login *l, const char *why)
{
	char text[CND_PEER_TEXT_MAX + 16];

	l->w->client.is_refused = true;
	cnd_client_log(l->w, LOG_WARNING, CNC_SQLSTATE(BAD_LOGIN),
		"login refused: %s: %s", client_text(l, text), why);
	cnd_answer_refuse(&l->w->client.server, CNC_SQLSTATE(BAD_LOGIN),
		"pool %s: the login was refused; cenoted's log has the reason, and "
		"cenoted --explain-auth shows which rule decides",
		l->w->config->name);
	return CENOTE_ERR_AUTH;
}

/* Every client gets this answer, whatever was wrong. */
static int
deny(const struct login *l)
{
	l->w->client.has_failed = true;
	l->w->client.is_refused = true;
	cnd_answer_refuse(&l->w->client.server, CNC_SQLSTATE(BAD_PASSWORD),
		"pool %s: there is no such user, or the password is wrong",
		l->w->config->name);
	return CENOTE_ERR_AUTH;
}

static int
refuse_password(const struct login *l)
{
	char text[CND_PEER_TEXT_MAX + 16];
	const struct cnd_user *known =
		cnd_users_find(&l->w->config->users, l->arrival.user);

	cnd_client_log(l->w, LOG_WARNING, CNC_SQLSTATE(BAD_PASSWORD),
		"login refused: %s, user %s: %s", client_text(l, text), user_text(l),
		known == NULL        ? "no such user"
		: known->is_disabled ? "the user is disabled"
				     : "wrong password");
	return deny(l);
}

/* Refuse a client that has no password to show, as EXTERNAL says. */
static int
want_password(const struct login *l)
{
	cnd_answer_refuse(&l->w->client.server, CNC_SQLSTATE(BAD_PASSWORD),
		"pool %s needs a user and a password", l->w->config->name);
	return CENOTE_ERR_AUTH;
}

/* ---- a login by password ---- */

static int
send_auth(struct cnd_worker_client *c, const struct cnp_str *data)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTH };

	m.as.auth.data = *data;
	return cnp_server_reply(&c->server, &m, 0);
}

/* Wait for the client's next AUTH frame. Its data stays valid. */
static int
await_auth(struct cnd_worker *w, struct cnp_str *ret_data)
{
	struct cnp_request req;
	int r = cnd_client_flush(w);

	while (r >= 0) {
		r = cnp_server_next(&w->client.server, &req);
		if (r == CENOTE_OK)
			*ret_data = req.msg.as.auth.data;
		if (r <= 0)
			return r;
		r = cnd_client_receive(w);
		if (r != 0)
			continue;
		cnd_worker_wait(w, w->client.fd, POLLIN, w->client.login_until_ms);
		if (cnd_now_ms() >= w->client.login_until_ms ||
			cnd_worker_order(w) == CND_ORDER_NOW)
			return CENOTE_ERR_TIMEOUT;
	}
	return r;
}

/* Wait for the first AUTH frame, which names the mechanism and has its first message. */
static int
await_mechanism(
	struct cnd_worker *w, struct cnp_str *ret_mechanism, struct cnp_str *ret_message)
{
	struct cnc_reader reader;
	struct cnp_str data;
	int r = await_auth(w, &data);

	if (r < 0)
		return r;
	cnc_reader_init(&reader, data.p, data.n);
	ret_mechanism->p = cnc_read_str(&reader, &ret_mechanism->n);
	ret_message->p = cnc_read_str(&reader, &ret_message->n);
	return cnc_reader_end(&reader);
}

static int
violation(const struct login *l)
{
	char text[CND_PEER_TEXT_MAX + 16];

	cnd_client_log(l->w, LOG_WARNING, CNC_SQLSTATE(PROTOCOL),
		"login refused: %s: its messages are not part of a login",
		client_text(l, text));
	cnd_answer_refuse(&l->w->client.server, CNC_SQLSTATE(PROTOCOL),
		"pool %s: this message is not part of a login that the pool offers, or "
		"was changed on the way",
		l->w->config->name);
	return CENOTE_ERR_AUTH;
}

/* The TLS identity is part of the key: a session belongs to one certificate. */
static void
take_identity(const struct login *l)
{
	struct cnd_credentials *c = &l->w->pass_through.credentials;

	memcpy(c->user, l->arrival.user, strlen(l->arrival.user) + 1);
	if (l->arrival.has_cert) {
		memcpy(c->subject, l->cert.peer, sizeof(c->subject));
		memcpy(c->issuer, l->cert.issuer, sizeof(c->issuer));
	}
}

/* Keep the SCRAM keys: the server has the same verifier. */
static void
take_keys(const struct login *l, const struct cnp_scram_server *s,
	const struct cnp_scram_verifier *v)
{
	struct cnd_credentials *c = &l->w->pass_through.credentials;

	take_identity(l);
	(void)cnc_base64_encode(s->client_key, CNP_HASH_LEN, c->secret);
	(void)cnc_base64_encode(v->server_key, CNP_HASH_LEN, c->server_key);
}

/* The exchange of SCRAM, from the client's first message to the server's last. The last message goes
 * out together with ATTACHED. */
static int
exchange(const struct login *l, struct cnp_scram_server *s, const struct cnp_str *first)
{
	const struct cnp_hash *hash = cn_crypto_get(CN_CRYPTO_ABI)->hash;
	struct cnp_scram_verifier verifier;
	struct cnp_str text;
	int is_made_up;
	int r = cnp_scram_server_take(s, first->p, first->n);

	if (r < 0 || strcmp(s->user, l->wanted) != 0)
		return CENOTE_ERR_PROTOCOL;
	is_made_up = cnd_users_verifier(
		&l->w->config->users, hash, l->arrival.user, &verifier);
	r = is_made_up < 0
		    ? is_made_up
		    : cnp_scram_server_challenge(s, &verifier, is_made_up, NULL, &text);
	if (r == CENOTE_OK)
		r = send_auth(&l->w->client, &text);
	if (r == CENOTE_OK)
		r = await_auth(l->w, &text);
	if (r == CENOTE_OK)
		r = cnp_scram_server_check(s, text.p, text.n, &text);
	if (r == CENOTE_OK)
		r = send_auth(&l->w->client, &text);
	if (r == CENOTE_OK && l->rule->method == CND_METHOD_SCRAM_PASS_THROUGH)
		take_keys(l, s, &verifier);
	cnc_wipe(&verifier, sizeof(verifier));
	return r;
}

/* Continue with the mechanism that the client chose; its first message has arrived. */
static int
log_in_by(struct login *l, const struct cnp_str *mechanism, const struct cnp_str *first)
{
	uint8_t binding[CNP_SCRAM_BINDING_LEN];
	int can_bind = cnd_channel_binding(&l->w->client.channel, binding);
	int is_plus = strcmp(mechanism->p, CNP_SCRAM_PLUS) == 0;
	struct cnp_scram_server s;
	int r;

	if (strcmp(mechanism->p, CNP_EXTERNAL) == 0)
		return want_password(l);
	if (is_plus ? !can_bind : strcmp(mechanism->p, CNP_SCRAM_PLAIN) != 0)
		return CENOTE_ERR_PROTOCOL;
	cnd_log(LOG_DEBUG, "login by %s", is_plus ? CNP_SCRAM_PLUS : CNP_SCRAM_PLAIN);
	cnp_scram_server_init(&s, cn_crypto_get(CN_CRYPTO_ABI)->hash, is_plus,
		can_bind ? binding : NULL);
	r = exchange(l, &s, first);
	cnp_scram_server_finish(&s);
	l->user = l->arrival.user;
	return r == CENOTE_ERR_AUTH ? refuse_password(l) : r;
}

static int
by_password(struct login *l)
{
	struct cnp_str mechanism = CNP_STR_NONE, first = CNP_STR_NONE;
	int r = cnd_answer_hello_login(&l->w->client.server, 0, CND_LOGIN_PASSWORD);

	if (r == CENOTE_OK)
		r = await_mechanism(l->w, &mechanism, &first);
	return r < 0 ? r : log_in_by(l, &mechanism, &first);
}

/* ---- a login that the server checks ---- */

static int
take_credentials(const struct login *l, const struct cnp_plain *p)
{
	if (strcmp(p->user.p, l->arrival.user) != 0)
		return CENOTE_ERR_PROTOCOL;
	if (p->password.n > CND_PASSWORD_MAX)
		return deny(l);
	take_identity(l);
	memcpy(l->w->pass_through.credentials.secret, p->password.p, p->password.n + 1);
	return CENOTE_OK;
}

static int
await_credentials(const struct login *l)
{
	struct cnp_str mechanism = CNP_STR_NONE, message = CNP_STR_NONE;
	struct cnp_plain plain;
	int r = cnd_answer_hello_login(&l->w->client.server, 0, CND_LOGIN_PLAIN);

	if (r == CENOTE_OK)
		r = await_mechanism(l->w, &mechanism, &message);
	if (r < 0)
		return r;
	if (strcmp(mechanism.p, CNP_EXTERNAL) == 0)
		return want_password(l);
	if (strcmp(mechanism.p, CNP_PLAIN) != 0)
		return CENOTE_ERR_PROTOCOL;
	r = cnp_plain_parse(&message, &plain);
	if (r == CENOTE_OK)
		r = take_credentials(l, &plain);
	/* the message is in our own input buffer */
	cnc_wipe((void *)(uintptr_t)message.p, message.n);
	return r;
}

/* Log in to the server with the client's credentials. */
static int
log_in_as_client(struct login *l)
{
	struct cnd_worker *w = l->w;
	char text[CND_PEER_TEXT_MAX + 16];
	int r = cnd_pass_through(w);

	l->user = l->arrival.user;
	if (r == CENOTE_OK || r == CENOTE_ERR_NOMEM || w->serving.is_gone)
		return r;
	if (!cnd_login_blames_server(&w->serving.diag)) {
		cnd_client_log(w, LOG_WARNING, w->serving.diag.sqlstate,
			"login refused: %s: the server did not accept it (SQLSTATE %s)",
			client_text(l, text), w->serving.diag.sqlstate);
		return deny(l);
	}
	(void)cnp_server_error(&w->client.server, &w->serving.diag);
	return r;
}

static int
by_pass_through(struct login *l)
{
	int r = await_credentials(l);

	return r < 0 ? r : log_in_as_client(l);
}

/* A status query needs the password only, not a login to the server. */
static int
by_scram_pass_through(struct login *l)
{
	int r = by_password(l);

	return r < 0 || l->w->client.server.opening.kind != CNP_OPEN_ATTACH
		       ? r
		       : log_in_as_client(l);
}

/* ---- the other methods ---- */

static int
by_peer(struct login *l)
{
	l->user = cnd_rule_user(l->rule, &l->unix_name, 1, l->wanted);
	if (l->user != NULL)
		return CENOTE_OK;
	return refuse(l,
		l->rule->map_path != NULL
			? "the map does not allow the user that it asked for"
			: "it asked for another user, which auth = peer does not allow");
}

static int
by_trust(struct login *l)
{
	l->user = l->arrival.user;
	return *l->user != '\0' ? CENOTE_OK : refuse(l, "it named no user");
}

/* Cut "DNS:db.example, email:joe@example" in place into names without their kinds. Returns the number
 * of names. */
static size_t
cut_names(char *list, const char **names, size_t max)
{
	size_t n = 0;

	for (char *one; (one = strsep(&list, ",")) != NULL && n < max;) {
		one = strchr(one, ':');
		if (one != NULL && strlen(++one) <= CND_USER_MAX)
			names[n++] = one;
	}
	return n;
}

/* Identify the client by the certificate's common name or an alternative name. Skip a name that was
 * truncated: it may be another user's. */
static int
by_certificate(struct login *l)
{
	const char *names[CERT_NAMES_MAX];
	struct cn_tls_facts *f = &l->cert;
	size_t len = strlen(f->common_name);
	size_t n = 0;

	if (len > 0 && len < sizeof(f->common_name) - 1 && len <= CND_USER_MAX)
		names[n++] = f->common_name;
	if (strlen(f->alt_names) < sizeof(f->alt_names) - 1)
		n += cut_names(f->alt_names, names + n, CERT_NAMES_MAX - n);
	l->user = cnd_rule_user(l->rule, names, n, l->wanted);
	return l->user != NULL ? CENOTE_OK
			       : refuse(l, "its certificate does not name the user that "
					   "it asked for");
}

static int
by_reject(struct login *l)
{
	return refuse(l, "a rule rejects it");
}

static int (*const methods[])(struct login *l) = {
	[CND_METHOD_PEER] = by_peer,
	[CND_METHOD_SCRAM] = by_password,
	[CND_METHOD_CERT] = by_certificate,
	[CND_METHOD_TRUST] = by_trust,
	[CND_METHOD_REJECT] = by_reject,
	[CND_METHOD_PASS_THROUGH] = by_pass_through,
	[CND_METHOD_SCRAM_PASS_THROUGH] = by_scram_pass_through,
};

/* Whether the client must send messages for this method. */
static int
hears_client(enum cnd_method method)
{
	return method == CND_METHOD_SCRAM || method == CND_METHOD_PASS_THROUGH ||
	       method == CND_METHOD_SCRAM_PASS_THROUGH;
}

/* ---- choosing the method ---- */

/* Collect what the kernel knows about the client, and find the rule that decides. CENOTE_OK, or
 * refused. */
static int
begin(struct login *l, struct cnd_worker *w, struct cnp_str wanted)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	enum cnd_admission admission;

	*l = (struct login){ .w = w, .wanted = wanted.p };
	l->arrival.peer = w->client.peer;
	l->arrival.user = l->wanted;
	l->arrival.has_tls = w->client.channel.tls != NULL;
	l->arrival.has_cert =
		(uint8_t)cnd_channel_certificate(&w->client.channel, &l->cert);
	w->client.uid = (uid_t)-1;
	if (w->client.peer.door == CND_DOOR_UNIX) {
		if (cnd_peer_credentials(w->client.fd, &peer) < 0)
			return CENOTE_ERR_CONN;
		w->client.uid = peer.uid;
		l->arrival.uid = peer.uid;
		l->unix_name = user_name(peer.uid);
		if (*l->wanted == '\0')
			l->arrival.user = l->unix_name;
	}
	if (strlen(l->wanted) != wanted.n || wanted.n > CND_USER_MAX)
		return refuse(l, "the name of its user is too long, or has a zero byte");
	admission = cnd_admit(w->config, &l->arrival, &l->rule);
	return admission == CND_ADMITTED ? CENOTE_OK
					 : refuse(l, cnd_admission_text(admission));
}

/* The worker sent HELLO before it knew that this user needs no password, so the client still sends a
 * message. */
static int
await_external(const struct login *l)
{
	struct cnp_str mechanism, message;
	int r;

	if (cnp_server_state(&l->w->client.server) != CNP_SERVER_AUTH ||
		hears_client(l->rule->method) || l->rule->method == CND_METHOD_REJECT)
		return CENOTE_OK;
	r = await_mechanism(l->w, &mechanism, &message);
	if (r < 0 || strcmp(mechanism.p, CNP_EXTERNAL) == 0)
		return r;
	/* the client wants to verify the pool by its password, and this login cannot do that */
	cnd_answer_refuse(&l->w->client.server, CNC_SQLSTATE(BAD_LOGIN),
		"pool %s: this user logs in without a password; give none",
		l->w->config->name);
	return CENOTE_ERR_AUTH;
}

int
cnd_auth_log_in(struct cnd_worker *w, struct cnp_str wanted)
{
	struct login l;
	int r = begin(&l, w, wanted);

	if (r == CENOTE_OK)
		r = await_external(&l);

	if (r == CENOTE_OK)
		r = methods[l.rule->method](&l);
	/* errors in the frames themselves have been reported already */
	if (r == CENOTE_ERR_PROTOCOL &&
		cnp_server_state(&w->client.server) != CNP_SERVER_BROKEN)
		r = violation(&l);
	if (r == CENOTE_OK)
		memcpy(w->client.user, l.user, strlen(l.user) + 1);
	return r;
}

int
cnd_auth_resume(struct cnd_worker *w, struct cnp_str wanted)
{
	const uid_t owner = w->client.uid;
	struct login l;
	int r = begin(&l, w, wanted);
	int is_owner = w->client.uid == owner;

	w->client.uid = owner;
	if (r < 0)
		return r;
	if (hears_client(l.rule->method))
		l.user = l.arrival.user;
	else
		r = methods[l.rule->method](&l);
	if (r < 0)
		return r;
	return is_owner && strcmp(l.user, w->client.user) == 0
		       ? CENOTE_OK
		       : refuse(&l, "the suspended session belongs to another user");
}

int
cnd_auth_status(struct cnd_worker *w, struct cnp_str wanted)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	struct login l;
	int r;

	if (w->client.peer.door == CND_DOOR_TCP &&
		w->config->clients_login == CND_CLIENTS_PASSWORD) {
		/* a helper has no server that could check the password */
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(BAD_LOGIN),
			"pool %s answers status queries on its unix socket only",
			w->config->name);
		return CENOTE_ERR_AUTH;
	}
	if (w->client.peer.door == CND_DOOR_TCP)
		return cnd_auth_log_in(w, wanted);
	if (cnd_peer_credentials(w->client.fd, &peer) == 0 &&
		(peer.uid == 0 || peer.uid == w->child->config->uid)) {
		w->client.uid = peer.uid;
		return CENOTE_OK;
	}
	r = begin(&l, w, wanted);
	return r == CENOTE_OK && l.rule->method == CND_METHOD_REJECT ? by_reject(&l) : r;
}

int
cnd_auth_hello(struct cnd_worker *w, int tls)
{
	uint8_t kind = w->client.server.opening.kind;
	uint8_t logins = 0;

	/* the other kinds carry a secret of their own or need none */
	if (kind == CNP_OPEN_ATTACH ||
		(kind == CNP_OPEN_STATUS && w->client.peer.door == CND_DOOR_TCP &&
			w->config->clients_login != CND_CLIENTS_PASSWORD))
		logins = cnd_rules_logins(&w->config->rules, w->client.peer.door, tls);
	return cnd_answer_hello_login(&w->client.server, tls, logins);
}
