/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read the lines of `allow_hours`, and print and destroy them. The configuration owns the lines. config.c calls this file, and
 * query/conditions.c for the condition `time`; hours.c decides by the lines.
 */
#include "hours.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "users.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define DAY        86400u

static const char *const days[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

struct parser {
	struct cnd_hours_line *line;
	char *error;
	unsigned mask; /* the days for which the next times hold; bit 0 is Monday */
	bool has_times; /* at least one time has been read for these days */
};

__attribute__((format(printf, 2, 3))) static int
bad(char *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(error, CND_HOURS_ERROR_MAX, format, args);
	va_end(args);
	return -1;
}

/* ---- days and times ---- */

/* The number of the day with this name, from 0 for Monday. -1: there is none. */
static int
find_day(const char *text, size_t len)
{
	for (size_t i = 0; i < N_ITEMS(days); i++) {
		if (len == strlen(days[i]) && strncasecmp(text, days[i], len) == 0)
			return (int)i;
	}
	return -1;
}

/* Read DAY or DAY-DAY. Returns a mask with a bit for each of these days. 0: the word is something else. */
static unsigned
parse_days(const char *word)
{
	const char *dash = strchr(word, '-');
	size_t len = dash != NULL ? (size_t)(dash - word) : strlen(word);
	int first = find_day(word, len);
	int last = dash != NULL ? find_day(dash + 1, strlen(dash + 1)) : first;
	unsigned mask;

	if (first < 0 || last < 0)
		return 0;
	mask = 1u << first;
	while (first != last) {
		first = (first + 1) % 7;
		mask |= 1u << first;
	}
	return mask;
}

/* Read a number of two digits, up to `most`. -1: there is no such number. */
static int
parse_two(const char **at, int most)
{
	const char *p = *at;
	int n;

	if (!isdigit((unsigned char)p[0]) || !isdigit((unsigned char)p[1]))
		return -1;
	n = 10 * (p[0] - '0') + p[1] - '0';
	*at += 2;
	return n <= most ? n : -1;
}

/* Read HH:MM or HH:MM:SS, up to 24:00. Returns the second of the day; -1: this is not a time. */
static int
parse_time(const char **at)
{
	int hours = parse_two(at, 24), minutes, seconds = 0;

	if (hours < 0 || *(*at)++ != ':')
		return -1;
	minutes = parse_two(at, 59);
	if (minutes < 0)
		return -1;
	if (**at == ':') {
		++*at;
		seconds = parse_two(at, 59);
	}
	if (seconds < 0 || (hours == 24 && minutes + seconds > 0))
		return -1;
	return 3600 * hours + 60 * minutes + seconds;
}

/* Read TIME-TIME. If the second time is earlier than the first, it is on the next day. 0; or -1, with the error set. */
static int
parse_times(struct parser *p, const char *word, struct cnd_hours_span *ret_span)
{
	const char *at = word;
	int from = parse_time(&at), to = -1;

	if (from >= 0 && *at == '-') {
		at++;
		to = parse_time(&at);
	}
	if (from < 0 || to < 0 || *at != '\0')
		return bad(p->error, "\"%.64s\" is not a span of time; write 08:00-18:00",
			word);
	if (from == to || from == DAY)
		return bad(p->error,
			"\"%.64s\" is empty; write 00:00-24:00 for a whole day", word);
	if (to < from)
		to += DAY;
	*ret_span = (struct cnd_hours_span){ (uint32_t)from, (uint32_t)to };
	return 0;
}

/* Add the span to the line, once for each day of the mask. 0; or -1, with the error set. */
static int
add_span(struct parser *p, struct cnd_hours_span span)
{
	struct cnd_hours_line *l = p->line;

	for (unsigned day = 0; day < 7; day++) {
		if (!(p->mask & 1u << day))
			continue;
		if (l->n_spans == CND_HOURS_SPANS_MAX)
			return bad(p->error, "the line has more than %u spans of time",
				CND_HOURS_SPANS_MAX);
		l->spans[l->n_spans++] = (struct cnd_hours_span){ span.from + day * DAY,
			span.to + day * DAY };
	}
	p->has_times = true;
	return 0;
}

/* The line ends, or its next days begin: days without times are whole days. */
static int
end_days(struct parser *p)
{
	if (p->mask == 0 || p->has_times)
		return 0;
	return add_span(p, (struct cnd_hours_span){ 0, DAY });
}

static int
take_days(struct parser *p, unsigned mask)
{
	if (p->has_times) {
		p->mask = 0;
		p->has_times = false;
	}
	p->mask |= mask;
	return 0;
}

static int
take_times(struct parser *p, const char *word)
{
	struct cnd_hours_span span = { 0, 0 };

	if (parse_times(p, word, &span) < 0)
		return -1;
	/* times without days hold for each day */
	if (p->mask == 0)
		p->mask = 0x7f;
	return add_span(p, span);
}

static int
take_zone(struct parser *p, const char *word)
{
	if (!cnd_zone_exists(word))
		return bad(p->error,
			"\"%.64s\" is neither a day (mon), nor a span of time "
			"(08:00-18:00), nor a time zone of this system (Europe/Berlin)",
			word);
	(void)snprintf(p->line->zone, sizeof(p->line->zone), "%s", word);
	return 0;
}

/* ---- lines ---- */

static int
take_users(struct parser *p, char *names)
{
	struct cnd_hours_line *l = p->line;

	for (char *name; (name = strsep(&names, ",")) != NULL;) {
		const char *fault = cnd_user_name_fault(name);
		char **more = realloc(l->users, (l->n_users + 1) * sizeof(*l->users));

		if (more == NULL)
			return bad(p->error, "out of memory");
		l->users = more;
		if (fault != NULL)
			return bad(p->error,
				"user: this cannot be the name of a user: %s", fault);
		more[l->n_users] = strdup(name);
		if (more[l->n_users] == NULL)
			return bad(p->error, "out of memory");
		l->n_users++;
	}
	return 0;
}

static int
take_word(struct parser *p, const char *word)
{
	unsigned mask = parse_days(word);

	if (*p->line->zone != '\0')
		return bad(
			p->error, "the time zone must come last, before \"%.64s\"", word);
	if (mask != 0)
		return take_days(p, mask);
	if (isdigit((unsigned char)*word))
		return take_times(p, word);
	return take_zone(p, word);
}

static int
parse(struct parser *p, char *text)
{
	static const char users[] = "user=";
	char *word;

	text += strspn(text, " \t");
	if (strncmp(text, users, sizeof(users) - 1) == 0) {
		char *names = text + sizeof(users) - 1;

		text = names + strcspn(names, " \t");
		if (*text != '\0')
			*text++ = '\0';
		if (take_users(p, names) < 0)
			return -1;
	}
	while ((word = strsep(&text, ", \t")) != NULL) {
		if (*word != '\0' && take_word(p, word) < 0)
			return -1;
	}
	if (end_days(p) < 0)
		return -1;
	return p->line->n_spans > 0
		       ? 0
		       : bad(p->error,
				 "days and times are missing; write mon-fri 08:00-18:00");
}

static void
free_line(struct cnd_hours_line *l)
{
	for (size_t i = 0; i < l->n_users; i++)
		free(l->users[i]);
	free(l->users);
	free(l->text);
}

int
cnd_hours_parse(struct cnd_hours *hours, const char *text, int64_t now,
	char error[CND_HOURS_ERROR_MAX])
{
	struct cnd_hours_line *more;
	struct parser p = { .error = error };
	char *copy;
	int r;

	if (hours->n == CND_HOURS_LINES_MAX)
		return bad(
			error, "a pool has at most %u such lines", CND_HOURS_LINES_MAX);
	more = realloc(hours->list, (hours->n + 1) * sizeof(*more));
	if (more == NULL)
		return bad(error, "out of memory");
	hours->list = more;
	p.line = &more[hours->n];
	*p.line = (struct cnd_hours_line){ .text = strdup(text) };
	copy = strdup(text);
	r = p.line->text != NULL && copy != NULL ? parse(&p, copy)
						 : bad(error, "out of memory");
	free(copy);
	if (r == 0) {
		p.line->n_offsets = cnd_zone_learn(p.line->zone, now, p.line->offsets);
		r = p.line->n_offsets > 0 ? 0 : bad(error, "out of memory");
	}
	if (r < 0)
		free_line(p.line);
	else
		hours->n++;
	return r;
}

void
cnd_hours_destroy(struct cnd_hours *hours)
{
	for (size_t i = 0; i < hours->n; i++)
		free_line(&hours->list[i]);
	free(hours->list);
	*hours = (struct cnd_hours){ NULL, 0 };
}

void
cnd_hours_print(const struct cnd_hours *hours, FILE *out)
{
	for (size_t i = 0; i < hours->n; i++)
		fprintf(out, "%-19s = %s\n", "allow_hours", hours->list[i].text);
}
