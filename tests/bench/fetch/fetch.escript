#!/usr/bin/env escript
%% SPDX-License-Identifier: BSD-2-Clause
%%! +sbwt none +sbwtdcpu none +sbwtdio none
%% A client of tests/bench/bindings.py: fetch.escript DRIVER

-mode(compile).

-define(SQL, "select * from bench_rows").

main([Driver]) ->
    Fetch = fetcher_of(list_to_atom(Driver)),
    {ok, Columns, Rows} = Fetch(),
    256 = length(Rows),
    16 = length(Columns),
    <<"00000000000000000000000000000015">> = element(16, lists:last(Rows)),
    io:format("ready~n"),
    serve(Fetch).

%% What each driver offers for all rows as tuples.
fetcher_of(cenote) ->
    {ok, Db} = cenote:connect(os:getenv("CENOTE_TEST_URI")),
    fun() -> cenote:query(Db, ?SQL) end;
fetcher_of(epgsql) ->
    Words = string:lexemes(os:getenv("CENOTE_TEST_SERVER"), " "),
    Options = maps:from_list([list_to_tuple(string:split(Word, "=")) || Word <- Words]),
    #{"host" := Directory, "user" := User, "dbname" := Database} = Options,
    Socket = filename:join(Directory, ".s.PGSQL." ++ maps:get("port", Options, "5432")),
    {ok, Db} = epgsql:connect(#{host => {local, Socket}, port => 0, username => User, database => Database}),
    fun() -> epgsql:squery(Db, ?SQL) end.

serve(Fetch) ->
    case io:get_line("") of
        eof ->
            ok;
        Line ->
            {Seconds, _} = string:to_float(with_fraction(string:trim(Line))),
            io:format("~b~n", [count(Fetch, now_us() + round(Seconds * 1000000), 0)]),
            serve(Fetch)
    end.

with_fraction(Number) ->
    case lists:member($., Number) of
        true -> Number;
        false -> Number ++ ".0"
    end.

count(Fetch, Until, N) ->
    case now_us() < Until of
        true ->
            {ok, _, _} = Fetch(),
            count(Fetch, Until, N + 1);
        false ->
            N
    end.

now_us() -> erlang:monotonic_time(microsecond).
