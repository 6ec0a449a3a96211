/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocate and free handles, and update the lists of each parent. face.c calls this file. The state is the
 * lists in environments and connections.
 */
#include "odbc.h"

#include <stdlib.h>

static void
head_init(struct cod_head *head, enum cod_kind kind, pthread_mutex_t *lock)
{
	head->tag = COD_TAG;
	head->kind = kind;
	head->lock = lock;
}

static void
head_finish(struct cod_head *head)
{
	head->tag = 0;
	cod_diag_finish(&head->diag);
}

SQLRETURN
cod_alloc_env(SQLHANDLE *ret_handle)
{
	struct cod_env *env;

	if (ret_handle == NULL)
		return SQL_ERROR;
	*ret_handle = SQL_NULL_HANDLE;
	env = calloc(1, sizeof(*env));
	if (env == NULL)
		return SQL_ERROR;
	if (pthread_mutex_init(&env->mutex, NULL) != 0) {
		free(env);
		return SQL_ERROR;
	}
	head_init(&env->head, COD_ENV, &env->mutex);
	*ret_handle = env;
	return SQL_SUCCESS;
}

static bool
init_mutexes(struct cod_dbc *dbc)
{
	if (pthread_mutex_init(&dbc->mutex, NULL) != 0)
		return false;
	if (pthread_mutex_init(&dbc->cancel_mutex, NULL) == 0)
		return true;
	(void)pthread_mutex_destroy(&dbc->mutex);
	return false;
}

SQLRETURN
cod_alloc_dbc(struct cod_env *env, SQLHANDLE *ret_handle)
{
	struct cod_dbc *dbc = calloc(1, sizeof(*dbc));

	*ret_handle = SQL_NULL_HANDLE;
	if (dbc == NULL || !init_mutexes(dbc)) {
		free(dbc);
		return cod_fail(&env->head, "HY001");
	}
	head_init(&dbc->head, COD_DBC, &dbc->mutex);
	dbc->env = env;
	dbc->autocommit = SQL_AUTOCOMMIT_ON;
	dbc->access_mode = SQL_MODE_READ_WRITE;
	dbc->odbc_cursors = SQL_CUR_USE_DRIVER;
	cod_stmt_attr_defaults(dbc->stmt_attrs);
	dbc->next = env->dbcs;
	env->dbcs = dbc;
	*ret_handle = dbc;
	return SQL_SUCCESS;
}

SQLRETURN
cod_alloc_stmt(struct cod_dbc *dbc, SQLHANDLE *ret_handle)
{
	struct cod_stmt *stmt;

	*ret_handle = SQL_NULL_HANDLE;
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	stmt = calloc(1, sizeof(*stmt));
	if (stmt == NULL)
		return cod_fail(&dbc->head, "HY001");
	head_init(&stmt->head, COD_STMT, &dbc->mutex);
	stmt->head.component = dbc->head.component;
	stmt->dbc = dbc;
	for (int i = 0; i < COD_N_STMT_ATTRS; i++)
		stmt->attrs[i] = dbc->stmt_attrs[i];
	for (int i = 0; i < COD_N_ROLES; i++) {
		struct cod_desc *desc = &stmt->implicit[i];

		head_init(&desc->head, COD_DESC, &dbc->mutex);
		cod_desc_init(desc, dbc, (enum cod_role)i);
		desc->stmt = stmt;
		stmt->desc[i] = desc;
	}
	stmt->row_count = -1;
	stmt->cursor.at = -1;
	stmt->next = dbc->stmts;
	dbc->stmts = stmt;
	*ret_handle = stmt;
	return SQL_SUCCESS;
}

SQLRETURN
cod_alloc_desc(struct cod_dbc *dbc, SQLHANDLE *ret_handle)
{
	struct cod_desc *desc;

	*ret_handle = SQL_NULL_HANDLE;
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	desc = calloc(1, sizeof(*desc));
	if (desc == NULL)
		return cod_fail(&dbc->head, "HY001");
	head_init(&desc->head, COD_DESC, &dbc->mutex);
	cod_desc_init(desc, dbc, COD_EXPLICIT);
	desc->next = dbc->descs;
	dbc->descs = desc;
	*ret_handle = desc;
	return SQL_SUCCESS;
}

static void
free_stmt(struct cod_stmt *stmt)
{
	struct cod_stmt **at = &stmt->dbc->stmts;

	cod_stmt_forget(stmt);
	while (*at != stmt)
		at = &(*at)->next;
	*at = stmt->next;
	for (int i = 0; i < COD_N_ROLES; i++) {
		cod_desc_finish(&stmt->implicit[i]);
		head_finish(&stmt->implicit[i].head);
	}
	free(stmt->cursor_name);
	head_finish(&stmt->head);
	free(stmt);
}

/* The SQLSTATE for a descriptor that cannot be freed; NULL: it can. */
static const char *
keeps_desc(const struct cod_desc *desc)
{
	if (desc->role != COD_EXPLICIT)
		return "HY017";
	return cod_desc_is_busy(desc) ? "HY010" : NULL;
}

static void
free_desc(struct cod_desc *desc)
{
	struct cod_desc **at = &desc->dbc->descs;

	cod_desc_unlink(desc);
	while (*at != desc)
		at = &(*at)->next;
	*at = desc->next;
	cod_desc_finish(desc);
	head_finish(&desc->head);
	free(desc);
}

void
cod_free_children(struct cod_dbc *dbc)
{
	while (dbc->stmts != NULL)
		free_stmt(dbc->stmts);
	while (dbc->descs != NULL)
		free_desc(dbc->descs);
}

static void
free_dbc(struct cod_dbc *dbc)
{
	struct cod_env *env = dbc->env;
	struct cod_dbc **at;

	(void)pthread_mutex_lock(&env->mutex);
	for (at = &env->dbcs; *at != dbc;)
		at = &(*at)->next;
	*at = dbc->next;
	(void)pthread_mutex_unlock(&env->mutex);
	cod_settings_clear(&dbc->settings);
	free(dbc->catalog);
	head_finish(&dbc->head);
	(void)pthread_mutex_destroy(&dbc->mutex);
	(void)pthread_mutex_destroy(&dbc->cancel_mutex);
	free(dbc);
}

/* Free an environment or connection. The lock is part of the handle and is freed with it. No other
 * thread may use the handle any more. */
static SQLRETURN
free_root(SQLSMALLINT kind, SQLHANDLE handle)
{
	if (kind == SQL_HANDLE_DBC) {
		struct cod_dbc *dbc = handle;

		cod_diag_clear(&dbc->head.diag);
		if (dbc->conn != NULL)
			return dbc->head.diag.ret = cod_fail(&dbc->head, "HY010");
		free_dbc(dbc);
	} else {
		struct cod_env *env = handle;

		cod_diag_clear(&env->head.diag);
		if (env->dbcs != NULL)
			return env->head.diag.ret = cod_fail(&env->head, "HY010");
		head_finish(&env->head);
		(void)pthread_mutex_destroy(&env->mutex);
		free(env);
	}
	return SQL_SUCCESS;
}

SQLRETURN
cod_free_handle(SQLSMALLINT kind, SQLHANDLE handle)
{
	struct cod_head *head = handle;
	pthread_mutex_t *lock;
	const char *sqlstate = NULL;

	if (kind < SQL_HANDLE_ENV || kind > SQL_HANDLE_DESC ||
		!cod_is_handle(handle, (enum cod_kind)kind))
		return SQL_INVALID_HANDLE;
	if (kind == SQL_HANDLE_ENV || kind == SQL_HANDLE_DBC)
		return free_root(kind, handle);
	lock = head->lock;
	(void)pthread_mutex_lock(lock);
	if (kind == SQL_HANDLE_DESC)
		sqlstate = keeps_desc(handle);
	if (sqlstate != NULL) {
		cod_diag_clear(&head->diag);
		head->diag.ret = cod_fail(head, sqlstate);
	} else if (kind == SQL_HANDLE_DESC) {
		free_desc(handle);
	} else {
		free_stmt(handle);
	}
	(void)pthread_mutex_unlock(lock);
	return sqlstate == NULL ? SQL_SUCCESS : SQL_ERROR;
}
