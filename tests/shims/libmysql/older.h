/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_OLDER_H
#define CNT_OLDER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * The shim behaves as libmariadb 3.3.20. Older versions differ in these points, on which no program can rely. Tests that compare with
 * such a version write both sides alike:
 *
 *     the length that a bound result of a statement has before the first row, that of NULL, and    3.3.19 writes 0
 *     that of a date or a time
 *     an option with a text that was not set, and the default value of a result's column           3.3.19 gives "", not NULL
 */

#define CNT_OLDER "CNT_LIBMARIADB_IS_OLDER"

/* Note for this process and its children whether the original is older. */
static inline void
cnt_older_note(const char *original)
{
	void *library = dlopen(original, RTLD_NOW | RTLD_LOCAL);
	void *address =
		library != NULL ? dlsym(library, "mysql_get_client_version") : NULL;
	unsigned long (*version)(void);

	*(void **)&version = address;
	if (version != NULL && version() < 30320)
		setenv(CNT_OLDER, "1", 1);
	if (library != NULL)
		dlclose(library);
}

static inline bool
cnt_older_is(void)
{
	return getenv(CNT_OLDER) != NULL;
}

/* The text to compare: "" for NULL if the original is older. */
static inline const char *
cnt_older_text(const char *text)
{
	return text == NULL && cnt_older_is() ? "" : text;
}

/* The length to compare: 0 if the original is older and there is no value (`is_unset`). */
static inline unsigned long
cnt_older_length(unsigned long length, bool is_unset)
{
	return is_unset && cnt_older_is() ? 0 : length;
}

#endif
