/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks and the switching between them. The libmysql shim runs its non-blocking functions on fibres,
 * and a shared worker of cenoted runs its sessions on them.
 *
 * makecontext(3) makes a stack, and setcontext(3) enters it for the first time. Later switches use
 * _setjmp() and _longjmp(): swapcontext(3) would set the signal mask each time, with a system call.
 */
/* The checked longjmp() refuses to go to another stack. */
#undef _FORTIFY_SOURCE
#include "core/fibre.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

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

/* Not inline, because _setjmp() returns twice. */
__attribute__((noinline)) static void
go_inside(struct cnc_fibre *f)
{
	if (_setjmp(f->outside) != 0)
		return;
	if (f->has_begun)
		_longjmp(f->inside, 1);
	f->has_begun = 1;
	(void)setcontext(&f->first);
}

__attribute__((noinline)) static void
go_outside(struct cnc_fibre *f)
{
	if (_setjmp(f->inside) == 0)
		_longjmp(f->outside, 1);
}

void
cnc_fibre_enter(struct cnc_fibre *f)
{
	f->is_inside = 1;
	f->is_over = 0;
	LEAVE_OUTSIDE(f);
	go_inside(f);
	BACK_OUTSIDE(f);
	f->is_inside = 0;
}

void
cnc_fibre_leave(struct cnc_fibre *f)
{
	LEAVE_INSIDE(f);
	go_outside(f);
	BACK_INSIDE(f);
}

/* makecontext() passes integers only, so the pointer comes in two halves. */
static void
live(unsigned high, unsigned low)
{
	struct cnc_fibre *f =
		(struct cnc_fibre *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);

	BACK_INSIDE(f);
	for (;;) {
		f->run(f->user);
		f->is_over = 1;
		cnc_fibre_leave(f);
	}
}

/* ---- making and freeing ---- */

/* Not inline, because the compiler must expect getcontext() to return twice. */
__attribute__((noinline)) static int
set_up(struct cnc_fibre *f)
{
	if (getcontext(&f->first) < 0)
		return -1;
	f->first.uc_stack.ss_sp = f->stack;
	f->first.uc_stack.ss_size = f->size;
	makecontext(&f->first, (void (*)(void))live, 2,
		(unsigned)((uintptr_t)f >> 16 >> 16), (unsigned)(uintptr_t)f);
	return 0;
}

int
cnc_fibre_init(
	struct cnc_fibre *f, size_t stack_size, void (*run)(void *user), void *user)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map;

	*f = (struct cnc_fibre){ .run = run, .user = user };
	f->size = (stack_size + page - 1) / page * page;
	map = mmap(NULL, page + f->size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -1;
	f->stack = map + page;
	if (mprotect(f->stack, f->size, PROT_READ | PROT_WRITE) == 0 && set_up(f) == 0)
		return 0;
	cnc_fibre_finish(f);
	return -1;
}

void
cnc_fibre_finish(struct cnc_fibre *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (f->stack != NULL)
		munmap(f->stack - page, page + f->size);
	f->stack = NULL;
}
