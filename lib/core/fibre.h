/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_FIBRE_H
#define CNC_FIBRE_H

#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>

/*
 * A fibre: a function that runs on a stack of its own and can be left in the middle. Code that is
 * written as if it blocked leaves its fibre where it would wait. It goes on there when the fibre is entered
 * again. Call the functions of one fibre in one thread at a time.
 */
struct cnc_fibre {
	ucontext_t first; /* where the fibre begins */
	jmp_buf inside, outside; /* where the fibre goes on; where its caller goes on */
	char *stack; /* the page before it is inaccessible, to catch an overflow */
	size_t size; /* of the stack */
	void (*run)(void *user);
	void *user;
	int has_begun;
	int is_inside; /* the fibre runs now */
	int is_over; /* `run` has returned */
#if defined(__SANITIZE_ADDRESS__)
	void *outer_fake, *inner_fake;
	const void *outer_stack;
	size_t outer_size;
#endif
};

/* Make the stack, of at least `stack_size` bytes; `run` begins at the first cnc_fibre_enter(). The
 * fibre must not move in memory. 0; -1: there is no memory. */
int cnc_fibre_init(
	struct cnc_fibre *f, size_t stack_size, void (*run)(void *user), void *user);
/* Free the stack. What `run` has not cleaned up stays as it is. */
void cnc_fibre_finish(struct cnc_fibre *f);
/* Run the fibre until it is left or over. If it is over, this calls `run` once more. */
void cnc_fibre_enter(struct cnc_fibre *f);
/* Called inside the fibre: leave it. Returns when the fibre is entered again. */
void cnc_fibre_leave(struct cnc_fibre *f);

#endif
