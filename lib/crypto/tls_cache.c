/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/*
 * The contexts and sessions that a process keeps. Making a context reads files and takes
 * milliseconds, and a handshake that resumes a session needs no signatures.
 *
 * No caller waits long for the lock, because after a fork it may be held for ever. A caller that
 * gets nothing makes a new context, or does a full handshake.
 */

#define CONTEXTS 16u
#define SESSIONS 256u
#define LOCK_MS  50

struct entry {
	uint8_t name[CNP_HASH_LEN];
	void *what; /* the context or session; NULL: the entry is free */
	uint64_t used; /* when the entry was last found or stored */
};

static struct entry contexts[CONTEXTS];
static struct entry sessions[SESSIONS];
static uint64_t now;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The limit of pthread_mutex_timedlock() is a time of day: a clock that is set back would prolong the wait. */
static int
take_lock(void)
{
	const struct timespec pause = { 0, 1000000 };
	int r = pthread_mutex_trylock(&lock);

	for (int i = 0; r != 0 && i < LOCK_MS; i++) {
		(void)nanosleep(&pause, NULL);
		r = pthread_mutex_trylock(&lock);
	}
	return r == 0;
}

/* The entry with that name; NULL: there is none. */
static struct entry *
find(struct entry *list, size_t n, const uint8_t name[CNP_HASH_LEN])
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].what == NULL || memcmp(list[i].name, name, CNP_HASH_LEN) != 0)
			continue;
		list[i].used = ++now;
		return &list[i];
	}
	return NULL;
}

/* The entry with that name, else a free one, else the entry that was not used for the longest time. */
static struct entry *
place(struct entry *list, size_t n, const uint8_t name[CNP_HASH_LEN])
{
	struct entry *oldest = find(list, n, name);

	for (size_t i = 0; oldest == NULL && i < n; i++) {
		if (list[i].what == NULL)
			oldest = &list[i];
	}
	if (oldest == NULL)
		oldest = list;
	else
		n = 0;
	for (size_t i = 1; i < n; i++) {
		if (list[i].used < oldest->used)
			oldest = &list[i];
	}
	return oldest;
}

/* Store something under that name. Returns the object that the entry had before; NULL: none. */
static void *
put(struct entry *list, size_t n, const uint8_t name[CNP_HASH_LEN], void *what)
{
	struct entry *e = place(list, n, name);
	void *before = e->what;

	memcpy(e->name, name, CNP_HASH_LEN);
	e->what = what;
	e->used = ++now;
	return before;
}

SSL_CTX *
cn_tls_cache_context(const uint8_t name[CNP_HASH_LEN])
{
	struct entry *e;
	SSL_CTX *context = NULL;

	if (!take_lock())
		return NULL;
	e = find(contexts, CONTEXTS, name);
	if (e != NULL && SSL_CTX_up_ref(e->what) == 1)
		context = e->what;
	(void)pthread_mutex_unlock(&lock);
	return context;
}

void
cn_tls_cache_keep_context(const uint8_t name[CNP_HASH_LEN], SSL_CTX *context)
{
	void *before;

	if (!take_lock())
		return;
	(void)SSL_CTX_up_ref(context);
	before = put(contexts, CONTEXTS, name, context);
	(void)pthread_mutex_unlock(&lock);
	SSL_CTX_free(before);
}

SSL_SESSION *
cn_tls_cache_session(const uint8_t name[CNP_HASH_LEN])
{
	struct entry *e;
	SSL_SESSION *session = NULL;

	if (!take_lock())
		return NULL;
	e = find(sessions, SESSIONS, name);
	/* OpenSSL does not allow a TLS 1.3 session to be used twice, so return a copy. */
	if (e != NULL)
		session = SSL_SESSION_dup(e->what);
	(void)pthread_mutex_unlock(&lock);
	return session;
}

void
cn_tls_cache_keep_session(const uint8_t name[CNP_HASH_LEN], SSL_SESSION *session)
{
	void *before = session;

	if (take_lock()) {
		before = put(sessions, SESSIONS, name, session);
		(void)pthread_mutex_unlock(&lock);
	}
	SSL_SESSION_free(before);
}
