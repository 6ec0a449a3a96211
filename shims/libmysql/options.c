/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <stdlib.h>
#include <string.h>

/*
 * mysql_options() and similar functions. The flavour's table has the type of each option's
 * argument, and the member of the public structure where the original keeps the option, since
 * programs read these members. All options are also recorded in order, with copies of their
 * arguments, so that cmy_options_replay() can repeat them for the original library. face.c and
 * optionfile.c set options; nearly all files read them.
 */

unsigned long cmy_max_allowed_packet = 1024UL * 1024 * 1024;
unsigned long cmy_net_buffer_length = 8192;

/* ---- records ---- */

static int
has_first_copy(const struct option *what)
{
	return what->kind != KIND_NONE && what->kind != KIND_POINTER &&
	       what->kind != KIND_POINTERS;
}

static int
has_second_copy(const struct option *what)
{
	return what->kind == KIND_TEXT_TEXT || what->kind == KIND_UINT_TEXT;
}

static void
record_finish(struct record *r)
{
	if (has_first_copy(r->what))
		free(r->first);
	if (has_second_copy(r->what))
		free(r->second);
}

static void *
copy_bytes(const void *from, size_t size)
{
	void *copy = malloc(size + 1);

	if (copy) {
		memcpy(copy, from, size);
		((char *)copy)[size] = '\0';
	}
	return copy;
}

static size_t
size_of_first(const struct option *what, const void *first, const void *second)
{
	switch (what->kind) {
	case KIND_UINT:
	case KIND_UINT_TEXT:
		return sizeof(unsigned);
	case KIND_BOOL:
		return sizeof(my_bool);
	case KIND_SIZE:
		return sizeof(unsigned long);
	case KIND_BYTES:
		return (size_t)(uintptr_t)second;
	default:
		return strlen(first);
	}
}

/* Record an option. 0, or -1: no memory. */
static int
record_make(struct record *r, const struct option *what, const void *first,
	const void *second)
{
	*r = (struct record){
		.what = what, .first = (void *)first, .second = (void *)second
	};
	if (has_first_copy(what) && first)
		r->first = copy_bytes(first, size_of_first(what, first, second));
	if (has_second_copy(what) && second)
		r->second = copy_bytes(second, strlen(second));
	if ((!first || r->first) && (!second || r->second))
		return 0;
	record_finish(r);
	return -1;
}

static struct record *
find_record(const struct cmy_options *o, const struct option *what)
{
	for (size_t i = o->n; i > 0; i--) {
		if (o->records[i - 1].what == what)
			return &o->records[i - 1];
	}
	return NULL;
}

static struct record *
new_record(struct cmy_options *o)
{
	struct record *grown;

	if (o->n == o->room) {
		size_t room = o->room ? 2 * o->room : 8;

		grown = realloc(o->records, room * sizeof(*grown));
		if (!grown)
			return NULL;
		o->records = grown;
		o->room = room;
	}
	return &o->records[o->n];
}

void
cmy_option_remove(struct cmy_options *o, size_t i)
{
	record_finish(&o->records[i]);
	memmove(&o->records[i], &o->records[i + 1],
		(o->n - i - 1) * sizeof(o->records[0]));
	o->n--;
}

static int
no_memory(struct cmy_options *o)
{
	cmy_error(o->my, CR_OUT_OF_MEMORY, NULL);
	return 1;
}

int
cmy_option_refuse(struct cmy_options *o, unsigned code)
{
	cmy_error(o->my, code, NULL);
	return 1;
}

int
cmy_option_record(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	struct record *old = what->adds ? NULL : find_record(o, what);
	struct record *r = old ? old : new_record(o);
	struct record made, gone = { .what = NULL };

	if (!r || record_make(&made, what, first, second) < 0)
		return no_memory(o);
	if (old)
		gone = *old;
	else
		o->n++;
	made.is_of_file = o->is_file;
	*r = made;
	if (gone.what)
		record_finish(&gone);
	return 0;
}

/* ---- the public structure ---- */

void
cmy_option_flag(MYSQL *my, unsigned long flag, int on)
{
	if (on)
		my->options.client_flag |= flag;
	else
		my->options.client_flag &= ~flag;
}

static int
is_on(const struct option *what, const void *first)
{
	if (!first || what->kind == KIND_NONE)
		return 1;
	if (what->kind == KIND_UINT)
		return *(const unsigned *)first != 0;
	return *(const my_bool *)first != 0;
}

/* Copy a recorded option to its place in the public structure. */
static void
publish(struct cmy_options *o, const struct option *what)
{
	const struct record *r = find_record(o, what);
	void *at = (char *)o->my + what->at;

	if (what->flag != 0)
		cmy_option_flag(o->my, what->flag, is_on(what, r->first));
	if (what->at == 0)
		return;
	switch (what->kind) {
	case KIND_UINT:
		memcpy(at, r->first, sizeof(unsigned));
		break;
	case KIND_BOOL:
		memcpy(at, r->first, sizeof(my_bool));
		break;
	case KIND_SIZE:
		memcpy(at, r->first, sizeof(unsigned long));
		break;
	case KIND_TEXT:
		*(char **)at = r->first;
		break;
	default:
		*(my_bool *)at = 1;
		break;
	}
}

/* ---- setting and reading ---- */

/* mysql_get_option() without a handle reports the defaults of all connections. */
static int
set_global(int option, const void *arg)
{
	if (option != MYSQL_OPT_MAX_ALLOWED_PACKET &&
		option != MYSQL_OPT_NET_BUFFER_LENGTH)
		return 1;
	memcpy(option == MYSQL_OPT_MAX_ALLOWED_PACKET ? &cmy_max_allowed_packet
						      : &cmy_net_buffer_length,
		arg, sizeof(unsigned long));
	return 0;
}

static int
get_global(int option, void *arg)
{
	if (option != MYSQL_OPT_MAX_ALLOWED_PACKET &&
		option != MYSQL_OPT_NET_BUFFER_LENGTH)
		return 1;
	memcpy(arg,
		option == MYSQL_OPT_MAX_ALLOWED_PACKET ? &cmy_max_allowed_packet
						       : &cmy_net_buffer_length,
		sizeof(unsigned long));
	return 0;
}

static int
needs_argument(const struct option *what)
{
	switch (what->kind) {
	case KIND_UINT:
	case KIND_BOOL:
	case KIND_SIZE:
	case KIND_UINT_TEXT:
		return !what->is_optional;
	default:
		return 0;
	}
}

static int
not_known(MYSQL *my)
{
	if (!CMY_ORACLE)
		cmy_error(my, CR_NOT_IMPLEMENTED, NULL);
	return 1;
}

int
cmy_option_set(MYSQL *my, int option, const void *first, const void *second)
{
	const struct option *what = cmy_option_find(option);
	struct cmy_options *o;

	if (!my)
		return first ? set_global(option, first) : 1;
	if (!cmy_session(my))
		return 1;
	o = cmy_session(my)->options;
	if (!what)
		return not_known(my);
	if (!first && needs_argument(what))
		return cmy_option_refuse(o, CR_INVALID_PARAMETER_NO);
	if (what->set)
		return what->set(o, what, first, second);
	if (cmy_option_record(o, what, first, second))
		return 1;
	publish(o, what);
	return 0;
}

/* The option's value: from its flag, from the public structure, or from its last record. */
static const void *
current(const struct cmy_options *o, const struct option *what)
{
	const struct record *r = find_record(o, what);

	if (what->at != 0)
		return (const char *)o->my + what->at;
	if (!r)
		return NULL;
	return what->kind == KIND_TEXT || what->kind == KIND_POINTER ? &r->first
								     : r->first;
}

static int
tell(const struct cmy_options *o, const struct option *what, void *arg)
{
	static const size_t sizes[] = { [KIND_NONE] = sizeof(my_bool),
		[KIND_UINT] = sizeof(unsigned),
		[KIND_BOOL] = sizeof(my_bool),
		[KIND_SIZE] = sizeof(unsigned long),
		[KIND_TEXT] = sizeof(char *),
		[KIND_POINTER] = sizeof(char *),
		[KIND_BYTES] = 0 };
	const void *now = current(o, what);

	if (what->kind >= sizeof(sizes) / sizeof(sizes[0]) || sizes[what->kind] == 0)
		return 1;
	if (what->at == 0 && what->flag != 0)
		*(my_bool *)arg =
			cmy_bool((o->my->options.client_flag & what->flag) != 0);
	else if (now)
		memcpy(arg, now, sizes[what->kind]);
	else
		memset(arg, 0, sizes[what->kind]);
	return 0;
}

int
cmy_option_get(MYSQL *my, int option, void *arg, void *more, unsigned *n)
{
	const struct option *what = cmy_option_find(option);
	struct cmy_options *o;

	if (!my)
		return arg ? get_global(option, arg) : 1;
	if (!cmy_session(my))
		return 1;
	o = cmy_session(my)->options;
	if (!what)
		return not_known(my);
	if (what->get)
		return what->get(o, arg, more, n);
	if (!arg || tell(o, what, arg))
		return not_known(my);
	return 0;
}

const void *
cmy_option(const struct cmy_options *o, int option)
{
	const struct record *r = find_record(o, cmy_option_find(option));

	return r ? r->first : NULL;
}

int
cmy_init_commands(struct cmy_options *o, unsigned *ret_n)
{
	const struct option *what = cmy_option_find(MYSQL_INIT_COMMAND);
	unsigned n = 0;
	char **grown = realloc(o->init_commands, (o->n + 1) * sizeof(*grown));

	if (!grown)
		return -1;
	o->init_commands = grown;
	for (size_t i = 0; i < o->n; i++) {
		if (o->records[i].what == what && o->records[i].first)
			grown[n++] = o->records[i].first;
	}
	grown[n] = NULL;
	*ret_n = n;
	return 0;
}

char *const *
cmy_init_command_list(const struct cmy_options *o)
{
	return o->init_commands;
}

/* ---- making, freeing, replaying ---- */

struct cmy_options *
cmy_options_new(MYSQL *my)
{
	struct cmy_options *o = calloc(1, sizeof(*o));

	if (o)
		o->my = my;
	return o;
}

void
cmy_options_from_file(struct cmy_options *o, int is_file)
{
	o->is_file = is_file;
}

void
cmy_options_forget(struct cmy_options *o)
{
	while (o->n > 0)
		cmy_option_remove(o, o->n - 1);
	memset(&o->my->options, 0, sizeof(o->my->options));
}

void
cmy_options_free(struct cmy_options *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		record_finish(&o->records[i]);
	free(o->records);
	free(o->init_commands);
	free(o);
}

static int
has_second(const struct option *what)
{
	return what->kind >= KIND_POINTERS;
}

int
cmy_options_replay(const struct cmy_options *o, MYSQL *my)
{
	const struct cmy_original *original = cmy_original(NULL);
	int r = 0;

	for (size_t i = 0; i < o->n && r == 0; i++) {
		const struct record *each = &o->records[i];
		enum mysql_option option = (enum mysql_option)each->what->option;

		if (each->is_of_file)
			continue;
		if (has_second(each->what))
			r = original->mysql_options4(
				my, option, each->first, each->second);
		else
			r = original->mysql_options(my, option, each->first);
	}
	return r;
}

/* ---- the face ---- */

/* Oracle's programs cannot set these options; only option files can. */
static int
set_public(MYSQL *my, int option, const void *first, const void *second)
{
	return CMY_ORACLE && option >= CMY_OPT_HOST
		       ? 1
		       : cmy_option_set(my, option, first, second);
}

int
cmy_mysql_options(MYSQL *my, enum mysql_option option, const void *arg)
{
	return set_public(my, (int)option, arg, NULL);
}

int
cmy_mysql_options4(
	MYSQL *my, enum mysql_option option, const void *arg1, const void *arg2)
{
	return set_public(my, (int)option, arg1, arg2);
}

static int
set_tls(MYSQL *my, const char *const *values)
{
	static const int options[] = { MYSQL_OPT_SSL_KEY, MYSQL_OPT_SSL_CERT,
		MYSQL_OPT_SSL_CA, MYSQL_OPT_SSL_CAPATH, MYSQL_OPT_SSL_CIPHER };
	int r = 0;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		r |= cmy_option_set(my, options[i], values[i], NULL);
	return r;
}

#if CMY_ORACLE

int
cmy_mysql_get_option(MYSQL *my, enum mysql_option option, const void *arg)
{
	return cmy_option_get(my, (int)option, (void *)arg, NULL, NULL);
}

my_bool
cmy_mysql_ssl_set(MYSQL *my, const char *key, const char *cert, const char *ca,
	const char *capath, const char *cipher)
{
	const char *const values[] = { key, cert, ca, capath, cipher };

	return set_tls(my, values) != 0;
}

#else

int
cmy_mysql_get_option(MYSQL *my, enum mysql_option option, void *arg)
{
	return cmy_option_get(my, (int)option, arg, NULL, NULL);
}

int
cmy_mysql_ssl_set(MYSQL *my, const char *key, const char *cert, const char *ca,
	const char *capath, const char *cipher)
{
	const char *const values[] = { key, cert, ca, capath, cipher };
	const my_bool on = 1;

	return cmy_option_set(my, MYSQL_OPT_SSL_ENFORCE, &on, NULL) | set_tls(my, values);
}

#endif
