#!/usr/bin/env escript
%% SPDX-License-Identifier: BSD-2-Clause
%% No memory is lost over 10^5 queries of all kinds: on_pool sqlite 2 escript leak.escript

-mode(compile).

-define(WARM_UP, 50000).
-define(QUERIES, 100000).
%% Of the allocators; one word lost with each query would be 800 kB.
-define(MAY_GROW_KB, 700).

main([]) ->
    {ok, Db} = cenote:connect(os:getenv("CENOTE_TEST_URI")),
    work(Db, ?WARM_UP),
    Before = rss_kb(),
    work(Db, ?QUERIES),
    Grown = rss_kb() - Before,
    io:format("~b kB more after ~b queries~n", [Grown, ?QUERIES]),
    halt(case Grown < ?MAY_GROW_KB of true -> 0; false -> 1 end).

rss_kb() ->
    erlang:garbage_collect(),
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:split(Text, " ", all),
    binary_to_integer(Pages) * 4.

%% Twenty queries in each round.
work(Db, N) ->
    [round(Db, I) || I <- lists:seq(1, N div 20)],
    ok.

round(Db, I) ->
    [{ok, _, [{I, 1.5, null}]} = cenote:query(Db, "select ?, 1.5, null", [I]) || _ <- lists:seq(1, 8)],
    {ok, _, [{<<"text">>, <<0, 255>>}]} = cenote:query(Db, "select 'text', x'00ff'"),
    {ok, Cursor, _} = cenote:cursor(Db, "select 1 union all select 2 union all select 3", [], #{batch_rows => 1}),
    {ok, [{1}]} = cenote:fetch(Db, Cursor),
    I rem 2 =:= 0 andalso (ok = cenote:close(Db, Cursor)),
    {error, _} = cenote:query(Db, "select nothing_like_it"),
    {error, _} = cenote:query(Db, "select ?", [self()]),
    Text = binary:copy(<<"x">>, I rem 200),
    {ok, Stmt} = cenote:prepare(Db, "select ?"),
    {ok, _, [{Text}]} = cenote:execute(Db, Stmt, [Text]),
    [{ok, _, _}, {ok, _, _}, {ok, _, _}] = cenote:execute_batch(Db, Stmt, [[1], [2], [3]]),
    {ok, _} = cenote:with_transaction(Db, fun(_) -> cenote:query(Db, "select 1") end),
    {ok, Other} = cenote:connect(os:getenv("CENOTE_TEST_URI")),
    {ok, _, [{1}]} = cenote:query(Other, "select 1"),
    %% one in ten is left to the collector
    I rem 10 =/= 0 andalso (ok = cenote:close(Other)),
    I rem 10 =:= 0 andalso erlang:garbage_collect().
