/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <stdio.h>
#include <string.h>

/* The TLS part of cenote_info(): the facts of TLS between the program and cenoted, and between
 * cenoted and its server. */

static const char *
yes_or_no(int is_so)
{
	return is_so ? "yes" : "no";
}

static const char *
pool_fact(const struct cn_tls_facts *f, struct cn_scratch *scratch, const char *name)
{
	const struct {
		const char *name;
		const char *value;
	} facts[] = {
		{ "version", f->version },
		{ "cipher", f->cipher },
		{ "group", f->group },
		{ "resumed", yes_or_no(f->is_resumed) },
		{ "verified", yes_or_no(f->is_verified) },
		{ "peer", f->peer },
		{ "issuer", f->issuer },
		{ "names", f->alt_names },
		{ "not_after", f->not_after },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].value;
	}
	if (strcmp(name, "bits") != 0)
		return NULL;
	(void)snprintf(scratch->text, sizeof(scratch->text), "%u", (unsigned)f->bits);
	return scratch->text;
}

/* Get the facts only when the program asks, since most programs never do. */
static const char *
of_pool(const cenote_conn *conn, const char *name)
{
	const struct cn_transport *t = &conn->transport;
	struct cn_scratch *scratch = conn->info.scratch;

	if (!t->tls || t->is_shaking)
		return NULL;
	if (!scratch->tls)
		scratch->tls = cnc_alloc(&conn->mem, sizeof(*scratch->tls));
	if (!scratch->tls)
		return NULL;
	t->tls_ops->facts(t->tls, scratch->tls);
	return pool_fact(scratch->tls, scratch, name);
}

/* The backend reports these facts among the parameters. */
static const char *
of_server(const cenote_conn *conn, const char *name)
{
	char key[64];

	(void)snprintf(key, sizeof(key), "server_tls_%s", name);
	return cenote_parameter(conn, key);
}

const char *
cenote_tls_info(const cenote_conn *conn, int hop, const char *name)
{
	if (!conn || !name)
		return NULL;
	return hop == CENOTE_HOP_SERVER ? of_server(conn, name) : of_pool(conn, name);
}
