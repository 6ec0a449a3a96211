/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CONFIG_PARTS_H
#define CND_CONFIG_PARTS_H

#include <stdio.h>

#include "config.h"

/*
 * What the files of the configuration share. config.c: the tables of keys, and reading the file; config_kinds.c: how each
 * kind of value is read and printed; config_server.c: server lines; config_limits.c: limits of users; config_hooks.c: SQL
 * that the pool runs on its sessions; config_check.c: checks of the whole; config_base.c: memory and errors.
 */

#define CND_KEYS_MAX 64

enum cnd_section {
	CND_SECTION_NONE, /* before the first section, or in an unknown one */
	CND_SECTION_CENOTED,
	CND_SECTION_POOL
};

struct cnd_loader {
	struct cnd_config *config;
	FILE *file; /* reads from `bytes` */
	char *bytes;
	size_t n_bytes;
	char *text; /* the line as read */
	size_t text_size;
	char *long_value;
	unsigned line;
	enum cnd_section section;
	struct cnd_pool_config *pool;
	unsigned given
		[CND_KEYS_MAX]; /* the line of each key of this section; 0: not given */
	unsigned cenoted_given[CND_KEYS_MAX];
	unsigned cenoted_line;
};

/* How a kind of value is read and printed. parse() returns 0; or -1, and the error is reported. */
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

extern const struct cnd_kind cnd_kind_text, cnd_kind_notify, cnd_kind_ms,
	cnd_kind_frame_size, cnd_kind_slots, cnd_kind_workers, cnd_kind_level,
	cnd_kind_log_format, cnd_kind_socket_mode, cnd_kind_sessions, cnd_kind_mode,
	cnd_kind_lend, cnd_kind_reset, cnd_kind_rules, cnd_kind_query_rules,
	cnd_kind_cache_size, cnd_kind_errors, cnd_kind_program_sql,
	cnd_kind_hooks, /* config_hooks.c */
	cnd_kind_users, cnd_kind_target, cnd_kind_switch, cnd_kind_yes, cnd_kind_listen,
	cnd_kind_stats_listen, cnd_kind_allow, cnd_kind_hours, cnd_kind_deny,
	cnd_kind_rate;
extern const struct cnd_kind cnd_kind_user_limits, cnd_kind_address_limits,
	cnd_kind_count; /* config_limits.c */
extern const struct cnd_kind cnd_kind_server; /* config_server.c */

/* config_base.c */
/* The configuration is read at the start and at a reload: without memory for it, cenoted ends. */
void *cnd_config_must(void *p);
char *cnd_config_dup(const char *text);
void cnd_config_free_secret(char *text);
/* Add an error about the value being read. Returns -1, so that a parser can return it. */
int cnd_config_bad(struct cnd_loader *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* config.c */
/* The line of a key of [cenoted]; 0: it was not given. */
unsigned cnd_loader_line_of(const struct cnd_loader *l, const char *name);

/* config_kinds.c */
void cnd_config_print_listens(
	const char *key, const struct cnd_listens *listens, FILE *out);

/* config_server.c */
void cnd_config_print_server(
	const struct cnd_server_line *s, FILE *out, int show_secrets);

/* config_limits.c */
void cnd_config_print_user_limits(const struct cnd_pool_config *p, FILE *out);
void cnd_config_free_user_limits(struct cnd_pool_config *p);
/* Set counts_sessions and knows_unix_users. */
void cnd_config_settle_limits(struct cnd_pool_config *p);

/* config_check.c */
/* Check the whole configuration, and read the files that it names, with cenoted's rights at its
 * start. */
void cnd_config_check(struct cnd_loader *l);

#endif
