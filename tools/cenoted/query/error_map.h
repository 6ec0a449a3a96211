/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ERROR_MAP_H
#define CND_ERROR_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/diag.h"

/*
 * What a client gets in place of an error of the server: the `on_error` lines of a pool,
 * SQLSTATE|native=N[,…] -> SQLSTATE [native=N] ["TEXT"]. The first line that names the error decides.
 */
#define CND_ERROR_MAPS_MAX  64u
#define CND_ERROR_FROM_MAX  16u
#define CND_ERROR_ERROR_MAX 256u

struct cnd_error_name {
	char sqlstate[6]; /* "": the error is named by its number */
	int32_t native;
};

struct cnd_error_map {
	char *text; /* as written */
	struct cnd_error_name from[CND_ERROR_FROM_MAX];
	size_t n_from;
	char sqlstate[6];
	bool has_native;
	int32_t native;
	char *message; /* NULL: the server's message stays */
};

struct cnd_error_maps {
	struct cnd_error_map *list;
	size_t n;
};

/* Add a line. 0; or -1, with the error set. */
int cnd_error_maps_parse(
	struct cnd_error_maps *maps, const char *text, char error[CND_ERROR_ERROR_MAX]);
void cnd_error_maps_destroy(struct cnd_error_maps *maps);
/* Print the lines in a form that can be read back. */
void cnd_error_maps_print(const struct cnd_error_maps *maps, FILE *out);

/* If a line names the error, put the line's error in its place. The other fields of the error stay. If memory runs out, they
 * are lost. */
void cnd_error_maps_apply(const struct cnd_error_maps *maps, struct cnc_diag *d);

#endif
