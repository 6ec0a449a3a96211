/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_STMT_SCENES_H
#define CNT_STMT_SCENES_H

#include "library.h"
#include "scene_list.h"

/* What the files of stmt_scenes share. A scene plays on `my`, and prints what a program
 * sees of it. */

#define DECLARE(name) void name(void);
SCENES_OF_STATEMENTS(DECLARE)

extern struct cmy_original f;
extern MYSQL *my;
extern const char *directory; /* the program may write here */

/* The buffers of the first column, see bind_text(). */
extern char text[64];
extern unsigned long text_length;
extern my_bool text_null;

/* Print the state after a call. */
void show(MYSQL_STMT *stmt, const char *what, int r);
void show_fields(MYSQL_STMT *stmt);
/* Print the server's status. */
void say_bits(const char *what);

/* End the program if `ok` is 0. */
void must(int ok, const char *what);
void run(const char *sql);

/* Each of these functions prints what it has done. */
void query(const char *sql);
void prepare(MYSQL_STMT *stmt, const char *sql);
void execute(MYSQL_STMT *stmt);
void bind_text(MYSQL_STMT *stmt);
void fetch(MYSQL_STMT *stmt);
void fetch_rest(MYSQL_STMT *stmt);
/* Make calls in turn, as the words say: execute bind fetch rest (fetch_rest()) fields
 * (show_fields()) stored freed reset next closed. For executed and fetched only the return value
 * is printed. */
void steps(MYSQL_STMT *stmt, const char *words);
/* Returns a new statement that reads through a cursor, in portions of `rows` rows. */
MYSQL_STMT *with_cursor(unsigned long rows);

#endif
