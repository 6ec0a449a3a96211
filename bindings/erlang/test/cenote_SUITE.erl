%% SPDX-License-Identifier: BSD-2-Clause
%% On the pool CENOTE_TEST_URI, of eight sessions, whose backend CENOTE_TEST_BACKEND names.
-module(cenote_SUITE).

-include_lib("common_test/include/ct.hrl").
-include_lib("stdlib/include/assert.hrl").
-include("cenote.hrl").

-compile([export_all, nowarn_export_all]).

all() ->
    [
        results_have_the_shape_of_their_statement, values_are_erlangs, values_come_back_as_they_were_sent,
        what_cannot_be_bound_is_an_error, text_is_what_squery_gives, a_result_as_a_map,
        errors_tell_what_the_server_said, statements_are_prepared_once, statements_of_another_connection,
        dropped_statements_are_collected, a_batch_gives_a_result_each, a_batch_skips_behind_an_error,
        a_batch_ends_at_a_bad_value, large_results_come_in_pieces, rows_without_end_need_no_memory,
        a_cursor_lets_others_run, a_fold_may_be_left, a_transaction_is_committed, a_throw_rolls_back,
        an_exception_rolls_back_and_goes_on, transactions_nest, cancel_ends_a_statement, a_timeout_cancels,
        a_timeout_of_the_connection, the_owner_alone_may_call, a_connection_changes_hands,
        who_dies_gives_the_session_back, who_dies_at_any_moment_gives_it_back, a_lost_term_gives_it_back,
        others_run_on_dirty_schedulers, more_clients_than_sessions, nothing_stays_in_the_mailbox,
        a_closed_connection_says_so, options_are_libcenotes, a_wrong_option_is_named, catalog_lists_tables,
        the_listener_ends_with_its_connection, a_worker_that_dies_is_restarted
    ] ++ only(backend()).

%% What the other servers do not have.
only(postgresql) ->
    [
        times_with_an_offset_are_utc, floats_that_are_no_numbers, prepared_parameters_have_types,
        a_cursor_may_fail_later, a_failed_transaction_is_not_committed, notices_and_notifications_are_messages,
        copies, schedulers_are_never_blocked, lists_are_arrays
    ];
only(mysql) ->
    [schedulers_are_never_blocked, lists_need_arrays];
%% A long statement of SQLite's computes, and leaves no processor to see others run on.
only(sqlite) ->
    [a_number_that_does_not_fit_is_text, lists_need_arrays].

init_per_testcase(_, Config) ->
    {ok, Db} = connect(),
    [{db, Db} | Config].

end_per_testcase(_, Config) ->
    _ = cenote:close(db(Config)),
    ok.

uri() -> os:getenv("CENOTE_TEST_URI").

connect() -> cenote:connect(uri()).

%% The one that runs a case is another process than the one that prepared it.
db(Config) -> ?config(db, Config).

own(_Config) ->
    {ok, Db} = connect(),
    Db.

backend() -> list_to_atom(os:getenv("CENOTE_TEST_BACKEND")).

%% As the server writes placeholders.
sql(Text) ->
    case backend() of
        postgresql -> Text;
        _ -> re:replace(Text, "\\$\\d", "?", [global, {return, list}])
    end.

%% A statement that runs for half a minute.
long_statement() ->
    case backend() of
        postgresql -> "select pg_sleep(30)";
        mysql -> "select sleep(30)";
        sqlite -> "with recursive c(n) as (select 1 union all select n + 1 from c where n < 500000000) select count(*) from c"
    end.

%% The rows 1 to N.
numbers(N) ->
    Last = integer_to_list(N),
    case backend() of
        mysql -> ["select seq from seq_1_to_", Last];
        _ -> ["with recursive c(n) as (select 1 union all select n + 1 from c where n < ", Last, ") select n from c"]
    end.

make_fish(Db) ->
    {ok, 0} = cenote:query(Db, "create temporary table fish (id integer primary key, name varchar(30))"),
    ok.

count(Db) ->
    {ok, _, [{N}]} = cenote:query(Db, "select count(*) from fish"),
    N.

%% --------------------------------------------------------------------- statements, values

%% A column has values of any type there.
a_number_that_does_not_fit_is_text(Config) ->
    [
        {ok, [_], [{1}, {Value}]} = cenote:query(own(Config), ["select 1 union all select '", Text, "'"])
     || {Text, Value} <- [
            {"18446744073709551615", 18446744073709551615},
            {"18446744073709551616", <<"18446744073709551616">>},
            {"28446744073709551616", <<"28446744073709551616">>}
        ]
    ],
    ok.

lists_are_arrays(Config) ->
    Db = own(Config),
    Same = fun(Type, List, Text) ->
        {ok, [_], [{Text}]} = cenote:query(Db, ["select $1::", Type, "[]::text"], [List])
    end,
    Same("text", [<<"a">>, <<"b">>], <<"{a,b}">>),
    Same("text", ["a", "b,c", "d\"e\\f", null, "NULL", ""], <<"{a,\"b,c\",\"d\\\"e\\\\f\",NULL,\"NULL\",\"\"}">>),
    Same("int", {array, [1, 2]}, <<"{1,2}">>),
    Same("int", [{array, [1, 2]}, {array, [3, 4]}], <<"{{1,2},{3,4}}">>),
    Same("int", {array, []}, <<"{}">>),
    Same("bool", [true, false, undefined], <<"{t,f,NULL}">>),
    Same("float8", [0.5, nan, infinity, '-infinity'], <<"{0.5,NaN,Infinity,-Infinity}">>),
    Same("numeric", [{decimal, "1.50"}, null], <<"{1.50,NULL}">>),
    Same("bytea", [{bytes, <<0, 255>>}], <<"{\"\\\\x00ff\"}">>),
    Same("date", [{2020, 2, 29}], <<"{2020-02-29}">>),
    Same("time", [{time, {1, 2, 3.5}}], <<"{01:02:03.5}">>),
    Same("timestamp", [{{2020, 2, 29}, {1, 2, 3}}], <<"{\"2020-02-29 01:02:03\"}">>),
    Same("timetz", [{{1, 2, 3}, -5400}], <<"{01:02:03-01:30}">>),
    {ok, [_], [{{{2020, 1, 1}, {0, 0, 0}}}]} =
        cenote:query(Db, "select ($1::timestamptz[])[1]", [[{{{2020, 1, 1}, {2, 0, 0}}, 7200}]]),
    {ok, Stmt} = cenote:prepare(Db, "select $2::int, cardinality($1::text[])"),
    {ok, _, [{7, 2}]} = cenote:execute(Db, Stmt, [["x", "y"], 7]),
    [{ok, _, [{1, 1}]}, {ok, _, [{2, 2}]}] = cenote:execute_batch(Db, Stmt, [[["x"], 1], [["x", "y"], 2]]),
    {ok, Cursor, _} = cenote:cursor(Db, "select unnest($1::text[])", [[<<"a">>, <<"b">>]]),
    {ok, [{<<"a">>}, {<<"b">>}]} = cenote:fetch(Db, Cursor),
    {error, #{status := argument, message := <<"parameter 2: ", _/binary>>}} =
        cenote:query(Db, "select $1, $2", [1, [self()]]),
    ?assertError(badarg, cenote:query(Db, "select 1", [["a"] | 2])),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

%% The elements must not silently become one text.
lists_need_arrays(Config) ->
    Db = own(Config),
    [
        begin
            {error, #{status := argument, sqlstate := <<"07006">>, message := Message}} =
                cenote:query(Db, "select ?, ?", [1, List]),
            ?assertNotEqual(nomatch, string:find(Message, ["parameter 2: a list is an array, and a pool of ", atom_to_list(backend())]))
        end
     || List <- [[<<"a">>, <<"b">>], ["a", "b"], {array, [1]}]
    ],
    {ok, _, [{<<"abc">>}]} = cenote:query(Db, "select coalesce(?, 'none')", ["abc"]).

results_have_the_shape_of_their_statement(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {ok, 2} = cenote:query(Db, "insert into fish values (1, 'carp'), (2, 'cave fish')"),
    {ok, [#column{name = <<"id">>, type = int64}, #column{name = <<"name">>, type = text}], Rows} =
        cenote:query(Db, "select id, name from fish order by id"),
    ?assertEqual([{1, <<"carp">>}, {2, <<"cave fish">>}], Rows),
    {ok, [_], []} = cenote:query(Db, "select id from fish where id > 2"),
    {ok, [_], [{1}]} = cenote:query(Db, sql("select id from fish where name = $1"), [<<"carp">>]),
    {ok, [_], [{2}]} = cenote:equery(Db, sql("select id from fish where name = $1"), ["cave fish"]),
    {ok, 1} = cenote:equery(Db, "delete from fish where id = 2"),
    [{ok, [_], [{1}]}, {ok, 1}, {ok, [_], []}] =
        cenote:query(Db, "select id from fish; delete from fish; select id from fish"),
    Returning = cenote:query(Db, "insert into fish values (3, 'tench') returning id"),
    case backend() of
        %% does not say how many
        mysql -> {ok, [#column{name = <<"id">>}], [{3}]} = Returning;
        _ -> {ok, 1, [#column{name = <<"id">>}], [{3}]} = Returning
    end,
    [{ok, [_], [{3}]}, {error, #{status := server}}] = cenote:query(Db, "select id from fish; select nothing"),
    {ok, [_], [{3}]} = cenote:query(Db, "select id from fish").

values_are_erlangs(Config) ->
    Db = own(Config),
    Typed =
        case backend() of
            sqlite ->
                "create temporary table v (b boolean, i bigint, f double, d numeric(5, 2), t text, y blob, a date, c time,"
                " s timestamp, u uuid, j json)";
            postgresql ->
                "create temporary table v (b boolean, i bigint, f float8, d numeric(5, 2), t text, y bytea, a date, c time,"
                " s timestamp, u uuid, j json)";
            mysql ->
                "create temporary table v (b tinyint, i bigint, f double, d numeric(5, 2), t text, y blob, a date, c time(3),"
                " s timestamp(3), u uuid, j text)"
        end,
    {ok, 0} = cenote:query(Db, Typed),
    {ok, 1} = cenote:query(Db, [
        "insert into v values (true, -9223372036854775807, 0.1, 12.5, 'h\x{c3}\x{b8}st', ", bytes_literal(), ", '2026-11-22',"
        " '01:02:03.5', '2026-11-22 23:59:59', '550e8400-e29b-41d4-a716-446655440000', '{\"a\": 1}')"]),
    {ok, _, [{B, I, F, D, T, Y, A, C, S, U, J}]} = cenote:query(Db, "select * from v"),
    ?assert(lists:member(B, [true, 1])),
    ?assertEqual({-9223372036854775807, 0.1}, {I, F}),
    ?assert(lists:member(D, [<<"12.50">>, <<"12.5">>])),
    ?assertEqual({<<"høst"/utf8>>, <<0, 255>>}, {T, Y}),
    ?assertEqual({{2026, 11, 22}, {1, 2, 3.5}, {{2026, 11, 22}, {23, 59, 59}}}, {A, C, S}),
    ?assertEqual({<<"550e8400-e29b-41d4-a716-446655440000">>, <<"{\"a\": 1}">>}, {U, J}).

bytes_literal() ->
    case backend() of
        postgresql -> "'\\x00ff'";
        _ -> "x'00ff'"
    end.

values_come_back_as_they_were_sent(Config) ->
    Db = own(Config),
    {Bytes, Timestamp} =
        case backend() of
            postgresql -> {"bytea", "timestamp"};
            mysql -> {"blob", "datetime(6)"};
            sqlite -> {"blob", "timestamp"}
        end,
    {ok, 0} = cenote:query(Db, [
        "create temporary table v (i bigint, f double precision, d numeric(30, 5), t varchar(40), y ", Bytes,
        ", a date, c time, s ", Timestamp, ")"]),
    Sql = sql("insert into v values ($1, $2, $3, $4, $5, $6, $7, $8)"),
    {ok, 1} = cenote:query(Db, Sql, [
        42, 1.0e-3, {decimal, decimal_text()}, <<"text">>, {bytes, <<0, 1, 128, 255>>},
        {1999, 12, 31}, {time, {23, 59, 1}}, {{2024, 2, 29}, {12, 0, 0.25}}
    ]),
    {ok, 1} = cenote:query(Db, Sql, [null, undefined, null, null, null, null, null, null]),
    {ok, _, [Row, Nulls]} = cenote:query(Db, "select * from v order by i is null"),
    ?assertEqual(
        {42, 1.0e-3, list_to_binary(decimal_text()), <<"text">>, <<0, 1, 128, 255>>, {1999, 12, 31},
            {23, 59, 1}, {{2024, 2, 29}, {12, 0, 0.25}}},
        Row),
    ?assertEqual(lists:duplicate(8, null), tuple_to_list(Nulls)).

%% SQLite stores floats.
decimal_text() ->
    case backend() of
        sqlite -> "1234567.125";
        _ -> "1234567890123456789012345.12345"
    end.

times_with_an_offset_are_utc(Config) ->
    Db = own(Config),
    {ok, 0} = cenote:query(Db, "set time zone 'Asia/Kolkata'"),
    {ok, _, [{Utc, Clock}]} = cenote:query(Db, "select timestamptz '2000-01-01 03:30:00.5', timetz '10:00:00-01:30'"),
    ?assertEqual({{{1999, 12, 31}, {22, 0, 0.5}}, {{10, 0, 0}, -5400}}, {Utc, Clock}),
    Instant = {{{1999, 12, 31}, {22, 0, 0}}, 0},
    {ok, _, [{true}]} = cenote:query(Db, "select timestamptz '2000-01-01 03:30:00' = $1", [Instant]),
    {ok, _, [{<<"infinity">>}]} = cenote:query(Db, "select date 'infinity'"),
    [begin
         {ok, _, [{Date}]} = cenote:query(Db, ["select date '", Text, "'"]),
         ?assertEqual(Expected, Date)
     end || {Text, Expected} <- [{"0044-03-15 BC", {-43, 3, 15}}, {"0001-01-01", {1, 1, 1}}, {"9999-12-31", {9999, 12, 31}}]].

floats_that_are_no_numbers(Config) ->
    Db = own(Config),
    Sql = "select $1::float8, $2::float8, $3::float8",
    {ok, _, [{nan, infinity, '-infinity'}]} = cenote:query(Db, Sql, [nan, infinity, '-infinity']).

what_cannot_be_bound_is_an_error(Config) ->
    Db = own(Config),
    Bad = [an_atom, self(), #{}, {1, 2, 3, 4}, {2024, 13, 1}, {decimal, "12x"}, [500], <<1:3>>, {{2024, 1, 1}, {25, 0, 0}}, {unknown, 1}],
    [begin
         {error, #{status := argument, sqlstate := <<"07006">>, message := Message}} =
             cenote:query(Db, sql("select $1, $2"), [1, Value]),
         ?assertMatch(<<"parameter 2", _/binary>>, Message)
     end || Value <- Bad],
    ?assertError(badarg, cenote:query(Db, "select 1", [1 | 2])),
    ?assertError(badarg, cenote:query(Db, not_sql, [])),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

text_is_what_squery_gives(Config) ->
    Db = own(Config),
    {ok, _, [{<<"1">>, <<"x">>, null}]} = cenote:squery(Db, "select 1, 'x', null"),
    [{ok, _, [{<<"1">>}]}, {ok, _, [{<<"2">>}]}] = cenote:squery(Db, "select 1; select 2").

a_result_as_a_map(Config) ->
    Db = own(Config),
    {ok, #{rows := [{1}], columns := [_], affected := -1, is_limited := false}} =
        cenote:query(Db, "select 1", [], #{return => map}),
    {ok, #{rows := [{1}], is_limited := true}} =
        cenote:query(Db, "select 1 union all select 2", [], #{return => map, max_rows => 1}).

errors_tell_what_the_server_said(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {ok, 1} = cenote:query(Db, "insert into fish values (1, 'carp')"),
    {error, #{status := server, sqlstate := State, message := Message} = Error} =
        cenote:query(Db, "insert into fish values (1, 'pike')"),
    ?assertMatch(<<"23", _/binary>>, State),
    ?assert(byte_size(Message) > 0),
    backend() =:= postgresql andalso
        ?assertMatch(#{constraint := <<"fish_pkey">>, table := <<"fish">>, detail := <<"Key (id)=(1)", _/binary>>}, Error),
    {error, #{status := connection}} = cenote:connect("cenote:///no_such_pool?run_dir=/nonexistent"),
    {error, #{status := argument}} = cenote:connect("cenote:///x?nonsense=1").

statements_are_prepared_once(Config) ->
    Db = own(Config),
    {ok, Stmt} = cenote:prepare(Db, sql("select $1, 'x'")),
    [{ok, [_, _], [{_, <<"x">>}]} = cenote:execute(Db, Stmt, [N]) || N <- lists:seq(1, 50)],
    {error, #{status := server}} = cenote:prepare(Db, "select nothing_like_it"),
    ok = cenote:close(Db, Stmt),
    ?assertError(badarg, cenote:execute(Db, Stmt, [1])).

prepared_parameters_have_types(Config) ->
    Db = own(Config),
    {ok, Stmt} = cenote:prepare(Db, "select $1::bytea as y, $2::time as c"),
    {ok, [bytes, time], [#column{name = <<"y">>, type = bytes}, #column{type = time}]} = cenote:describe(Db, Stmt),
    {ok, _, [{<<"\\000", 0, 200>>, {1, 2, 3}}]} = cenote:execute(Db, Stmt, [<<"\\000", 0, 200>>, {1, 2, 3}]).

statements_of_another_connection(Config) ->
    Db = own(Config),
    {ok, Other} = connect(),
    {ok, Stmt} = cenote:prepare(Other, "select 1"),
    ?assertError(badarg, cenote:execute(Db, Stmt, [])),
    ok = cenote:close(Other),
    {error, #{sqlstate := <<"08003">>}} = cenote:execute(Other, Stmt, []).

dropped_statements_are_collected(Config) ->
    Db = own(Config),
    [{ok, _} = cenote:prepare(Db, "select 1") || _ <- lists:seq(1, 300)],
    [{ok, _, _} = cenote:cursor(Db, "select 1", []) || _ <- lists:seq(1, 100)],
    erlang:garbage_collect(),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

%% --------------------------------------------------------------------------------- batches

a_batch_gives_a_result_each(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    Sql = sql("insert into fish values ($1, $2)"),
    Results = cenote:execute_batch(Db, Sql, [[N, <<"fish">>] || N <- lists:seq(1, 2000)]),
    ?assertEqual([{ok, 1}], lists:usort(Results)),
    ?assertEqual(2000, length(Results)),
    2000 = count(Db),
    {ok, Stmt} = cenote:prepare(Db, sql("select name from fish where id = $1")),
    [{ok, [_], [{<<"fish">>}]}, {ok, [_], []}, {ok, [_], [{2000}]}, {ok, 2000}] =
        cenote:execute_batch(Db, [{Stmt, [7]}, {Stmt, [-1]}, {"select count(*) from fish", []}, {"delete from fish", []}]),
    [] = cenote:execute_batch(Db, Stmt, []),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

a_batch_skips_behind_an_error(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    Sql = sql("insert into fish values ($1, $2)"),
    [{ok, 1}, {error, #{sqlstate := <<"23", _/binary>>}}, {error, #{status := skipped}}] =
        cenote:execute_batch(Db, Sql, [[1, "a"], [1, "b"], [2, "c"]]),
    Kept = count(Db),
    ?assertEqual(case backend() of postgresql -> 0; _ -> 1 end, Kept).

a_batch_ends_at_a_bad_value(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    [{ok, 1}, {error, #{sqlstate := <<"07006">>}}, {error, #{status := skipped}}] =
        cenote:execute_batch(Db, sql("insert into fish values ($1, $2)"), [[1, "a"], [2, self()], [3, "c"]]),
    1 = count(Db).

%% ------------------------------------------------------------------------------ large, cursors

large_results_come_in_pieces(Config) ->
    Db = own(Config),
    N = 30000,
    {ok, [_], Rows} = cenote:query(Db, numbers(N)),
    ?assertEqual([{I} || I <- lists:seq(1, N)], Rows),
    Text = binary:copy(<<"0123456789abcdef">>, 65536),
    {ok, _, [{Text}]} = cenote:query(Db, sql("select $1"), [Text]).

rows_without_end_need_no_memory(Config) ->
    Db = own(Config),
    {ok, Sum} = cenote:fold(fun({N}, Acc) -> N + Acc end, 0, Db, numbers(200000), [], #{batch_rows => 1000}),
    ?assertEqual(200000 * 200001 div 2, Sum).

a_cursor_lets_others_run(Config) ->
    Db = own(Config),
    {ok, Cursor, [_]} = cenote:cursor(Db, numbers(5), [], #{batch_rows => 2}),
    {ok, [{1}, {2}]} = cenote:fetch(Db, Cursor),
    {ok, _, [{7}]} = cenote:query(Db, "select 7"),
    {ok, [{3}, {4}]} = cenote:fetch(Db, Cursor),
    {ok, [{5}]} = cenote:fetch(Db, Cursor),
    done = cenote:fetch(Db, Cursor),
    done = cenote:fetch(Db, Cursor),
    {ok, Short, [_]} = cenote:cursor(Db, "select 1", []),
    {ok, None, [_]} = cenote:cursor(Db, "select 1 where 1 = 0", []),
    {ok, _, [{7}]} = cenote:query(Db, "select 7"),
    {ok, [{1}]} = cenote:fetch(Db, Short),
    done = cenote:fetch(Db, Short),
    done = cenote:fetch(Db, None),
    ok = cenote:close(Db, None),
    {ok, 0} = cenote:cursor(Db, "create temporary table fish (id integer)", []),
    {error, #{status := server}} = cenote:cursor(Db, "select nothing", []).

a_fold_may_be_left(Config) ->
    Db = own(Config),
    Leave = fun({N}, _) -> N =:= 3 andalso throw(enough) end,
    ?assertThrow(enough, cenote:fold(Leave, none, Db, numbers(1000), [], #{batch_rows => 2})),
    Nested = fun({N}, Acc) -> {ok, _, [{X}]} = cenote:query(Db, ["select ", integer_to_list(N), " * 2"]), [X | Acc] end,
    {ok, [6, 4, 2]} = cenote:fold(Nested, [], Db, numbers(3), [], #{batch_rows => 1}).

a_cursor_may_fail_later(Config) ->
    Db = own(Config),
    {error, #{sqlstate := <<"22012">>}} =
        cenote:fold(fun(_, N) -> N + 1 end, 0, Db, "select 1 / (5 - n) from generate_series(1, 9) n", [], #{batch_rows => 2}),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

%% ---------------------------------------------------------------------------- transactions

a_transaction_is_committed(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {ok, made} = cenote:with_transaction(Db, fun(C) ->
        open = cenote:transaction(C),
        {ok, 1} = cenote:query(C, "insert into fish values (1, 'carp')"),
        made
    end),
    idle = cenote:transaction(Db),
    1 = count(Db).

a_throw_rolls_back(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {rollback, because} = cenote:with_transaction(Db, fun(C) ->
        {ok, 1} = cenote:query(C, "insert into fish values (1, 'carp')"),
        throw({rollback, because})
    end),
    0 = count(Db).

an_exception_rolls_back_and_goes_on(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    ?assertError(oops, cenote:with_transaction(Db, fun(C) ->
        {ok, 1} = cenote:query(C, "insert into fish values (1, 'carp')"),
        error(oops)
    end)),
    idle = cenote:transaction(Db),
    0 = count(Db).

transactions_nest(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {ok, {rollback, inner}} = cenote:with_transaction(Db, fun(C) ->
        {ok, 1} = cenote:query(C, "insert into fish values (1, 'carp')"),
        {ok, _} = cenote:with_transaction(C, fun(_) -> cenote:query(C, "insert into fish values (2, 'pike')") end),
        cenote:with_transaction(C, fun(_) ->
            {ok, 2} = cenote:query(C, "delete from fish"),
            throw({rollback, inner})
        end)
    end),
    2 = count(Db).

a_failed_transaction_is_not_committed(Config) ->
    Db = own(Config),
    {error, #{sqlstate := <<"25P02">>}} =
        cenote:with_transaction(Db, fun(C) -> cenote:query(C, "select nothing") end),
    idle = cenote:transaction(Db).

%% --------------------------------------------------------------------------------- limits

cancel_ends_a_statement(Config) ->
    Db = own(Config),
    done = cenote:cancel(Db),
    _ = spawn_link(fun() -> timer:sleep(300), ok = cenote:cancel(Db) end),
    Cancelled = cenote:query(Db, long_statement()),
    check_cancelled(Cancelled),
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

%% MySQL's sleep() that is killed gives 1.
check_cancelled({error, #{sqlstate := State}}) -> ?assert(lists:member(State, [<<"57014">>, <<"70100">>]));
check_cancelled({ok, _, [{1}]}) -> mysql = backend().

a_timeout_cancels(Config) ->
    Db = own(Config),
    Begin = erlang:monotonic_time(millisecond),
    check_cancelled(cenote:query(Db, long_statement(), null, #{timeout => 200})),
    ?assert(erlang:monotonic_time(millisecond) - Begin < 8000),
    {ok, _, [{1}]} = cenote:query(Db, "select 1", [], #{timeout => 5000}).

a_timeout_of_the_connection(_Config) ->
    {ok, Db} = cenote:connect(uri(), #{timeout => 200}),
    check_cancelled(cenote:query(Db, long_statement())),
    {ok, Other} = cenote:connect(uri(), #{query_timeout => 300}),
    check_cancelled(cenote:query(Other, long_statement())).

%% ------------------------------------------------------------------------------- processes

the_owner_alone_may_call(Config) ->
    Db = own(Config),
    Self = self(),
    spawn_link(fun() -> Self ! {answers, cenote:query(Db, "select 1"), cenote:close(Db)} end),
    receive
        {answers, Query, Close} ->
            ?assertMatch({error, #{sqlstate := <<"55000">>}}, Query),
            ?assertMatch({error, #{sqlstate := <<"55000">>}}, Close)
    end,
    {ok, _, [{1}]} = cenote:query(Db, "select 1").

a_connection_changes_hands(Config) ->
    Db = own(Config),
    Self = self(),
    Pid = spawn(fun() ->
        receive go -> Self ! cenote:query(Db, "select 1") end,
        receive stop -> ok end
    end),
    ok = cenote:controlling_process(Db, Pid),
    Pid ! go,
    receive {ok, _, [{1}]} -> ok end,
    {error, #{sqlstate := <<"55000">>}} = cenote:query(Db, "select 1"),
    Pid ! stop,
    wait_until(fun() -> element(1, cenote:query(Db, "select 1")) =:= error andalso sessions_are_free() end),
    {ok, Mine} = connect(),
    Dead = spawn(fun() -> ok end),
    timer:sleep(20),
    {error, #{status := argument}} = cenote:controlling_process(Mine, Dead).

%% Eight sessions at once: none is held by anybody.
sessions_are_free() ->
    Options = #{connect_timeout => 5000},
    Opened = [cenote:connect(uri(), Options) || _ <- lists:seq(1, 7)],
    [ok = cenote:close(Db) || {ok, Db} <- Opened],
    lists:all(fun(Answer) -> element(1, Answer) =:= ok end, Opened).

wait_until(Condition) -> wait_until(Condition, 100).

wait_until(Condition, Tries) ->
    case Condition() of
        true -> ok;
        false when Tries > 0 -> timer:sleep(50), wait_until(Condition, Tries - 1)
    end.

who_dies_gives_the_session_back(_Config) ->
    [begin
         {Pid, Monitor} = spawn_monitor(fun() ->
             {ok, Db} = connect(),
             ok = cenote:begin_transaction(Db),
             cenote:query(Db, long_statement())
         end),
         timer:sleep(100),
         exit(Pid, kill),
         receive {'DOWN', Monitor, process, Pid, killed} -> ok end
     end || _ <- lists:seq(1, 16)],
    true = sessions_are_free().

who_dies_at_any_moment_gives_it_back(_Config) ->
    Work = fun() -> {ok, Db} = connect(), work(Db) end,
    [begin
         {Pid, Monitor} = spawn_monitor(Work),
         spin(rand:uniform(3000)),
         exit(Pid, kill),
         receive {'DOWN', Monitor, process, Pid, Reason} -> ?assertEqual(killed, Reason) end
     end || _ <- lists:seq(1, 300)],
    true = sessions_are_free().

work(Db) ->
    {ok, Stmt} = cenote:prepare(Db, "select 1"),
    {ok, _, _} = cenote:execute(Db, Stmt, []),
    {ok, _} = cenote:fold(fun(_, Acc) -> Acc end, none, Db, numbers(10), [], #{batch_rows => 3}),
    {ok, _} = cenote:with_transaction(Db, fun(_) -> cenote:query(Db, "select 2") end),
    work(Db).

spin(Microseconds) ->
    Until = erlang:monotonic_time(microsecond) + Microseconds,
    (fun Wait() -> erlang:monotonic_time(microsecond) < Until andalso begin erlang:yield(), Wait() end end)().

a_lost_term_gives_it_back(_Config) ->
    [{ok, _} = connect() || _ <- lists:seq(1, 5)],
    erlang:garbage_collect(),
    true = sessions_are_free().

%% More statements that wait than there are schedulers: others go on meanwhile.
schedulers_are_never_blocked(_Config) ->
    Self = self(),
    N = 2 * erlang:system_info(schedulers_online),
    Pids = [begin
        Pid = spawn_link(fun() ->
            {ok, Db} = connect(),
            Self ! {self(), begins},
            check_cancelled(cenote:query(Db, long_statement(), null, #{timeout => 1000})),
            Self ! {self(), done}
        end),
        receive {Pid, begins} -> Pid end
    end || _ <- lists:seq(1, min(N, 6))],
    %% the one that began last
    ?assert(pauses_until({lists:last(Pids), done}, 0) >= 5),
    [receive {Pid, done} -> ok end || Pid <- lists:droplast(Pids)].

pauses_until(Message, N) ->
    receive
        Message -> N
    after 10 -> pauses_until(Message, N + 1)
    end.

%% As soon as there may be TLS.
others_run_on_dirty_schedulers(_Config) ->
    {ok, Db} = cenote:connect(uri(), #{tls => allow}),
    {ok, [_], [{1}]} = cenote:query(Db, "select 1"),
    {ok, 55} = cenote:fold(fun({N}, Sum) -> N + Sum end, 0, Db, numbers(10), [], #{batch_rows => 3}),
    [{ok, _, [{1}]}, {ok, _, [{2}]}] = cenote:execute_batch(Db, [{"select 1", []}, {"select 2", []}]),
    check_cancelled(cenote:query(Db, long_statement(), null, #{timeout => 100})),
    {Pid, Monitor} = spawn_monitor(fun() ->
        {ok, Mine} = cenote:connect(uri(), #{tls => allow}),
        work(Mine)
    end),
    timer:sleep(100),
    exit(Pid, kill),
    receive {'DOWN', Monitor, process, Pid, killed} -> ok end,
    {error, #{status := connection}} = cenote:connect("cenote://127.0.0.1:1/x"),
    ok = cenote:close(Db),
    true = sessions_are_free().

more_clients_than_sessions(_Config) ->
    Self = self(),
    Pids = [spawn_link(fun() ->
        [begin
             {ok, Db} = connect(),
             {ok, _, [{N}]} = cenote:query(Db, ["select ", integer_to_list(N)]),
             ok = cenote:close(Db)
         end || N <- lists:seq(1, 20)],
        Self ! {self(), done}
    end) || _ <- lists:seq(1, 40)],
    [receive {Pid, done} -> ok end || Pid <- Pids].

nothing_stays_in_the_mailbox(Config) ->
    Db = own(Config),
    Self = self(),
    self() ! mine,
    check_cancelled(cenote:query(Db, long_statement(), null, #{timeout => 50})),
    %% more than a socket takes, so that it is waited for in both directions
    Text = binary:copy(<<"x">>, 3000000),
    [{ok, _, [{3000000}]} = cenote:query(Db, sql("select length($1)"), [Text]) || _ <- lists:seq(1, 5)],
    ?assertEqual({messages, [mine]}, process_info(Self, messages)).

a_closed_connection_says_so(Config) ->
    Db = own(Config),
    true = cenote:is_connected(Db),
    ok = cenote:close(Db),
    ok = cenote:close(Db),
    [{error, #{status := state, sqlstate := <<"08003">>}} = Answer || Answer <- [
        cenote:query(Db, "select 1"), cenote:ping(Db), cenote:transaction(Db), cenote:prepare(Db, "select 1"),
        cenote:execute_batch(Db, [{"select 1", []}]), cenote:is_connected(Db)]],
    done = cenote:cancel(Db).

%% ----------------------------------------------------------------------------------- session

options_are_libcenotes(_Config) ->
    #{path := "/" ++ Pool, query := Query} = uri_string:parse(uri()),
    [{"run_dir", RunDir} | _] = uri_string:dissect_query(Query),
    {ok, Db} = cenote:connect(#{pool => Pool, run_dir => RunDir, application_name => "suite", connect_timeout => 20000}),
    ?assertEqual(atom_to_binary(backend()), cenote:info(Db, backend)),
    undefined = cenote:info(Db, nothing_like_it),
    undefined = cenote:tls_info(Db, version),
    ok = cenote:ping(Db),
    ok = make_fish(Db),
    [_ | _] = cenote:pins(Db),
    ok = cenote:reset(Db),
    [] = cenote:pins(Db),
    {error, #{status := server}} = cenote:query(Db, "select * from fish").

a_wrong_option_is_named(_Config) ->
    {error, #{status := argument, message := Message}} = cenote:connect(uri(), #{pol => "x"}),
    ?assertNotEqual(nomatch, string:find(Message, "pool")).

catalog_lists_tables(Config) ->
    Db = own(Config),
    _ = cenote:query(Db, "drop table if exists erlang_fish"),
    {ok, 0} = cenote:query(Db, "create table erlang_fish (id integer primary key)"),
    {ok, Columns, [Row]} = cenote:catalog(Db, tables, #{object => "erlang%"}),
    Index = length(lists:takewhile(fun(C) -> C#column.name =/= <<"table">> end, Columns)),
    ?assert(Index < length(Columns) orelse lists:member(<<"erlang_fish">>, tuple_to_list(Row))),
    {ok, 0} = cenote:query(Db, "drop table erlang_fish").

notices_and_notifications_are_messages(_Config) ->
    {ok, Db} = cenote:connect(uri(), #{async => self()}),
    {ok, _} = cenote:query(Db, "listen erlang_news"),
    {ok, Other} = connect(),
    %% while nobody is in a call, again and again
    [begin
         {ok, _} = cenote:query(Other, ["notify erlang_news, '", Text, "'"]),
         receive {cenote, Db, {notification, <<"erlang_news">>, Pid, Text}} -> ?assert(is_integer(Pid))
         after 5000 -> error(nothing_came)
         end,
         N rem 3 =:= 0 andalso ({ok, _, _} = cenote:query(Db, "select 1"))
     end || N <- lists:seq(1, 20), Text <- [integer_to_binary(N)]],
    {ok, _} = cenote:query(Db, "do $$ begin raise notice 'high water'; end $$"),
    receive {cenote, Db, {notice, #{status := notice, message := <<"high water">>, severity := <<"NOTICE">>}}} -> ok
    after 5000 -> error(nothing_came)
    end,
    {ok, _, [{Victim}]} = cenote:query(Db, "select pg_backend_pid()"),
    {ok, _, [{true}]} = cenote:query(Other, "select pg_terminate_backend($1)", [Victim]),
    receive {cenote, Db, {lost, #{status := connection}}} -> ok
    after 5000 -> error(nothing_came)
    end.

the_listener_ends_with_its_connection(_Config) ->
    Before = erlang:system_info(process_count),
    Open = fun() -> {ok, Db} = cenote:connect(uri(), #{async => self()}), Db end,
    Db = Open(),
    Pid = spawn(fun() -> Open(), receive stop -> ok end end),
    timer:sleep(200),
    ?assertEqual(Before + 3, erlang:system_info(process_count)),
    ok = cenote:close(Db),
    Pid ! stop,
    wait_until(fun() -> erlang:system_info(process_count) =:= Before end).

%% examples/fish_keeper.erl, as a supervisor's child.
a_worker_that_dies_is_restarted(_Config) ->
    Children = [#{id => fish_keeper, start => {fish_keeper, start_link, [uri()]}}],
    {ok, Supervisor} = test_supervisor:start_link(Children),
    ok = fish_keeper:add("carp"),
    [<<"carp">>] = fish_keeper:names(),
    First = whereis(fish_keeper),
    exit(First, kill),
    wait_until(fun() -> is_pid(whereis(fish_keeper)) andalso whereis(fish_keeper) =/= First end),
    %% the table was temporary, and went with the session
    [] = fish_keeper:names(),
    unlink(Supervisor),
    exit(Supervisor, shutdown),
    true = sessions_are_free().

copies(Config) ->
    Db = own(Config),
    ok = make_fish(Db),
    {ok, 2} = cenote:copy_in(Db, "copy fish from stdin", ["1\tca", <<"rp\n2\tpi">>, "ke\n"]),
    {ok, Pieces} = cenote:copy_out(Db, "copy fish to stdout"),
    ?assertEqual(<<"1\tcarp\n2\tpike\n">>, iolist_to_binary(Pieces)),
    {error, #{sqlstate := <<"22P02">>}} = cenote:copy_in(Db, "copy fish from stdin", ["x\ty\n"]),
    {error, #{sqlstate := <<"0A000">>}} = cenote:copy_in(Db, "select 1", []),
    {error, #{sqlstate := <<"0A000">>}} = cenote:copy_out(Db, "copy fish from stdin"),
    [{error, #{sqlstate := <<"0A000">>}} | _] = as_list(cenote:query(Db, "copy fish from stdin")),
    [{error, #{sqlstate := <<"0A000">>}} | _] = as_list(cenote:query(Db, "copy fish to stdout")),
    2 = count(Db).

as_list(List) when is_list(List) -> List;
as_list(One) -> [One].
