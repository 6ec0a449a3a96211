/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keep notices and notifications that arrive during a call into libcenote, and pass them to Ruby's
 * blocks after the call. connection.c calls this file. The state is the lists in struct rbc_conn.
 */
#include "cenote_ruby.h"

#include <stdlib.h>
#include <string.h>

/* libcenote calls this function, so Ruby must not be used, not even its memory. Without memory the
 * event is lost, as it is without a block. */
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
	c->kept_end = &c->kept;
	cenote_set_notice_handler(c->conn, on_notice, c);
	cenote_set_notification_handler(c->conn, on_notification, c);
}

static struct rbc_event *
take(struct rbc_event **list, struct rbc_event ***end)
{
	struct rbc_event *event = *list;

	if (!event)
		return NULL;
	*list = event->next;
	if (!*list)
		*end = list;
	return event;
}

static void
keep(struct rbc_conn *c, struct rbc_event *event)
{
	event->next = NULL;
	*c->kept_end = event;
	c->kept_end = &event->next;
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

/* The block may raise, so free the event first. */
static void
give(struct rbc_conn *c, struct rbc_event *event)
{
	VALUE first = text(event->texts[0]), second = text(event->texts[1]),
	      third = text(event->texts[2]), pid = UINT2NUM(event->pid);
	VALUE block = event->is_notification ? c->on_notification : c->on_notice;
	int is_notification = event->is_notification;

	free_event(event);
	if (!NIL_P(block))
		rb_funcall(block, rb_intern("call"), 3, first, second,
			is_notification ? pid : third);
}

/* Pass the events to the blocks. Without a block, notifications are kept. */
size_t
rbc_event_deliver(struct rbc_conn *c)
{
	struct rbc_event *event;
	size_t n = 0;

	while ((event = take(&c->events, &c->events_end))) {
		n++;
		if (event->is_notification && (c->keeps || NIL_P(c->on_notification)))
			keep(c, event);
		else
			give(c, event);
	}
	return n;
}

VALUE
rbc_event_take(struct rbc_conn *c)
{
	struct rbc_event *event = take(&c->kept, &c->kept_end);
	VALUE heard;

	if (!event)
		return Qnil;
	heard = rb_ary_new_from_args(
		3, text(event->texts[0]), UINT2NUM(event->pid), text(event->texts[1]));
	free_event(event);
	return heard;
}

void
rbc_event_drop(struct rbc_conn *c)
{
	struct rbc_event *event;

	while ((event = take(&c->events, &c->events_end)))
		free_event(event);
	while ((event = take(&c->kept, &c->kept_end)))
		free_event(event);
}
