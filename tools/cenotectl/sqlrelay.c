/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From sqlrelay.conf to cenoted.conf: each instance becomes a pool, each connection a server line, and the listeners of all
 * instances become those of cenoted. convert.c calls this.
 */
#include "xml.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct sqlrelay {
	struct xml xml;
	struct draft *d;
	const char *file;
	const char *user; /* runasuser of the first instance; NULL: none */
};

struct instance {
	struct sqlrelay *s;
	size_t index; /* of its element */
	const struct xml_element *e;
	const char *name;
	const struct kind *kind;
	struct text names; /* of its users, separated by commas */
	bool has_users; /* users are written in the file */
	bool has_plain; /* a listener without TLS */
};

/* ---- elements ---- */

/* The value of an attribute; NULL: the element does not have it. */
static const char *
attribute(const struct xml_element *e, const char *name)
{
	for (size_t i = 0; i < e->n_attributes; i++) {
		if (strcmp(e->attributes[i].name, name) == 0)
			return e->attributes[i].value;
	}
	return NULL;
}

static bool
is_yes(const struct xml_element *e, const char *name)
{
	const char *value = attribute(e, name);

	return value != NULL && strcmp(value, "yes") == 0;
}

static struct origin
place(const struct sqlrelay *s, const struct xml_element *e)
{
	return (struct origin){ s->file, e->line };
}

__attribute__((format(printf, 4, 5))) static void
note(struct sqlrelay *s, const struct xml_element *e, const char *name,
	const char *format, ...)
{
	struct origin at = place(s, e);
	va_list args;

	va_start(args, format);
	draft_vnote(s->d, &at, name, format, args);
	va_end(args);
}

static bool
is_within(const struct xml *x, size_t element, size_t outer)
{
	while (element != XML_NONE && element != outer)
		element = x->list[element].parent;
	return element == outer;
}

/* The next element of this name within the instance, after `from`. XML_NONE: there is none. */
static size_t
next_of(const struct instance *i, const char *name, size_t from)
{
	const struct xml *x = &i->s->xml;

	for (size_t k = from + 1; k < x->n; k++) {
		if (strcmp(x->list[k].name, name) == 0 && is_within(x, k, i->index))
			return k;
	}
	return XML_NONE;
}

/* ---- connection strings ---- */

/* A key of a connection string, and the key of the server line that it becomes. `to` NULL: it is not converted, and `note` says why.
 * Both NULL: nothing is lost without it. */
struct word {
	const char *from, *to, *note;
};

/* The keys that every kind of connection string has. */
#define COMMON                                                                           \
	{ "user", "user", NULL }, { "password", "password", NULL },                      \
		{ "lang", NULL, "no counterpart; texts are in UTF-8" },                  \
		{ "fakebinds", NULL, "no counterpart: parameters are always bound" },    \
		{ "maxcolumncount", NULL, NULL }, { "maxfieldsize", NULL, NULL },        \
		{ "fetchatonce", NULL, NULL }, { "dbtype", NULL, NULL },                 \
		{ "identity", NULL, NULL },                                              \
	{                                                                                \
		"lastinsertidfunction", NULL,                                            \
			"no counterpart; the last insert id is the server's"             \
	}

static const struct word words_postgresql[] = {
	COMMON,
	{ "db", "dbname", NULL },
	{ "host", "host", NULL },
	{ "port", "port", NULL },
	{ "options", "options", NULL },
	{ "sslmode", "sslmode", NULL },
	{ "charset", NULL, "no counterpart; texts are in UTF-8" },
	{ "typemangling", NULL, "no counterpart; programs get the server's types" },
	{ "tablemangling", NULL, "no counterpart" },
	{ "enablecolumnisnullable", NULL, NULL },
	{ "decodeblobs", NULL, NULL },
	{ NULL },
};

static const struct word words_mysql[] = {
	COMMON,
	{ "db", "dbname", NULL },
	{ "host", "host", NULL },
	{ "port", "port", NULL },
	{ "socket", "socket", NULL },
	{ "charset", NULL, "not converted: programs of a pool expect utf8mb4" },
	{ "sslkey", "ssl_key", NULL },
	{ "sslcert", "ssl_cert", NULL },
	{ "sslca", "ssl_ca", NULL },
	{ "sslcapath", "ssl_capath", NULL },
	{ "sslcipher", "ssl_cipher", NULL },
	{ "sslcrl", "ssl_crl", NULL },
	{ "sslcrlpath", "ssl_crlpath", NULL },
	{ "foundrows", "found_rows", NULL },
	{ "ignorespace", NULL, "no counterpart; see init_command for sql_mode" },
	{ "tlsversion", "tls_version", NULL },
	{ "sslmode", "", NULL }, /* see add_ssl_mode() */
	{ NULL },
};

/* SQLite has no users. */
static const struct word words_sqlite[] = {
	{ "db", "path", NULL },
	{ "user", NULL, NULL },
	{ "password", NULL, NULL },
	COMMON,
	{ NULL },
};

static const struct word words_freetds[] = {
	COMMON,
	{ "db", "database", NULL },
	{ "server", "section", NULL },
	{ "hostname", NULL, "not converted: write host= in place of section=" },
	{ "language", NULL, "not converted: write it in freetds.conf" },
	{ "charset", NULL, "not converted: write it in freetds.conf" },
	{ "sybase", NULL, "no counterpart; conf=FILE names a freetds.conf" },
	{ "packetsize", NULL, "no counterpart; see initial_block_size" },
	{ "csversion", NULL, "no counterpart; see tds_version" },
	{ "decodeblobs", NULL, NULL },
	{ NULL },
};

static const struct word words_odbc[] = {
	COMMON,
	{ "dsn", "dsn", NULL },
	{ "odbcversion", NULL, "no counterpart" },
	{ NULL },
};

/* The kinds of database that have a backend. */
static const struct kind {
	const char *dbase, *backend;
	const struct word *words;
	const char
		*start; /* the key of a server line for SQL after the login; NULL: none */
} kinds[] = {
	{ "freetds", "freetds", words_freetds, NULL },
	{ "mariadb", "mysql", words_mysql, "init_command" },
	{ "mysql", "mysql", words_mysql, "init_command" },
	{ "odbc", "odbc", words_odbc, "init" },
	{ "postgresql", "postgresql", words_postgresql, NULL },
	{ "sap", "freetds", words_freetds, NULL },
	{ "sqlite", "sqlite", words_sqlite, NULL },
	{ "sybase", "freetds", words_freetds, NULL },
};

static const struct word *
find_word(const struct word *words, const char *key)
{
	for (; words->from != NULL; words++) {
		if (strcmp(words->from, key) == 0)
			return words;
	}
	return NULL;
}

/* One mode of SQL Relay becomes two keys of the server line. */
static void
add_ssl_mode(struct instance *i, const struct xml_element *e, struct text *line,
	const char *mode)
{
	static const struct {
		const char *from, *to, *verify;
	} modes[] = {
		{ "disable", "disabled", NULL },
		{ "prefer", "preferred", NULL },
		{ "require", "required", NULL },
		{ "verify-ca", "required", "yes" },
		{ "verify-full", "required", "yes" },
	};
	struct origin at = place(i->s, e);

	for (size_t k = 0; k < N_ITEMS(modes); k++) {
		if (strcmp(modes[k].from, mode) != 0)
			continue;
		draft_option(i->s->d, line, &at, "ssl_mode", modes[k].to);
		if (modes[k].verify != NULL)
			draft_option(i->s->d, line, &at, "ssl_verify_server_cert",
				modes[k].verify);
		return;
	}
	note(i->s, e, "sslmode", "\"%.64s\" is not a mode", mode);
}

static void
add_pair(struct instance *i, const struct xml_element *e, struct text *line,
	const char *key, const char *value)
{
	const struct word *w = find_word(i->kind->words, key);
	struct origin at = place(i->s, e);

	if (*value == '\0')
		return;
	if (strcmp(key, "autocommit") == 0) {
		if (strcmp(value, "no") == 0)
			note(i->s, e, key,
				"no counterpart: a program begins its transactions");
	} else if (w == NULL) {
		note(i->s, e, key, "the backend %s has no such key", i->kind->backend);
	} else if (w->to == NULL) {
		if (w->note != NULL && strcmp(value, "no") != 0)
			note(i->s, e, key, "%s", w->note);
	} else if (*w->to == '\0') {
		add_ssl_mode(i, e, line, value);
	} else if (strcmp(key, "password") == 0 && *value == '[') {
		note(i->s, e, key,
			"not converted: it is in the file %s; write password= or "
			"passfile=",
			value);
	} else {
		draft_option(i->s->d, line, &at, w->to, value);
	}
}

/* Take the next KEY=VALUE; semicolons separate them, and a value may be in quotes. False: there is none. */
static bool
next_pair(char **text, char **ret_key, char **ret_value)
{
	char *key = *text + strspn(*text, "; \t\r\n");
	char *equals = strchr(key, '=');
	char *value, *end;

	if (equals == NULL)
		return false;
	*equals = '\0';
	value = equals + 1;
	if (*value == '\'' || *value == '"') {
		end = strchr(value + 1, *value);
		value++;
	} else {
		end = strchr(value, ';');
	}
	*text = end != NULL ? end + 1 : value + strlen(value);
	if (end != NULL)
		*end = '\0';
	*ret_key = key;
	*ret_value = value;
	return true;
}

/* Cut a connection string into its pairs, in place. Returns their number. Pairs beyond PAIRS_MAX are ignored. */
static int
split_pairs(char *text, struct pair ret_pairs[PAIRS_MAX])
{
	int n = 0;

	while (n < (int)PAIRS_MAX &&
		next_pair(&text, &ret_pairs[n].key, &ret_pairs[n].value))
		n++;
	return n;
}

/* ---- users ---- */

static void
add_user(struct instance *i, const struct xml_element *e, const char *name,
	const char *password)
{
	struct origin at = place(i->s, e);

	if (name == NULL || *name == '\0' || password == NULL)
		return;
	i->has_users = true;
	if (*password == '[') {
		note(i->s, e, name,
			"not in the users file: the password is in the file %s; use "
			"cenoted --user NAME",
			password);
		return;
	}
	if (draft_user(i->s->d, &at, name, password))
		text_addf(&i->names, "%s%s", i->names.len > 0 ? "," : "", name);
}

/* Without a list of users, clients log in with the user and password of a connection. */
static void
add_connection_users(struct instance *i)
{
	for (size_t k = i->index; (k = next_of(i, "connection", k)) != XML_NONE;) {
		const struct xml_element *e = &i->s->xml.list[k];
		const char *string = attribute(e, "string");
		struct pair pairs[PAIRS_MAX];
		char *copy;
		int n;

		if (string == NULL)
			continue;
		copy = mem_dup(string, strlen(string));
		n = split_pairs(copy, pairs);
		add_user(i, e, pairs_find(pairs, n, "user"),
			pairs_find(pairs, n, "password"));
		free(copy);
	}
}

static void
add_users(struct instance *i)
{
	bool has_list = false, is_other = false;

	for (size_t k = i->index; (k = next_of(i, "auth", k)) != XML_NONE;) {
		const struct xml_element *e = &i->s->xml.list[k];
		const char *module = attribute(e, "module");

		if (module != NULL && strstr(module, "userlist") == NULL &&
			strstr(module, "connectstrings") == NULL) {
			note(i->s, e, module,
				"no counterpart, so the pool refuses all clients; see "
				"pass-through in cenoted.conf(5)");
			is_other = true;
		}
	}
	for (size_t k = i->index; (k = next_of(i, "user", k)) != XML_NONE;) {
		const struct xml_element *e = &i->s->xml.list[k];

		has_list = true;
		if (attribute(e, "passwordencryption") != NULL)
			note(i->s, e, "passwordencryption",
				"no counterpart; use cenoted --user NAME");
		else
			add_user(i, e, attribute(e, "user"), attribute(e, "password"));
	}
	if (!has_list && !is_other)
		add_connection_users(i);
}

static void
convert_auth(struct instance *i)
{
	struct draft *d = i->s->d;
	struct origin at = place(i->s, i->e);

	if (i->has_users && (i->names.len > 0 || d->users_path == NULL)) {
		draft_password_rules(d, &at, text_str(&i->names), i->has_plain);
		return;
	}
	note(i->s, i->e, i->name,
		"the pool refuses all clients, since no user can be converted");
	draft_line(&d->pools, "auth", "reject");
}

/* ---- listeners ---- */

static void
convert_tls(struct instance *i, const struct xml_element *e)
{
	static const struct {
		const char *from, *to;
	} files[] = {
		{ "tlscert", "tls_cert" },
		{ "tlskey", "tls_key" },
		{ "tlsca", "tls_ca" },
	};
	struct origin at = place(i->s, e);
	struct draft *d = i->s->d;

	for (size_t k = 0; k < N_ITEMS(files); k++) {
		const char *value = attribute(e, files[k].from);

		if (value != NULL && *value != '\0')
			draft_key(d, &d->pools, &at, files[k].to, "%s", value);
	}
	if (is_yes(e, "tlsvalidate"))
		draft_line(&d->pools, "tls_client_cert", "require");
	for (size_t k = 0; k < e->n_attributes; k++) {
		const char *name = e->attributes[k].name;

		if (strcmp(name, "tlspassword") == 0 || strcmp(name, "tlsciphers") == 0 ||
			strcmp(name, "tlsversion") == 0)
			note(i->s, e, name,
				"not converted: see tls_key, tls_ciphers and "
				"tls_min_version");
	}
}

/* `has_tls`: an earlier listener of the pool has set its TLS keys. */
static void
convert_listener(struct instance *i, const struct xml_element *e, bool *has_tls)
{
	const char *addresses = attribute(e, "addresses");
	const char *port = attribute(e, "port");
	const char *protocol = attribute(e, "protocol");
	const char *enabled = attribute(e, "enabled");
	struct origin at = place(i->s, e);
	char *list, *rest, *host;

	if (enabled != NULL && strcmp(enabled, "no") == 0)
		return;
	if (protocol != NULL && strcmp(protocol, "sqlrclient") != 0)
		note(i->s, e, protocol,
			"cenoted has a protocol of its own; programs use a shim of "
			"Cenote in place of the %s library",
			protocol);
	if (is_yes(e, "krb"))
		note(i->s, e, "krb", "no counterpart: there is no login by Kerberos");
	if (is_yes(e, "tls") && !*has_tls) {
		*has_tls = true;
		convert_tls(i, e);
	}
	if (!is_yes(e, "tls"))
		i->has_plain = true;
	if (addresses == NULL || *addresses == '\0' || strcmp(addresses, "0.0.0.0") == 0)
		addresses = "*";
	rest = list = mem_dup(addresses, strlen(addresses));
	while ((host = strsep(&rest, ", ")) != NULL) {
		if (*host != '\0')
			draft_listen(i->s->d, &at, host, port != NULL ? port : "9000");
	}
	free(list);
}

/* Old files have the listener's attributes at the instance. */
static void
convert_listeners(struct instance *i)
{
	size_t k = next_of(i, "listener", i->index);
	bool has_tls = false;

	/* if an instance has neither a listener nor these attributes, SQL Relay listens on its default port */
	if (k == XML_NONE)
		convert_listener(i, i->e, &has_tls);
	for (; k != XML_NONE; k = next_of(i, "listener", k))
		convert_listener(i, &i->s->xml.list[k], &has_tls);
}

/* ---- instances ---- */

/* The SQL with which each session begins. NULL: there is none, or the backend has no key for it. */
static const char *
start_of_session(struct instance *i)
{
	const char *sql = NULL;

	for (size_t k = i->index; (k = next_of(i, "runquery", k)) != XML_NONE;) {
		struct xml_element *e = &i->s->xml.list[k];
		const char *parent = i->s->xml.list[e->parent].name;

		if (strcmp(parent, "start") == 0 && i->kind->start != NULL && sql == NULL)
			sql = text_str(&e->content);
		else
			note(i->s, e, "runquery",
				"write it as session_start or session_end, in [pool "
				"NAME]");
	}
	return sql;
}

static void
convert_connection(struct instance *i, const struct xml_element *e, const char *start_sql,
	struct text *servers)
{
	const char *string = attribute(e, "string");
	const char *metric = attribute(e, "metric");
	struct origin at = place(i->s, e);
	struct text line = { 0 };
	struct pair pairs[PAIRS_MAX];
	char *copy = string != NULL ? mem_dup(string, strlen(string)) : NULL;
	int n = copy != NULL ? split_pairs(copy, pairs) : 0;

	for (int k = 0; k < n; k++) {
		/* a server line has a key once */
		if (pairs_find(pairs, n, pairs[k].key) == pairs[k].value)
			add_pair(i, e, &line, pairs[k].key, pairs[k].value);
	}
	free(copy);
	if (start_sql != NULL)
		draft_option(i->s->d, &line, &at, i->kind->start, start_sql);
	if (metric != NULL && strcmp(metric, "1") != 0)
		note(i->s, e, "metric", "not converted: see weight= in the server line");
	if (attribute(e, "passwordencryption") != NULL)
		note(i->s, e, "passwordencryption",
			"no counterpart; write password= or passfile=");
	if (line.len > 0)
		draft_line(servers, "server", text_str(&line));
	else
		note(i->s, e, "string", "there is no key=value for a server line");
	text_finish(&line);
}

static uint64_t
count_of(struct instance *i, const char *name, uint64_t fallback)
{
	const char *value = attribute(i->e, name);
	uint64_t n;

	if (value == NULL)
		return fallback;
	if (number_parse(value, UINT32_MAX, &n))
		return n;
	note(i->s, i->e, name, "\"%.64s\" is not a number", value);
	return fallback;
}

static void
convert_sessions(struct instance *i)
{
	struct origin at = place(i->s, i->e);
	uint64_t min = count_of(i, "connections", 5);
	uint64_t max = count_of(i, "maxconnections", min);

	draft_sessions(i->s->d, &at, min, max > min ? max : min);
}

/* Where the default of SQL Relay differs from ours, it is written. */
static void
convert_times(struct instance *i)
{
	static const struct {
		const char *from, *to, *initial;
	} times[] = {
		{ "ttl", "idle_ttl", NULL },
		{ "listenertimeout", "queue_timeout", "0" },
		{ "sessiontimeout", "suspend_timeout", "600" },
		{ "idleclienttimeout", "idle_client_timeout", NULL },
	};
	struct origin at = place(i->s, i->e);
	struct draft *d = i->s->d;

	for (size_t k = 0; k < N_ITEMS(times); k++) {
		const char *value = attribute(i->e, times[k].from);

		if (value == NULL)
			value = times[k].initial;
		if (value == NULL || strcmp(value, "-1") == 0)
			continue;
		/* with 0, SQL Relay ends a session after its client; here 0 would keep it for ever */
		if (k == 0 && strcmp(value, "0") == 0)
			value = "1";
		draft_seconds(d, &d->pools, &at, times[k].to, value);
	}
}

/* What becomes of the other attributes of an instance. NULL: nothing is lost. */
static const struct {
	const char *name;
	const char *
		usual; /* with this value, the setting changes nothing; NULL: there is no such value */
	const char *note;
} others[] = {
	{ "authtier", NULL, NULL },
	{ "cursors", NULL, NULL },
	{ "cursors_growby", NULL, NULL },
	{ "debug", "none", "see log_level" },
	{ "enabled", "yes", "enabled=\"no\" has no counterpart: the pool is written" },
	{ "fakeinputbindvariables", "no", "no counterpart: parameters are always bound" },
	{ "fakeinputbindvariablesdateformat", NULL, NULL },
	{ "faketransactionblocks", "no",
		"no counterpart: transactions are those of the server" },
	{ "growby", NULL, NULL },
	{ "handoff", NULL, NULL },
	{ "ignoreselectdatabase", "no", "no counterpart" },
	{ "isolationlevel", "",
		"no counterpart; set it in the server, or by options= or init_command= "
		"in the server line" },
	{ "maxcursors", NULL, NULL },
	{ "maxlisteners", "-1",
		"not converted: see max_waiting, which limits the clients that wait for "
		"a "
		"pool" },
	{ "maxsessioncount", "0", "no counterpart; see max_lifetime" },
	{ "reloginatstart", NULL, NULL },
	{ "runasgroup", NULL, "no counterpart: the group is that of the user" },
	{ "sessionhandler", NULL, NULL },
	{ "softttl", "0", "not converted: see max_lifetime" },
	{ "transactionmodel", "native",
		"no counterpart: transactions are those of the server" },
	{ "translatebindvariables", "no", "not converted: see program_sql" },
	{ "waitfordowndatabase", NULL, NULL },
};

static void
note_others(struct instance *i)
{
	for (size_t k = 0; k < N_ITEMS(others); k++) {
		const char *value = attribute(i->e, others[k].name);

		if (value != NULL && others[k].note != NULL &&
			(others[k].usual == NULL || strcmp(value, others[k].usual) != 0))
			note(i->s, i->e, others[k].name, "%s", others[k].note);
	}
	if (attribute(i->e, "endofsession") == NULL ||
		strcmp(attribute(i->e, "endofsession"), "rollback") != 0)
		note(i->s, i->e, "endofsession",
			"no counterpart for commit: a transaction that is open when its "
			"client ends is rolled back");
}

/* SQL Relay filters addresses by regular expressions, which cenoted cannot. */
static void
convert_addresses(struct instance *i)
{
	const char *denied = attribute(i->e, "deniedips");
	const char *allowed = attribute(i->e, "allowedips");
	struct draft *d = i->s->d;

	if ((denied == NULL || *denied == '\0') && (allowed == NULL || *allowed == '\0'))
		return;
	note(i->s, i->e, "deniedips, allowedips",
		"regular expressions have no counterpart, so the pool refuses clients by "
		"TCP; write networks in allow and deny");
	draft_line(&d->pools, "deny", "0.0.0.0/0, ::/0");
}

/* Elements for modules that change statements, rows or logs. */
static void
note_modules(struct instance *i)
{
	static const char none[] = "no counterpart: cenoted has no such modules";
	static const char rewriting[] =
		"not converted: see normalize, program_sql and rule ... -> rewrite";
	static const struct {
		const char *name;
		const char *note;
	} modules[] = {
		{ "bindvariabletranslation", "not converted: see program_sql" },
		{ "errortranslation", "not converted: see on_error" },
		{ "event", none },
		{ "filter", "not converted: see rule ... -> deny" },
		{ "logger", none },
		{ "notification", none },
		{ "parser", none },
		{ "passwordencryption", none },
		{ "query", none },
		{ "querytranslation", rewriting },
		{ "resultsettranslation", none },
		{ "route", none },
		{ "router", none },
		{ "schedule", "not converted: see allow_hours" },
		{ "translation", rewriting },
		{ "trigger", none },
	};

	for (size_t n = 0; n < N_ITEMS(modules); n++) {
		for (size_t k = i->index;
			(k = next_of(i, modules[n].name, k)) != XML_NONE;)
			note(i->s, &i->s->xml.list[k], modules[n].name, "%s",
				modules[n].note);
	}
}

static void
convert_user(struct instance *i)
{
	const char *user = attribute(i->e, "runasuser");
	struct origin at = place(i->s, i->e);
	struct draft *d = i->s->d;

	if (user == NULL || *user == '\0')
		return;
	if (i->s->user == NULL) {
		i->s->user = user;
		draft_key(d, &d->daemon, &at, "user", "%s", user);
	} else if (strcmp(i->s->user, user) != 0) {
		draft_key(d, &d->pools, &at, "user", "%s", user);
	}
}

static const struct kind *
find_kind(struct sqlrelay *s, const struct xml_element *e)
{
	const char *dbase = attribute(e, "dbase");

	if (dbase == NULL)
		dbase = "oracle";
	for (size_t k = 0; k < N_ITEMS(kinds); k++) {
		if (strcmp(kinds[k].dbase, dbase) == 0)
			return &kinds[k];
	}
	note(s, e, attribute(e, "id"),
		"there is no pool for it: there is no backend for %s; use backend = odbc "
		"if it has an ODBC driver",
		dbase);
	return NULL;
}

/* The server lines of an instance; empty if it has none. */
static void
convert_connections(struct instance *i, struct text *servers)
{
	const char *start_sql = start_of_session(i);

	for (size_t k = i->index; (k = next_of(i, "connection", k)) != XML_NONE;)
		convert_connection(i, &i->s->xml.list[k], start_sql, servers);
}

static void
convert_pool(struct instance *i, const struct text *servers)
{
	struct origin at = place(i->s, i->e);
	struct draft *d = i->s->d;

	if (servers->len == 0) {
		note(i->s, i->e, i->name, "there is no pool for it: it has no server");
		return;
	}
	if (!draft_pool(d, &at, i->name))
		return;
	draft_line(&d->pools, "backend", i->kind->backend);
	convert_user(i);
	text_add(&d->pools, servers->data, servers->len);
	convert_sessions(i);
	convert_times(i);
	convert_listeners(i);
	convert_addresses(i);
	add_users(i);
	convert_auth(i);
	note_others(i);
	note_modules(i);
}

static void
convert_instance(struct sqlrelay *s, size_t index)
{
	struct instance i = { .s = s, .index = index, .e = &s->xml.list[index] };
	struct text servers = { 0 };

	i.name = attribute(i.e, "id");
	if (i.name == NULL)
		i.name = "defaultid";
	i.kind = find_kind(s, i.e);
	if (i.kind == NULL)
		return;
	convert_connections(&i, &servers);
	convert_pool(&i, &servers);
	text_finish(&servers);
	text_finish(&i.names);
}

int
sqlrelay_convert(struct draft *d, const char *file, const char *text, size_t len)
{
	struct sqlrelay s = { .d = d, .file = file };
	int r = xml_read(&s.xml, d, file, text, len);

	for (size_t k = 0; r == 0 && k < s.xml.n; k++) {
		if (strcmp(s.xml.list[k].name, "instance") == 0)
			convert_instance(&s, k);
	}
	xml_finish(&s.xml);
	return r;
}
