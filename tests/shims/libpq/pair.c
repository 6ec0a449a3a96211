/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	memcpy(slot, &address, sizeof(address));
}

void
cnt_pq_load(struct cnt_pq *pq, const char *path)
{
	pq->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (pq->library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define FIND(handle, ret, name, params, args) find(pq->library, #name, &pq->f.name);
#define FIND_V(handle, name, params, args)    find(pq->library, #name, &pq->f.name);
	CPQ_FACE_15(FIND, FIND_V)
	CPQ_FACE_17(FIND, FIND_V)
	CPQ_FACE_18(FIND, FIND_V)
#define FIND_MORE(name) find(pq->library, #name, &pq->more.name)
	FIND_MORE(PQmblen);
	FIND_MORE(PQmblenBounded);
	FIND_MORE(PQdsplen);
	FIND_MORE(pg_char_to_encoding);
	FIND_MORE(pg_encoding_to_char);
	FIND_MORE(pg_valid_server_encoding_id);
}

const char *
cnt_pq_original(void)
{
	const char *other = getenv("CNT_ORIGINAL_LIBPQ");
	int (*version_of)(void) = NULL;
	void *library;
	char version[16];

	if (other == NULL)
		return CNT_ORIGINAL_LIBPQ;
	library = dlopen(other, RTLD_NOW | RTLD_LOCAL);
	if (library != NULL)
		find(library, "PQlibVersion", &version_of);
	if (version_of == NULL) {
		fprintf(stderr, "%s is not a libpq\n", other);
		exit(1);
	}
	snprintf(version, sizeof(version), "%d", version_of());
	setenv("CENOTE_LIBPQ_VERSION", version, 1);
	dlclose(library);
	return other;
}

void
cnt_pair_open(struct cnt_pq *ret_ours, struct cnt_pq *ret_original)
{
	const char *ours = getenv("CNT_LIBPQ");

	cnt_pq_load(ret_ours, ours != NULL ? ours : CNT_OUR_LIBPQ);
	cnt_pq_load(ret_original, cnt_pq_original());
}

void
cnt_pair_close(struct cnt_pq *ours, struct cnt_pq *original)
{
	/* our library stays loaded after this: it is linked with -z nodelete, because its handles
	 * may be anywhere */
	dlclose(ours->library);
	dlclose(original->library);
}

void
cnt_ours_open(struct cnt_pq *ret_ours)
{
	cnt_pq_load(ret_ours, CNT_OUR_LIBPQ);
}
