/* SPDX-License-Identifier: BSD-2-Clause */
#include "fibre.h"

/*
 * MariaDB's non-blocking functions: …_start() begins an operation on the session's fibre, and …_cont()
 * goes on with it. Both tell the program what to wait for. face.c calls them.
 */

/* The session's fibre if an operation on it is suspended; else NULL, and the error is
 * set. */
static struct cmy_fibre *
suspended_fibre(struct cmy_session *s)
{
	if (s && s->fibre && s->fibre->is_suspended)
		return s->fibre;
	if (s)
		cmy_error(s->my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return NULL;
}

/* The return value of a function that failed. */
#define FAILURE(ret) _Generic((ret), int : 1, my_bool : 1, default : 0)

#define PAIR(type, handle, result, name, params, args)                                   \
	RUN(result, name, args)                                                          \
	int cmy_##name##_start(result *ret, CMY_UNPAREN params)                          \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f;                                                     \
		if (!s) {                                                                \
			*ret = cmy_##name args;                                          \
			return 0;                                                        \
		}                                                                        \
		f = cmy_fibre_idle(s);                                                   \
		*ret = (result)FAILURE(*ret);                                            \
		if (!f)                                                                  \
			return 0;                                                        \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
		return goes_on(s, cmy_fibre_resume(f, 0, ret, sizeof(*ret)), ret);       \
	}                                                                                \
	int cmy_##name##_cont(result *ret, type *handle, int status)                     \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f = suspended_fibre(s);                                \
		*ret = (result)FAILURE(*ret);                                            \
		if (!f)                                                                  \
			return 0;                                                        \
		return goes_on(s, cmy_fibre_resume(f, status, ret, sizeof(*ret)), ret);  \
	}

#define PAIR_V(type, handle, name, params, args)                                         \
	RUN_V(name, args)                                                                \
	int cmy_##name##_start params                                                    \
	{                                                                                \
		struct cmy_session *s = SESSION_OF(handle);                              \
		struct cmy_fibre *f = s && may_wait_##name ? cmy_fibre_idle(s) : NULL;   \
		if (!f) {                                                                \
			cmy_##name args;                                                 \
			return 0;                                                        \
		}                                                                        \
		EACH(KEEP, CMY_UNPAREN args);                                            \
		f->run = run_##name;                                                     \
		return cmy_fibre_resume(f, 0, NULL, 0);                                  \
	}                                                                                \
	int cmy_##name##_cont(type *handle, int status)                                  \
	{                                                                                \
		struct cmy_fibre *f = suspended_fibre(SESSION_OF(handle));               \
		return f ? cmy_fibre_resume(f, status, NULL, 0) : 0;                     \
	}

/* Closing never waits, and it frees the fibre. So it runs on the program's own stack. */
#define may_wait_mysql_close       0
#define may_wait_mysql_free_result 1

/* Called when the operation has ended or waits. If a connect found that the original library has to
 * make the connection, start the original's connect. */
static int
goes_on(struct cmy_session *s, int wants, void *ret)
{
	struct cmy_args kept;

	if (wants != 0 || !s->is_originals)
		return wants;
	/* the hand-over frees the session, and its fibre with it */
	kept = s->fibre->args;
	*(MYSQL **)ret = NULL;
	s->is_originals = 0;
	if (cmy_hand_over(s) < 0)
		return 0;
	return cmy_original(NULL)->mysql_real_connect_start(ret, kept.mysql, kept.host,
		kept.user, kept.passwd, kept.db, kept.port, kept.unix_socket,
		kept.clientflag);
}

/* The API gives mysql_real_connect_start() this many parameters. */
/* NOLINTNEXTLINE(readability-function-size) */
CMY_FACE_ASYNC(PAIR, PAIR_V)

unsigned int
cmy_mysql_get_timeout_value_ms(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	return s && s->fibre ? s->fibre->timeout_ms : 0;
}

/* In whole seconds, rounded up: the program must not stop waiting too early. */
unsigned int
cmy_mysql_get_timeout_value(const MYSQL *my)
{
	unsigned ms = cmy_mysql_get_timeout_value_ms(my);

	return ms / 1000 + (ms % 1000 != 0);
}
