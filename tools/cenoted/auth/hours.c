/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `allow_hours`: read the lines, and find out whether a user may be in, and until when. The configuration owns the lines.
 * config.c reads them, and worker/hours.c and `cenoted --explain-auth` ask.
 *
 * A worker cannot read the files of time zones, so the reader of a line asks the C library when the zone's clock is changed
 * in the next years, and keeps the answers.
 */
#include "hours.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "users.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define DAY        86400u
#define WEEK       (7u * DAY)
/* 1970-01-05 was the first Monday. */
#define MONDAY     (4 * (int64_t)DAY)
/* For how long after the reading of a line the changes of its clock are known. */
#define YEARS      10
/* How far ahead to look for the next change. */
#define LOOK_AHEAD (15 * (int64_t)DAY)

static const char *const days[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

struct parser {
	struct cnd_hours_line *line;
	char *error;
	unsigned mask; /* the days of the times that follow; bit 0: Monday */
	bool has_times; /* times have come for these days */
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

/* The number of the day that these letters name; -1: none. */
static int
find_day(const char *text, size_t len)
{
	for (size_t i = 0; i < N_ITEMS(days); i++) {
		if (len == strlen(days[i]) && strncasecmp(text, days[i], len) == 0)
			return (int)i;
	}
	return -1;
}

/* Read DAY or DAY-DAY. Returns the bits of these days; 0: the word is something else. */
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

/* Read two digits that are at most `most`. -1: they are not there. */
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

/* Read HH:MM or HH:MM:SS, up to 24:00. Returns the second of the day; -1: it is no time. */
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

/* Read TIME-TIME. An end before the beginning is on the next day. 0 or -1. */
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

/* Add the span for each of the present days. */
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

/* Days without times are whole days. */
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
	/* times without days are for each day */
	if (p->mask == 0)
		p->mask = 0x7f;
	return add_span(p, span);
}

/* ---- time zones ---- */

/* Whether the system has this time zone. */
static bool
is_zone(const char *name)
{
	const char *dir = getenv("TZDIR");
	char path[PATH_MAX], magic[4] = "";
	FILE *f;

	if (strcmp(name, "UTC") == 0)
		return true;
	if (*name == '/' || strstr(name, "..") != NULL)
		return false;
	for (const char *p = name; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("_+-/", *p) == NULL)
			return false;
	}
	(void)snprintf(path, sizeof(path), "%s/%s",
		dir != NULL && *dir != '\0' ? dir : "/usr/share/zoneinfo", name);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		magic[0] = '\0';
	fclose(f);
	return memcmp(magic, "TZif", sizeof(magic)) == 0;
}

static int
take_zone(struct parser *p, const char *word)
{
	if (strlen(word) >= sizeof(p->line->zone) || !is_zone(word))
		return bad(p->error,
			"\"%.64s\" is neither a day (mon), nor a span of time "
			"(08:00-18:00), nor a time zone of this system (Europe/Berlin)",
			word);
	(void)snprintf(p->line->zone, sizeof(p->line->zone), "%s", word);
	return 0;
}

static int32_t
ahead_at(int64_t when)
{
	time_t t = (time_t)when;
	struct tm local;

	return localtime_r(&t, &local) != NULL ? (int32_t)local.tm_gmtoff : 0;
}

/* The first second in (from, to] with the offset of `to`, which differs from that of `from`. */
static int64_t
find_change(int64_t from, int64_t to)
{
	int32_t ahead = ahead_at(to);

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;

		if (ahead_at(middle) == ahead)
			to = middle;
		else
			from = middle;
	}
	return to;
}

/* Find the changes of the present time zone. */
static void
learn_offsets(struct cnd_hours_line *l, int64_t now)
{
	int64_t at = now - DAY;
	int32_t ahead = ahead_at(at);

	l->offsets[0] = (struct cnd_hours_offset){ INT64_MIN, ahead };
	l->n_offsets = 1;
	for (int i = 0; i < YEARS * 366 && l->n_offsets < CND_HOURS_OFFSETS_MAX; i++) {
		int64_t next = at + DAY;

		if (ahead_at(next) != ahead) {
			ahead = ahead_at(next);
			l->offsets[l->n_offsets++] =
				(struct cnd_hours_offset){ find_change(at, next), ahead };
		}
		at = next;
	}
}

/* Let the C library have the zone of this line meanwhile. */
static void
learn_zone(struct cnd_hours_line *l, int64_t now)
{
	const char *present = getenv("TZ");
	char *before = present != NULL ? strdup(present) : NULL;
	char name[sizeof(l->zone) + 1];

	if (*l->zone == '\0' || strcmp(l->zone, "UTC") == 0) {
		l->offsets[0] = (struct cnd_hours_offset){ INT64_MIN, 0 };
		l->n_offsets = 1;
		if (*l->zone == '\0')
			learn_offsets(l, now);
		free(before);
		return;
	}
	(void)snprintf(name, sizeof(name), ":%s", l->zone);
	(void)setenv("TZ", name, 1);
	tzset();
	learn_offsets(l, now);
	if (before != NULL)
		(void)setenv("TZ", before, 1);
	else
		(void)unsetenv("TZ");
	tzset();
	free(before);
}

/* ---- reading a line ---- */

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
	if (r < 0) {
		free_line(p.line);
		return r;
	}
	learn_zone(p.line, now);
	hours->n++;
	return 0;
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

/* ---- deciding ---- */

static bool
names(const struct cnd_hours_line *l, const char *user)
{
	for (size_t i = 0; i < l->n_users; i++) {
		if (strcmp(l->users[i], user) == 0)
			return true;
	}
	return false;
}

/* Whether the lines that name users count for this one: some line names it. */
static bool
has_own_line(const struct cnd_hours *hours, const char *user)
{
	for (size_t i = 0; i < hours->n; i++) {
		if (names(&hours->list[i], user))
			return true;
	}
	return false;
}

/* The next line that counts for the user; NULL: there is none. `*at` is where to begin. */
static const struct cnd_hours_line *
next_line(const struct cnd_hours *hours, const char *user, bool has_own, size_t *at)
{
	while (*at < hours->n) {
		const struct cnd_hours_line *l = &hours->list[(*at)++];

		if (has_own ? names(l, user) : l->n_users == 0)
			return l;
	}
	return NULL;
}

/* The offset of the line's clock. *ret_until: when it changes. */
static int32_t
offset_of(const struct cnd_hours_line *l, int64_t when, int64_t *ret_until)
{
	size_t i = 0;

	while (i + 1 < l->n_offsets && l->offsets[i + 1].at <= when)
		i++;
	*ret_until = i + 1 < l->n_offsets ? l->offsets[i + 1].at : CND_HOURS_NEVER;
	return l->offsets[i].ahead;
}

/* Whether the time is in a span of the line. *io_change: made earlier if a span or an offset begins or ends before it. */
static bool
look_at_line(const struct cnd_hours_line *l, int64_t when, int64_t *io_change)
{
	int64_t until;
	int64_t local = when + offset_of(l, when, &until) - MONDAY;
	uint32_t second = (uint32_t)(((local % WEEK) + WEEK) % WEEK);
	bool is_in = false;

	for (size_t i = 0; i < l->n_spans; i++) {
		uint32_t bounds[] = { l->spans[i].from, l->spans[i].to % WEEK };
		/* how long ago it began */
		uint32_t since = (second + WEEK - bounds[0]) % WEEK;

		is_in = is_in || since < l->spans[i].to - l->spans[i].from;
		for (size_t j = 0; j < N_ITEMS(bounds); j++) {
			uint32_t left = (bounds[j] + WEEK - second) % WEEK;
			int64_t at = when + (left > 0 ? left : WEEK);

			if (at < until)
				until = at;
		}
	}
	if (until < *io_change)
		*io_change = until;
	return is_in;
}

/* Whether the user may be in then. *ret_next: the earliest time at which that may change. */
static bool
look(const struct cnd_hours *hours, const char *user, int64_t when, int64_t *ret_next)
{
	bool has_own = has_own_line(hours, user), is_in = false, has_line = false;
	const struct cnd_hours_line *l;
	size_t at = 0;

	*ret_next = CND_HOURS_NEVER;
	while ((l = next_line(hours, user, has_own, &at)) != NULL) {
		has_line = true;
		is_in = look_at_line(l, when, ret_next) || is_in;
	}
	return is_in || !has_line;
}

bool
cnd_hours_allow(const struct cnd_hours *hours, const char *user, int64_t when,
	int64_t *ret_change)
{
	int64_t at, next;
	bool is_in = look(hours, user, when, &at);

	while (at != CND_HOURS_NEVER && at < when + LOOK_AHEAD &&
		look(hours, user, at, &next) == is_in)
		at = next;
	*ret_change =
		at != CND_HOURS_NEVER && at < when + LOOK_AHEAD ? at : CND_HOURS_NEVER;
	return is_in;
}

const char *
cnd_hours_text(const struct cnd_hours *hours, const char *user, int64_t when,
	char text[CND_HOURS_TEXT_MAX])
{
	size_t at = 0;
	const struct cnd_hours_line *l =
		next_line(hours, user, has_own_line(hours, user), &at);
	int64_t until;
	time_t local = (time_t)when;
	struct tm tm;
	size_t n;

	if (l != NULL)
		local += offset_of(l, when, &until);
	if (gmtime_r(&local, &tm) == NULL ||
		(n = strftime(text, CND_HOURS_TEXT_MAX, "%a %Y-%m-%d %H:%M", &tm)) == 0) {
		text[0] = '\0';
		return text;
	}
	if (l != NULL && *l->zone != '\0')
		(void)snprintf(text + n, CND_HOURS_TEXT_MAX - n, " %s", l->zone);
	return text;
}
