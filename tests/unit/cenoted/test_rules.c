/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/rules.h"

static struct cnd_rules
parse(const char *text)
{
	struct cnd_rules rules = { .list = NULL };
	char error[CND_RULES_ERROR_MAX] = "";

	if (cnd_rules_parse(&rules, text, 7, error) < 0)
		fail_msg("%s: %s", text, error);
	return rules;
}

static char *
printed(const struct cnd_rules *rules)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cnd_rules_print(rules, f);
	fclose(f);
	return text;
}

static void
what_is_read_is_written_the_same(void **state)
{
	static const char *const cases[][2] = {
		{ "peer", "peer" },
		{ " peer,scram-sha-256 ", "peer, scram-sha-256" },
		{ "peer ,\ttrust ,reject", "peer, trust, reject" },
		{ "peer, trust,", "peer, trust" },
		{ "scram-sha-256 tls=no, reject", "scram-sha-256 tls=no, reject" },
		{ "trust user=a,b from=10.0.0.0/8,::1 door=tcp, peer map=/etc/map",
			"trust door=tcp from=10.0.0.0/8,::1 user=a,b, peer "
			"map=/etc/map" },
		{ "cert user=a=b, reject,peer", "cert user=a=b, reject, peer" },
		{ "pass-through tls=yes, reject", "pass-through tls=yes, reject" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_rules rules, again;
		char *text, *text_again;

		rules = parse(cases[i][0]);
		text = printed(&rules);
		assert_string_equal(text, cases[i][1]);
		again = parse(text);
		text_again = printed(&again);
		assert_string_equal(text, text_again);
		assert_int_equal(rules.list[0].line, 7);
		free(text);
		free(text_again);
		cnd_rules_destroy(&rules);
		cnd_rules_destroy(&again);
	}
}

static void
what_is_no_rule_is_refused_and_the_nearest_word_named(void **state)
{
	static const char *const cases[][2] = {
		{ "", "auth: a method is missing" },
		{ ",", "auth: \"\" is not a way to log in (peer, scram-sha-256, cert, "
		       "trust, pass-through, scram-pass-through, reject)" },
		{ "peer,,trust", "auth: \"\" is not a way to log in (peer, "
				 "scram-sha-256, cert, trust, pass-through, "
				 "scram-pass-through, reject)" },
		{ "per", "auth: \"per\" is not a way to log in (peer, scram-sha-256, "
			 "cert, trust, pass-through, scram-pass-through, reject); did "
			 "you mean \"peer\"?" },
		{ "scram-sha-1", "auth: \"scram-sha-1\" is not a way to log in (peer, "
				 "scram-sha-256, cert, trust, pass-through, "
				 "scram-pass-through, reject); did you mean "
				 "\"scram-sha-256\"?" },
		{ "Peer", "auth: \"Peer\" is not a way to log in (peer, scram-sha-256, "
			  "cert, trust, pass-through, scram-pass-through, reject); did "
			  "you mean \"peer\"?" },
		{ "peer trust",
			"auth: a comma is missing before \"trust\", or a \"=\" in it" },
		{ "peer , ,trust", "auth: \"\" is not a way to log in (peer, "
				   "scram-sha-256, cert, trust, pass-through, "
				   "scram-pass-through, reject)" },
		{ "door=tcp", "auth: a method must come before door=" },
		{ "peer dor=unix", "auth: \"dor\" is not an option of a rule (door, tls, "
				   "from, user, map); did you mean \"door\"?" },
		{ "peer door=ucp",
			"auth: \"ucp\" is not a door (unix, tcp); did you mean "
			"\"tcp\"?" },
		{ "peer door=", "auth: \"\" is not a door (unix, tcp)" },
		{ "peer door=unix door=unix", "auth: door is given twice in one rule" },
		{ "trust tls=true", "auth: \"true\" is not yes or no" },
		{ "trust tls=", "auth: \"\" is not yes or no" },
		{ "trust from=",
			"auth: from: \"\" is not a network; write 10.0.0.0/8, or "
			"2001:db8::/32, or an address" },
		{ "trust from=10.0.0.0/33",
			"auth: from: \"10.0.0.0/33\" is not a network; write 10.0.0.0/8, "
			"or 2001:db8::/32, or an address" },
		{ "trust from=10.0.0.1,host", "auth: from: \"host\" is not a network; "
					      "write 10.0.0.0/8, or 2001:db8::/32, or an "
					      "address" },
		{ "trust user=",
			"auth: user: this cannot be the name of a user: it is empty" },
		{ "trust user=a,,b",
			"auth: user: this cannot be the name of a user: it is empty" },
		{ "trust user=a:b", "auth: user: this cannot be the name of a user: it "
				    "has a colon, a comma or a quote" },
		{ "trust map=/x", "auth: map: only peer and cert have one" },
		{ "peer map=x", "auth: map: write the path of a file, beginning with /" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_rules rules = { .list = NULL };
		char error[CND_RULES_ERROR_MAX] = "";

		assert_int_equal(cnd_rules_parse(&rules, cases[i][0], 1, error), -1);
		assert_string_equal(error, cases[i][1]);
		cnd_rules_destroy(&rules);
	}
}

static struct cnd_peer
from(const char *text)
{
	struct cnd_peer p = { .door = CND_DOOR_UNIX };
	struct cnd_network n;

	if (*text == '\0')
		return p;
	assert_int_equal(cnd_network_parse(text, &n), 0);
	p.door = CND_DOOR_TCP;
	p.addr = n.addr;
	return p;
}

/* Which rule decides (counted from 1; 0: no rule). */
static const struct {
	const char *rules;
	const char *from; /* client address; "": the unix socket */
	const char *user;
	int has_tls;
	int has_cert;
	size_t decides;
} decisions[] = {
	{ "peer", "", "a", 0, 0, 1 },
	{ "peer", "10.0.0.1", "a", 1, 1, 0 },
	{ "peer, scram-sha-256", "", "a", 0, 0, 1 },
	{ "peer, scram-sha-256", "10.0.0.1", "a", 1, 0, 2 },
	/* a login with SCRAM over TCP without TLS only if the rule says tls=no */
	{ "scram-sha-256", "10.0.0.1", "a", 0, 0, 0 },
	{ "scram-sha-256", "", "a", 0, 0, 1 },
	{ "scram-sha-256 tls=no", "10.0.0.1", "a", 0, 0, 1 },
	{ "scram-sha-256 tls=no", "10.0.0.1", "a", 1, 0, 0 },
	{ "scram-sha-256 tls=yes", "10.0.0.1", "a", 1, 0, 1 },
	{ "scram-sha-256 tls=yes", "", "a", 0, 0, 0 },
	{ "scram-pass-through", "10.0.0.1", "a", 0, 0, 0 },
	{ "scram-pass-through tls=no", "10.0.0.1", "a", 0, 0, 1 },
	{ "scram-pass-through", "10.0.0.1", "a", 1, 0, 1 },
	/* the password itself never goes over TCP without TLS */
	{ "pass-through tls=no", "10.0.0.1", "a", 0, 0, 0 },
	{ "pass-through", "10.0.0.1", "a", 1, 0, 1 },
	{ "pass-through", "", "a", 0, 0, 1 },
	/* trust over TCP only if the rule says door=tcp */
	{ "trust", "", "a", 0, 0, 1 },
	{ "trust", "10.0.0.1", "a", 1, 1, 0 },
	{ "trust tls=no", "10.0.0.1", "a", 0, 0, 0 },
	{ "trust door=tcp", "10.0.0.1", "a", 0, 0, 1 },
	{ "trust door=tcp", "", "a", 0, 0, 0 },
	{ "trust door=unix", "10.0.0.1", "a", 0, 0, 0 },
	{ "cert", "10.0.0.1", "a", 1, 0, 0 },
	{ "cert", "10.0.0.1", "a", 1, 1, 1 },
	{ "cert", "", "a", 1, 1, 1 },
	/* networks */
	{ "trust door=tcp from=10.0.0.0/8", "10.255.0.1", "a", 0, 0, 1 },
	{ "trust door=tcp from=10.0.0.0/8", "11.0.0.1", "a", 0, 0, 0 },
	{ "trust door=tcp from=10.0.0.0/8,2001:db8::/32", "2001:db8::7", "a", 0, 0, 1 },
	{ "trust door=tcp from=10.0.0.0/8,2001:db8::/32", "2001:db9::7", "a", 0, 0, 0 },
	{ "trust from=10.0.0.0/8", "", "a", 0, 0, 0 },
	{ "trust from=::/0", "", "a", 0, 0, 0 },
	/* users, and the first one that matches */
	{ "reject user=b, trust", "", "a", 0, 0, 2 },
	{ "reject user=b, trust", "", "b", 0, 0, 1 },
	{ "trust user=b,a", "", "a", 0, 0, 1 },
	{ "trust user=b,a", "", "", 0, 0, 0 },
	{ "trust user=ab", "", "a", 0, 0, 0 },
	{ "trust user=a", "", "ab", 0, 0, 0 },
	{ "trust user=A", "", "a", 0, 0, 0 },
	{ "reject, trust", "", "a", 0, 0, 1 },
	{ "scram-sha-256 user=a, reject", "", "b", 0, 0, 2 },
};

static void
the_first_rule_that_matches_decides(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(decisions); i++) {
		struct cnd_rules rules = parse(decisions[i].rules);
		const struct cnd_arrival a = { .peer = from(decisions[i].from),
			.user = decisions[i].user,
			.has_tls = (uint8_t)decisions[i].has_tls,
			.has_cert = (uint8_t)decisions[i].has_cert };
		const struct cnd_rule *rule = cnd_rules_match(&rules, &a);
		size_t decides = rule == NULL ? 0 : (size_t)(rule - rules.list) + 1;

		if (decides != decisions[i].decides)
			fail_msg("%s, from %s: %zu decides", decisions[i].rules,
				decisions[i].from, decides);
		cnd_rules_destroy(&rules);
	}
}

static void
hello_asks_for_what_somebody_may_need(void **state)
{
	static const struct {
		const char *rules;
		enum cnd_door door;
		int has_tls;
		uint8_t logins;
		const char *mechanisms;
	} cases[] = {
		{ "peer", CND_DOOR_UNIX, 0, CND_LOGIN_OTHER, "" },
		{ "peer", CND_DOOR_TCP, 1, 0, "" },
		{ "scram-sha-256", CND_DOOR_TCP, 1, CND_LOGIN_PASSWORD,
			"SCRAM-SHA-256-PLUS SCRAM-SHA-256" },
		{ "scram-sha-256", CND_DOOR_TCP, 0, 0, "" },
		{ "scram-sha-256", CND_DOOR_UNIX, 0, CND_LOGIN_PASSWORD,
			"SCRAM-SHA-256" },
		{ "cert, scram-sha-256", CND_DOOR_TCP, 1,
			CND_LOGIN_PASSWORD | CND_LOGIN_OTHER,
			"SCRAM-SHA-256-PLUS SCRAM-SHA-256 EXTERNAL" },
		/* no rule applies after one that accepts every client */
		{ "peer, scram-sha-256", CND_DOOR_UNIX, 1, CND_LOGIN_OTHER, "" },
		{ "peer user=a, scram-sha-256", CND_DOOR_UNIX, 0,
			CND_LOGIN_PASSWORD | CND_LOGIN_OTHER, "SCRAM-SHA-256 EXTERNAL" },
		{ "scram-sha-256 from=10.0.0.0/8, trust door=tcp", CND_DOOR_TCP, 1,
			CND_LOGIN_PASSWORD | CND_LOGIN_OTHER,
			"SCRAM-SHA-256-PLUS SCRAM-SHA-256 EXTERNAL" },
		{ "scram-sha-256 from=10.0.0.0/8", CND_DOOR_UNIX, 0, 0, "" },
		{ "reject, scram-sha-256", CND_DOOR_TCP, 1, CND_LOGIN_OTHER, "" },
		{ "pass-through", CND_DOOR_UNIX, 0, CND_LOGIN_PLAIN, "PLAIN" },
		{ "pass-through", CND_DOOR_TCP, 0, 0, "" },
		{ "reject user=a, pass-through", CND_DOOR_TCP, 1,
			CND_LOGIN_PLAIN | CND_LOGIN_OTHER, "PLAIN" },
		{ "scram-pass-through", CND_DOOR_TCP, 1, CND_LOGIN_PASSWORD,
			"SCRAM-SHA-256-PLUS SCRAM-SHA-256" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_rules rules = parse(cases[i].rules);
		uint8_t logins =
			cnd_rules_logins(&rules, cases[i].door, cases[i].has_tls);

		assert_int_equal(logins, cases[i].logins);
		assert_string_equal(
			cnd_logins_mechanisms(logins, cases[i].has_tls && logins),
			cases[i].mechanisms);
		cnd_rules_destroy(&rules);
	}
}

static const char *
user_of(const char *map, const char *name, const char *wanted)
{
	static char user[64];
	struct cnd_rules rules = parse(map == NULL ? "peer" : "peer map=/x");
	struct cnd_lines lines;
	const char *found;

	if (map != NULL) {
		cnd_lines_take(&lines, map, strlen(map));
		if (cnd_map_read(&rules.list[0].map, &lines) < 0)
			fail_msg("%s", lines.error);
		cnd_lines_close(&lines);
	}
	found = cnd_rule_user(&rules.list[0], &name, 1, wanted);
	snprintf(user, sizeof(user), "%s", found != NULL ? found : "-");
	cnd_rules_destroy(&rules);
	return user;
}

#define MAP                                                                              \
	"# who is who\n"                                                                 \
	"\n"                                                                             \
	"joe app\n"                                                                      \
	"\"cn:Jane Doe\"\tjane\n"                                                        \
	" joe  report \r\n"                                                              \
	"www *\n"

static void
a_map_says_who_may_be_whom(void **state)
{
	assert_string_equal(user_of(NULL, "joe", ""), "joe");
	assert_string_equal(user_of(NULL, "joe", "joe"), "joe");
	assert_string_equal(user_of(NULL, "joe", "app"), "-");
	assert_string_equal(user_of(MAP, "joe", "app"), "app");
	assert_string_equal(user_of(MAP, "joe", "report"), "report");
	assert_string_equal(user_of(MAP, "joe", ""), "app");
	/* with a map, a client may not use its own name unless the map says so */
	assert_string_equal(user_of(MAP, "joe", "joe"), "-");
	assert_string_equal(user_of(MAP, "app", "app"), "-");
	assert_string_equal(user_of(MAP, "cn:Jane Doe", "jane"), "jane");
	assert_string_equal(user_of(MAP, "cn:Jane", "jane"), "-");
	assert_string_equal(user_of(MAP, "www", "anybody"), "anybody");
	assert_string_equal(user_of(MAP, "www", ""), "-");
	assert_string_equal(user_of("", "joe", "joe"), "-");
}

static void
what_is_no_map_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{ "joe", "line 1: a line must be NAME USER" },
		{ "a b\n\"joe b", "line 2: the quote is not closed" },
		{ "\"\" b", "line 1: a line must be NAME USER" },
		{ "joe a b", "line 1: this cannot be the name of a user: it has a blank "
			     "or a control character" },
		{ "joe a:b", "line 1: this cannot be the name of a user: it has a colon, "
			     "a comma or a quote" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_lines lines;
		struct cnd_map map;

		cnd_lines_take(&lines, cases[i][0], strlen(cases[i][0]));
		assert_int_equal(cnd_map_read(&map, &lines), -1);
		assert_string_equal(lines.error, cases[i][1]);
		cnd_lines_close(&lines);
		cnd_map_destroy(&map);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_written_the_same),
		cmocka_unit_test(what_is_no_rule_is_refused_and_the_nearest_word_named),
		cmocka_unit_test(the_first_rule_that_matches_decides),
		cmocka_unit_test(hello_asks_for_what_somebody_may_need),
		cmocka_unit_test(a_map_says_who_may_be_whom),
		cmocka_unit_test(what_is_no_map_is_refused),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
