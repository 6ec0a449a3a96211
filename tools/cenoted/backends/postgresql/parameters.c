/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of the parameters whose values the server reports. */
#include <string.h>

#include "core/sql.h"
#include "session.h"

struct cnd_pg_parameter *
cnd_pg_parameter(struct cnd_session *s, const char *name)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		if (strcmp(s->parameters[i].name, name) == 0)
			return &s->parameters[i];
	}
	return NULL;
}

static void
heed(struct cnd_session *s, const char *name, const char *value)
{
	if (strcmp(name, "DateStyle") == 0)
		s->facts.is_date_iso = strncmp(value, "ISO", 3) == 0;
	else if (strcmp(name, "standard_conforming_strings") == 0)
		s->facts.has_standard_strings = strcmp(value, "on") == 0;
}

/* The server reports the only setting that changes how it reads texts. */
uint32_t
cnd_pg_sql_rules(struct cnd_session *s, const char *sql, size_t len)
{
	uint32_t rules = s->facts.has_standard_strings ? CNC_SQL_POSTGRESQL
						       : CNC_SQL_POSTGRESQL_BACKSLASH;

	(void)sql;
	(void)len;
	return rules | CNC_SQL_STRICT;
}

int
cnd_pg_set_parameter(struct cnd_session *s, const char *name, const char *value)
{
	struct cnd_pg_parameter *p = cnd_pg_parameter(s, name);
	char *copy;

	if (p == NULL) {
		if (s->n_parameters == CND_PG_PARAMETERS_MAX)
			return CENOTE_OK;
		copy = cnc_strndup(s->mem, name, strlen(name));
		if (copy == NULL)
			return CENOTE_ERR_NOMEM;
		p = &s->parameters[s->n_parameters++];
		*p = (struct cnd_pg_parameter){ .name = copy };
	}
	copy = cnc_strndup(s->mem, value, strlen(value));
	if (copy == NULL)
		return CENOTE_ERR_NOMEM;
	cnc_free(s->mem, p->value);
	p->value = copy;
	s->n_changes++;
	heed(s, name, value);
	return CENOTE_OK;
}
