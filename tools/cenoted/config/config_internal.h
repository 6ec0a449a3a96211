/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CONFIG_PARTS_H
#define CND_CONFIG_PARTS_H

#include <stdio.h>

#include "config.h"

/*
 * What the configuration's files share. config.c: the tables of keys, reading, and the whole; config_kinds.c: how each kind
 * of value is read and shown; config_server.c: server lines; config_check.c: what can only be said of the whole.
 */

#define CND_KEYS_MAX 32

enum cnd_section {
	CND_SECTION_NONE, /* before the first, or an unknown one */
	CND_SECTION_CENOTED,
	CND_SECTION_POOL
};

struct cnd_loader {
	struct cnd_config *config;
	FILE *file; /* over `bytes` */
	char *bytes;
	size_t n_bytes;
	char *text; /* the line as read */
	size_t text_size;
	char *long_value;
	unsigned line;
	enum cnd_section section;
	struct cnd_pool_config *pool;
	unsigned given[CND_KEYS_MAX]; /* in this section: line of each key, 0 not given */
	unsigned cenoted_given[CND_KEYS_MAX];
	unsigned cenoted_line;
};

/* How a kind of value is read and written. parse: 0, or -1 with the error reported. */
struct cnd_kind {
	int (*parse)(struct cnd_loader *l, void *field, const char *value);
	void (*print)(const void *field, FILE *out, int show_secrets);
};

struct cnd_key {
	const char *name;
	size_t offset;
	const struct cnd_kind *kind;
	const char *initial; /* NULL: none */
	int is_repeatable;
};

extern const struct cnd_kind cnd_kind_text, cnd_kind_ms, cnd_kind_frame_size,
	cnd_kind_slots, cnd_kind_level, cnd_kind_socket_mode, cnd_kind_sessions,
	cnd_kind_mode, cnd_kind_reset, cnd_kind_rules, cnd_kind_users, cnd_kind_switch,
	cnd_kind_yes, cnd_kind_listen, cnd_kind_allow, cnd_kind_deny;
extern const struct cnd_kind cnd_kind_server; /* config_server.c */

/* config_base.c */
/* The configuration is read at the start and at a reload: without memory there is no going on. */
void *cnd_config_must(void *p);
char *cnd_config_dup(const char *text);
void cnd_config_free_secret(char *text);
/* For the value being read; gives -1, so that a parser can return it. */
int cnd_config_bad(struct cnd_loader *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* config.c */
/* Where a key of [cenoted] was given; 0: it was not. */
unsigned cnd_loader_line_of(const struct cnd_loader *l, const char *name);

/* config_kinds.c */
void cnd_config_print_listens(const struct cnd_listens *listens, FILE *out);

/* config_server.c */
void cnd_config_print_server(
	const struct cnd_server_line *s, FILE *out, int show_secrets);

/* config_check.c */
/* With the files that it names, read with the rights of the start. */
void cnd_config_check(struct cnd_loader *l);

#endif
