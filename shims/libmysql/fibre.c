/* SPDX-License-Identifier: BSD-2-Clause */
#include "fibre.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

/*
 * The stacks on which non-blocking functions run their operations, and the switching between them.
 * When an operation would wait, wait.c leaves the fibre; the program's next call enters the fibre
 * again.
 */

/* The original suggests 60 kB; the shim's stack frames need more. */
#define STACK_SIZE ((size_t)256 * 1024)

/* ---- switching ---- */

#if defined(__SANITIZE_ADDRESS__)
#define LEAVE_OUTSIDE(f)                                                                 \
	__sanitizer_start_switch_fiber(&(f)->outer_fake, (f)->stack, (f)->size)
#define BACK_OUTSIDE(f) __sanitizer_finish_switch_fiber((f)->outer_fake, NULL, NULL)
#define LEAVE_INSIDE(f)                                                                  \
	__sanitizer_start_switch_fiber(                                                  \
		&(f)->inner_fake, (f)->outer_stack, (f)->outer_size)
#define BACK_INSIDE(f)                                                                   \
	__sanitizer_finish_switch_fiber(                                                 \
		(f)->inner_fake, &(f)->outer_stack, &(f)->outer_size)
#else
#define LEAVE_OUTSIDE(f) (void)(f)
#define BACK_OUTSIDE(f)  (void)(f)
#define LEAVE_INSIDE(f)  (void)(f)
#define BACK_INSIDE(f)   (void)(f)
#endif

static void
go_inside(struct cmy_fibre *f)
{
	f->is_inside = 1;
	LEAVE_OUTSIDE(f);
	(void)swapcontext(&f->outside, &f->inside);
	BACK_OUTSIDE(f);
	f->is_inside = 0;
}

static void
go_outside(struct cmy_fibre *f)
{
	LEAVE_INSIDE(f);
	(void)swapcontext(&f->inside, &f->outside);
	BACK_INSIDE(f);
}

/* makecontext() passes integers only, so the pointer comes in two halves. */
static void
live(unsigned high, unsigned low)
{
	struct cmy_fibre *f =
		(struct cmy_fibre *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);

	BACK_INSIDE(f);
	for (;;) {
		f->run(f);
		f->is_over = 1;
		go_outside(f);
	}
}

/* ---- making and freeing ---- */

/* Not inline, because the compiler must expect getcontext() to return twice. */
__attribute__((noinline)) static int
set_up(struct cmy_fibre *f)
{
	if (getcontext(&f->inside) < 0)
		return -1;
	f->inside.uc_stack.ss_sp = f->stack;
	f->inside.uc_stack.ss_size = f->size;
	makecontext(&f->inside, (void (*)(void))live, 2,
		(unsigned)((uintptr_t)f >> 16 >> 16), (unsigned)(uintptr_t)f);
	return 0;
}

struct cmy_fibre *
cmy_fibre_new(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct cmy_fibre *f = calloc(1, sizeof(*f));
	void *map;

	if (!f)
		return NULL;
	f->size = ((size < STACK_SIZE ? STACK_SIZE : size) + page - 1) / page * page;
	map = mmap(NULL, page + f->size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		free(f);
		return NULL;
	}
	f->stack = (char *)map + page;
	if (mprotect(f->stack, f->size, PROT_READ | PROT_WRITE) == 0 && set_up(f) == 0)
		return f;
	cmy_fibre_free(f);
	return NULL;
}

void
cmy_fibre_free(struct cmy_fibre *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!f)
		return;
	munmap(f->stack - page, page + f->size);
	free(f);
}

int
cmy_is_in_fibre(const struct cmy_session *s)
{
	return s->fibre && s->fibre->is_inside;
}

int
cmy_fibre_yield(struct cmy_fibre *f, short events, int timeout_ms)
{
	if (f->is_cancelled)
		return -1;
	f->wants = (events & POLLIN ? MYSQL_WAIT_READ : 0) |
		   (events & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
		   (timeout_ms >= 0 ? MYSQL_WAIT_TIMEOUT : 0);
	f->timeout_ms = timeout_ms > 0 ? (unsigned)timeout_ms : 0;
	go_outside(f);
	if (f->is_cancelled)
		return -1;
	return (f->ready & ~MYSQL_WAIT_TIMEOUT) != 0 || !(f->ready & MYSQL_WAIT_TIMEOUT);
}

int
cmy_fibre_resume(struct cmy_fibre *f, int ready, void *ret, size_t size)
{
	f->is_over = 0;
	f->ready = ready;
	go_inside(f);
	f->is_suspended = !f->is_over;
	if (f->is_suspended)
		return f->wants;
	f->timeout_ms = 0;
	if (ret)
		memcpy(ret, f->ret, size);
	return 0;
}

void
cmy_fibre_cancel(struct cmy_session *s)
{
	struct cmy_fibre *f = s->fibre;

	if (!f || !f->is_suspended)
		return;
	f->is_cancelled = 1;
	while (cmy_fibre_resume(f, 0, NULL, 0) != 0)
		;
	f->is_cancelled = 0;
}
