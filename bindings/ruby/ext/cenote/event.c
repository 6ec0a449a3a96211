/* SPDX-License-Identifier: BSD-2-Clause */
#include "cenote_ruby.h"

#include <stdlib.h>
#include <string.h>

/* Called from within libcenote, and so without Ruby: not even its memory. What there is no room for
 * is lost, as it is without a block. */
static void
append(struct rbc_conn *c, const char *const texts[3], uint32_t pid, int is_notification)
{
	struct rbc_event *event = calloc(1, sizeof(*event));

	if (!event)
		return;
	for (size_t i = 0; i < 3; i++)
		event->texts[i] = texts[i] ? strdup(texts[i]) : NULL;
	event->pid = pid;
	event->is_notification = is_notification;
	*c->events_end = event;
	c->events_end = &event->next;
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	struct rbc_conn *c = user;
	const char *texts[3] = { cenote_diag_field(notice, 'S'),
		cenote_diag_sqlstate(notice), cenote_diag_message(notice) };

	if (!NIL_P(c->on_notice))
		append(c, texts, 0, 0);
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	const char *texts[3] = { channel, payload, NULL };

	append(user, texts, pid, 1);
}

void
rbc_event_listen(struct rbc_conn *c)
{
	c->events_end = &c->events;
	cenote_set_notice_handler(c->conn, on_notice, c);
	cenote_set_notification_handler(c->conn, on_notification, c);
}

static struct rbc_event *
take(struct rbc_conn *c)
{
	struct rbc_event *event = c->events;

	if (!event)
		return NULL;
	c->events = event->next;
	if (!c->events)
		c->events_end = &c->events;
	return event;
}

static void
free_event(struct rbc_event *event)
{
	for (size_t i = 0; i < 3; i++)
		free(event->texts[i]);
	free(event);
}

static VALUE
text(const char *bytes)
{
	return bytes ? rb_utf8_str_new_cstr(bytes) : Qnil;
}

/* Blocks may raise: what they are given is off the list before. */
size_t
rbc_event_deliver(struct rbc_conn *c)
{
	struct rbc_event *event;
	size_t n = 0;

	while ((event = take(c))) {
		VALUE first = text(event->texts[0]), second = text(event->texts[1]),
		      third = text(event->texts[2]);
		VALUE block = event->is_notification ? c->on_notification : c->on_notice;
		VALUE pid = UINT2NUM(event->pid);
		int is_notification = event->is_notification;

		free_event(event);
		n++;
		if (NIL_P(block))
			continue;
		if (is_notification)
			rb_funcall(block, rb_intern("call"), 3, first, second, pid);
		else
			rb_funcall(block, rb_intern("call"), 3, first, second, third);
	}
	return n;
}

void
rbc_event_drop(struct rbc_conn *c)
{
	struct rbc_event *event;

	while ((event = take(c)))
		free_event(event);
}
