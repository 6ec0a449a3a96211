/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Most options of FreeTDS have no property in ct-library, and can only be set in a freetds.conf.
 * This file makes one for the login, in memory without a name. It holds no secret.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tds.h"

struct line {
	const char *key; /* the name in freetds.conf */
	const char *value;
};

static int
write_conf(FILE *f, const struct cnd_tds_options *o)
{
	const struct line lines[] = {
		{ "host", o->host },
		{ "port", o->port       ? o->port
			  : o->instance ? NULL
					: "1433" },
		{ "instance", o->instance },
		{ "tds version", o->tds_version ? o->tds_version : "auto" },
		{ "encryption", o->encryption },
		{ "ca file", o->ca_file },
		{ "crl file", o->crl_file },
		{ "check certificate hostname", o->check_name },
		{ "enable tls v1", o->tls_v1 },
		{ "openssl ciphers", o->tls_ciphers },
		{ "charset", o->server_charset },
		{ "language", o->language },
		{ "text size", o->text_size },
		{ "initial block size", o->packet_size },
		{ "use ntlmv2", o->ntlmv2 },
		{ "use utf-16", o->utf16 ? o->utf16 : "yes" },
		{ "enable gssapi delegation", o->delegation },
		{ "mutual authentication", o->mutual },
		{ "realm", o->realm },
		{ "spn", o->spn },
		{ "read-only intent", o->readonly_intent },
	};

	fprintf(f, "[" CND_TDS_SECTION "]\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (lines[i].value)
			fprintf(f, "%s = %s\n", lines[i].key, lines[i].value);
	}
	return ferror(f) || fclose(f) != 0 ? -1 : 0;
}

int
cnd_tds_conf_make(const struct cnd_tds_options *o)
{
	int fd = memfd_create("freetds.conf", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f && copy >= 0)
		close(copy);
	if (f && write_conf(f, o) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
