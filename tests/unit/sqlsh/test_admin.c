/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of cenoted to a command, also wrong ones, from a scripted peer: a real cenoted cannot be made to send them. */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin.h"

#define CUT "cenoted closed the connection before its answer was complete; see its log;"

static const struct {
	const char *answer;
	int status;
	const char *said; /* on the output */
	const char *complained; /* each with a semicolon */
} cases[] = {
	{ "ok\t\n", ADMIN_OK, "", "" },
	{ "ok\tpaused: main\n", ADMIN_OK, "paused: main\n", "" },
	{ "say\ta\nsay\tb\nok\t\n", ADMIN_OK, "a\nb\n", "" },
	{ "warning\tw\nerror\te\n", ADMIN_REFUSED, "", "w;e;" },
	{ "columns\tpool\t#n\nrow\tmain\t1\nok\t\n", ADMIN_OK, "pool,n\nmain,1\n", "" },
	/* what comes from outside cannot disturb the terminal */
	{ "say\t\033[31mred\nok\t\n", ADMIN_OK, "\\x1b[31mred\n", "" },
	{ "error\t\033]0;x\n", ADMIN_REFUSED, "", "\\x1b]0;x;" },
	/* not whole, or too long */
	{ "", ADMIN_FAILED, "", CUT },
	{ "say\ta\n", ADMIN_FAILED, "a\n", CUT },
	{ "ok\t\nsay\ta\n", ADMIN_FAILED, "", CUT },
	{ "columns\tpool\nrow\tmain\n", ADMIN_FAILED, "pool\nmain\n", CUT },
	/* lines that no cenoted writes are left out */
	{ "row\tmain\nok\t\n", ADMIN_OK, "", "" },
	{ "columns\ta\tb\nrow\t1\nrow\t1\t2\t3\nrow\t1\t2\nok\t\n", ADMIN_OK,
		"a,b\n1,2\n", "" },
	{ "columns\ta\ncolumns\tb\tc\nrow\t1\nok\t\n", ADMIN_OK, "a\n1\n", "" },
	{ "columns\t\\N\nrow\t\\N\nok\t\\N\n", ADMIN_OK, "\"\"\n\n", "" },
	{ "\\N\t\\N\nsay\nerror\n", ADMIN_REFUSED, "\n", ";" },
	{ "nonsense\n\n\t\nok\t\n", ADMIN_OK, "", "" },
};

static char dir[] = "/tmp/cenote-admin-XXXXXX";
static struct text complained;

static int
make_dir(void **state)
{
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
remove_dir(void **state)
{
	return rmdir(dir);
}

static void
complain(void *user, const char *text)
{
	text_addf(&complained, "%s;", text);
}

static void
init(struct admin *a, FILE *out)
{
	static const struct output_settings settings = {
		.null_text = "", .separator = "|", .has_header = 1
	};

	*a = (struct admin){ .run_dir = dir,
		.program = "some program",
		.absent = "start it",
		.format = &output_csv,
		.settings = &settings,
		.out = out,
		.complain = complain };
	text_clear(&complained);
}

static int
listen_in_dir(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/admin.sock", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* In a child: take one command, and give this answer. The status says whether it was "status". */
static void
answer_once(int listener, const char *answer)
{
	char got[16] = "";
	int fd = accept(listener, NULL, NULL);
	size_t n = 0;

	while (n < sizeof(got) - 1 && strchr(got, '\n') == NULL) {
		ssize_t r = recv(fd, got + n, sizeof(got) - 1 - n, 0);

		if (r <= 0)
			_exit(2);
		n += (size_t)r;
	}
	(void)send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	_exit(strcmp(got, "status\n") == 0 ? 0 : 1);
}

static int
run(const char *answer, char **ret_said)
{
	struct text command = { 0 };
	struct admin a;
	size_t len;
	FILE *out = open_memstream(ret_said, &len);
	int listener = listen_in_dir(), status, child;
	char path[64];
	pid_t pid = fork();

	if (pid == 0)
		answer_once(listener, answer);
	close(listener);
	init(&a, out);
	assert_int_equal(admin_add_word(&a, &command, "status"), 0);
	status = admin_run(&a, &command);
	assert_int_equal(waitpid(pid, &child, 0), pid);
	assert_int_equal(child, 0);
	fclose(out);
	snprintf(path, sizeof(path), "%s/admin.sock", dir);
	unlink(path);
	text_finish(&command);
	return status;
}

static void
answers_are_shown_and_wrong_ones_do_no_harm(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said = NULL;
		int status = run(cases[i].answer, &said);

		if (status != cases[i].status || strcmp(said, cases[i].said) != 0 ||
			strcmp(text_str(&complained), cases[i].complained) != 0)
			fail_msg("case %zu: %d, \"%s\", \"%s\"", i, status, said,
				text_str(&complained));
		free(said);
	}
}

static void
a_table_has_at_most_32_columns(void **state)
{
	struct text answer = { 0 };
	char *said = NULL;

	text_add_str(&answer, "columns");
	for (int i = 0; i < 40; i++)
		text_add_str(&answer, "\tc");
	text_add_str(&answer, "\nok\t\n");
	assert_int_equal(run(text_str(&answer), &said), ADMIN_OK);
	assert_int_equal(strlen(said), 2 * 32);
	free(said);
	text_finish(&answer);
}

static void
words_that_cannot_be_sent_are_refused(void **state)
{
	static const char *const words[] = { "", "a b", "a\nb" };
	struct text command = { 0 };
	char word[300];
	struct admin a;

	init(&a, stdout);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(admin_add_word(&a, &command, words[i]), -1);
	assert_string_equal(text_str(&complained),
		"\"\" cannot be a word of a command;\"a b\" cannot be a word of a "
		"command;\"a\\nb\" cannot be a word of a command;");
	text_clear(&complained);
	memset(word, 'x', sizeof(word));
	word[255] = '\0';
	assert_int_equal(admin_add_word(&a, &command, word), -1);
	assert_string_equal(text_str(&complained), "the command is too long;");
	text_clear(&command);
	word[254] = '\0';
	assert_int_equal(admin_add_word(&a, &command, word), 0);
	text_finish(&command);
}

static void
errors_say_what_to_do(void **state)
{
	char long_dir[200], wanted[128];
	struct text command = { 0 };
	struct admin a;

	init(&a, stdout);
	snprintf(wanted, sizeof(wanted), "%s/admin.sock: %s: start it;", dir,
		strerror(ENOENT));
	assert_int_equal(admin_run(&a, &command), ADMIN_FAILED);
	assert_string_equal(text_str(&complained), wanted);
	text_clear(&complained);
	memset(long_dir, 'x', sizeof(long_dir));
	long_dir[sizeof(long_dir) - 1] = '\0';
	a.run_dir = long_dir;
	assert_int_equal(admin_run(&a, &command), ADMIN_FAILED);
	assert_non_null(strstr(text_str(&complained), strerror(ENAMETOOLONG)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_shown_and_wrong_ones_do_no_harm),
		cmocka_unit_test(a_table_has_at_most_32_columns),
		cmocka_unit_test(words_that_cannot_be_sent_are_refused),
		cmocka_unit_test(errors_say_what_to_do),
	};
	int r = cmocka_run_group_tests(tests, make_dir, remove_dir);

	text_finish(&complained);
	return r;
}
