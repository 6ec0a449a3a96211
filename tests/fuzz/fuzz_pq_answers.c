/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "dialect/dialect.h"

static const struct cpq_dialect sqlite = { .title = "SQLite", .rules = CPQ_SQL_SQLITE };
static const struct cpq_dialect mysql = {
	.title = "MySQL", .rules = CPQ_SQL_MYSQL, .has_set = 1
};

/* Check what each answer must have. */
static void
check(const struct cpq_answer *a)
{
	FUZZ_CHECK(a->kind <= CPQ_ANSWER_REFUSE);
	FUZZ_CHECK(a->isolation <= CENOTE_ISOLATION_SERIALIZABLE);
	FUZZ_CHECK(memchr(a->text, '\0', sizeof(a->text)) != NULL);
	FUZZ_CHECK((a->kind != CPQ_ANSWER_DONE && a->kind != CPQ_ANSWER_FORGET) ||
		   a->tag != NULL);
	FUZZ_CHECK(a->kind != CPQ_ANSWER_REFUSE ||
		   (strlen(a->sqlstate) == 5 && *a->text != '\0'));
}

static int
is_same(const struct cpq_answer *a, const struct cpq_answer *b)
{
	return a->kind == b->kind && a->isolation == b->isolation &&
	       a->flags == b->flags && strcmp(a->text, b->text) == 0;
}

/* A statement that the shim answers or refuses gets the same answer when empty statements follow
 * it. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpq_answer a, b;
	PGconn conn = { .tag = NULL };
	char *sql;

	if (size < 1)
		return 0;
	conn.inherited.dialect = data[0] & 1 ? &sqlite : &mysql;
	conn.inherited.encoding = 6;
	conn.standard_strings = data[0] & 1;
	sql = malloc(size + 8);
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, data + 1, size - 1);
	sql[size - 1] = '\0';
	cpq_dialect_answer(&conn, sql, &a);
	check(&a);
	size = strlen(sql);
	memcpy(sql + size, " ; ;", 5);
	cpq_dialect_answer(&conn, sql, &b);
	check(&b);
	/* unless the statement ends within a text or comment that was not closed */
	if (a.kind != CPQ_ANSWER_NONE && !is_same(&a, &b))
		FUZZ_CHECK(strpbrk(sql, "'\"`[/-#") != NULL);
	free(sql);
	return 0;
}
