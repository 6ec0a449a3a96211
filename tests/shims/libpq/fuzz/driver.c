/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * driver LIBPQ HOST PORT DBNAME USER LAST_OID
 *
 * Reads sequences (struct fz_sequence) from standard input and carries out each with the named libpq. It writes what the
 * calls returned to standard output: the length of the text in four bytes, then the text.
 */

#include "driver.h"

#include <ctype.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_process.h"

#define HEARD_MS 1000

#define FZ_POINTER(name, weight) fz_##name,
static const char *const names[] = { FZ_CALLS(FZ_NAME) };
static fz_carry_out *const functions[] = { FZ_CALLS(FZ_POINTER) };

/* What one connection does may send something to the other. Wait until the other has received it. */
static void
let_other_hear(struct fz *z)
{
	struct fz_conn *other = &z->conns[z->at == z->conns];
	int64_t until = cnt_now_ms() + HEARD_MS;

	if (z->pq.f.PQstatus(z->at->conn) != CONNECTION_OK ||
		z->pq.f.PQtransactionStatus(other->conn) != PQTRANS_IDLE)
		return;
	while (fz_is_under_way(z, other) && cnt_now_ms() < until)
		(void)poll(NULL, 0, 1);
	/* known difference: a trace shows an unread message only after the next answer, so read it
	 * now */
	if (other->trace != NULL && z->pq.f.PQconsumeInput(other->conn))
		(void)z->pq.f.PQisBusy(other->conn);
}

void
fz_do_step(struct fz *z, const struct fz_step *step)
{
	const char *why;

	/* mostly use the first connection; few calls need two */
	z->at = &z->conns[step->n[0] % 16 == 15];
	fz_say(z, "%s %d", names[step->call], (int)(z->at - z->conns));
	why = fz_is_known(z, step);
	if (why != NULL)
		fz_say(z, " left out: %s\n", why);
	else
		functions[step->call](z, step->n);
	let_other_hear(z);
	for (unsigned i = 0; i < FZ_CONNS; i++)
		fz_show_conn(z, &z->conns[i]);
}

/* Results may outlive their connection. */
static void
end(struct fz *z, uint32_t number)
{
	for (unsigned i = 0; i < FZ_CONNS && number % 2; i++)
		fz_finish_conn(z, &z->conns[i]);
	for (unsigned i = 0; i < FZ_RESULTS; i++) {
		z->pq.f.PQclear(z->results[i]);
		z->results[i] = NULL;
	}
	for (unsigned i = 0; i < FZ_CONNS; i++)
		fz_finish_conn(z, &z->conns[i]);
	z->next_result = 0;
	z->n_oids = 0;
	z->lo = 0;
	z->lo_fd = -1;
}

/* ---- masks ---- */

static int
is_new_oid(const struct fz *z, unsigned long number)
{
	for (unsigned i = 0; i < z->n_oids; i++) {
		if (z->oids[i] == number)
			return 1;
	}
	return 0;
}

static const struct fz_mask *
mask_at(const struct fz *z, const char *text)
{
	for (unsigned i = 0; i < z->n_masks; i++) {
		if (strncmp(text, z->masks[i].text, strlen(z->masks[i].text)) == 0)
			return &z->masks[i];
	}
	return NULL;
}

/* Write the text. Replace this driver's own values by their words. */
static void
put_masked(const struct fz *z, const char *text, FILE *to)
{
	const struct fz_mask *mask;

	while (*text != '\0') {
		size_t digits = strspn(text, "0123456789");

		mask = mask_at(z, text);
		if (mask != NULL) {
			fputs(mask->word, to);
			text += strlen(mask->text);
		} else if (digits > 0) {
			if (is_new_oid(z, strtoul(text, NULL, 10)))
				fputs("(new)", to);
			else
				fwrite(text, 1, digits, to);
			text += digits;
		} else {
			fputc(*text++, to);
		}
	}
}

/* ---- the parent ---- */

static void
answer(const struct fz *z, const char *text)
{
	char *masked = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&masked, &size);

	if (to == NULL)
		abort();
	put_masked(z, text, to);
	fclose(to);
	fz_write_answer(masked, size);
	free(masked);
}

static void
run(struct fz *z, const struct fz_sequence *seq)
{
	char *text = NULL;
	size_t size = 0;
	unsigned n_oids;

	z->out = open_memstream(&text, &size);
	if (z->out == NULL)
		abort();
	for (uint32_t i = 0; i < seq->n; i++)
		fz_do_step(z, &seq->steps[i]);
	n_oids = z->n_oids;
	end(z, seq->n);
	fclose(z->out);
	z->n_oids = n_oids;
	answer(z, text);
	z->n_oids = 0;
	free(text);
}

int
main(int argc, char **argv)
{
	static struct fz z;
	static struct fz_sequence seq;
	static char conninfo[512];

	if (argc != 7)
		return 2;
	/* a write to a closed connection must return EPIPE, as in most programs */
	signal(SIGPIPE, SIG_IGN);
	cnt_pq_load(&z.pq, argv[1]);
	snprintf(conninfo, sizeof(conninfo), "host=%s port=%s dbname=%s user=%s", argv[2],
		argv[3], argv[4], argv[5]);
	z.conninfo = conninfo;
	z.host = argv[2];
	z.port = argv[3];
	z.dbname = argv[4];
	z.user = argv[5];
	z.last_oid = (Oid)strtoul(argv[6], NULL, 10);
	z.masks[z.n_masks++] = (struct fz_mask){ z.dbname, "(dbname)" };
	z.lo_fd = -1;
	z.is_elsewhere = getenv("FZ_ELSEWHERE") != NULL;
	z.release = z.pq.f.PQlibVersion() / 10000;
	while (fz_read_sequence(&seq))
		run(&z, &seq);
	return 0;
}
