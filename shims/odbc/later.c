/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of a statement that wait in memory, because another statement needed the connection
 * before the application read them. settle.c, run.c and execute.c add and take results. The state
 * is cod_stmt.later.
 */
#include "odbc.h"

#include <stdlib.h>

/* The results in the order in which they came. */
struct cod_later {
	struct cod_later *next;
	cenote_result *result;
};

int
cod_later_add(struct cod_stmt *stmt, cenote_result *result)
{
	struct cod_later **at = &stmt->later;
	struct cod_later *later = malloc(sizeof(*later));

	if (later == NULL) {
		cenote_result_destroy(result);
		return CENOTE_ERR_NOMEM;
	}
	*later = (struct cod_later){ .result = result };
	while (*at != NULL)
		at = &(*at)->next;
	*at = later;
	return CENOTE_OK;
}

cenote_result *
cod_later_take(struct cod_stmt *stmt)
{
	struct cod_later *later = stmt->later;
	cenote_result *result;

	if (later == NULL)
		return NULL;
	result = later->result;
	stmt->later = later->next;
	free(later);
	return result;
}

void
cod_later_clear(struct cod_stmt *stmt)
{
	cenote_result *result;

	while ((result = cod_later_take(stmt)) != NULL)
		cenote_result_destroy(result);
}
