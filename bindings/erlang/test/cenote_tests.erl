%% SPDX-License-Identifier: BSD-2-Clause
%% What needs no pool.
-module(cenote_tests).

-include_lib("eunit/include/eunit.hrl").

the_application_loads_test() ->
    _ = application:load(cenote),
    {ok, Modules} = application:get_key(cenote, modules),
    [?assertMatch({module, Module}, code:ensure_loaded(Module)) || Module <- Modules].

wrong_options_are_named_test_() ->
    Wrong = [
        {"cenote:///x?nonsense=1", #{}, "nonsense"},
        {"cenote:///x", #{pol => "y"}, "pol"},
        {"cenote:///x", #{tls => maybe_so}, "tls"},
        {"http://x", #{}, "cenote://"},
        {"", #{}, "pool"}
    ],
    [
        fun() ->
            {error, #{status := argument, message := Message}} = cenote:connect(Uri, Options),
            ?assertNotEqual(nomatch, string:find(Message, Part))
        end
     || {Uri, Options, Part} <- Wrong
    ].

no_pool_is_an_error_of_the_connection_test_() ->
    Nowhere = #{pool => "x", run_dir => "/nonexistent"},
    [
        ?_assertMatch({error, #{status := connection, sqlstate := <<"08", _/binary>>}}, cenote:connect(Nowhere)),
        ?_assertMatch({error, #{status := connection}}, cenote:connect("cenote://127.0.0.1:1/x")),
        ?_assertMatch({error, #{status := connection}}, cenote:connect("cenote://127.0.0.1:1/x", #{async => self()}))
    ].

what_is_no_option_is_badarg_test_() ->
    [
        ?_assertError(badarg, cenote:connect(not_a_uri)),
        ?_assertError(badarg, cenote:connect("cenote:///x", #{pool => {1, 2}})),
        %% it would be another user's name, without what is behind the zero
        ?_assertError(badarg, cenote:connect("cenote:///x", #{user => <<"admin", 0, "x">>})),
        ?_assertError(badarg, cenote:connect(<<"cenote:///x", 0, "y">>))
    ].

%% What cenote.erl never asks of the NIF must not hurt the emulator either.
the_nif_refuses_nonsense_test_() ->
    Conn = cenote_nif:new(),
    Calls = [
        fun() -> cenote_nif:talk(Conn, nonsense, {}) end,
        fun() -> cenote_nif:talk(Conn, send, {}) end,
        fun() -> cenote_nif:talk(Conn, send, {<<"x">>, [], text, -1, 0}) end,
        fun() -> cenote_nif:talk(Conn, prepare, {Conn}) end,
        fun() -> cenote_nif:talk(Conn, drop, {make_ref()}) end,
        fun() -> cenote_nif:talk(Conn, batch, {not_a_cursor}) end,
        fun() -> cenote_nif:talk(make_ref(), ping, {}) end,
        fun() -> cenote_nif:rows(Conn, -1, []) end,
        fun() -> cenote_nif:watch(Conn, not_a_ref) end
    ],
    [?_assertError(badarg, Call()) || Call <- Calls].

%% Twice, so that the version that made it is gone.
connections_outlive_an_upgrade_test() ->
    Conn = cenote_nif:new(),
    [
        begin
            true = code:soft_purge(cenote_nif),
            {module, cenote_nif} = code:load_file(cenote_nif)
        end
     || _ <- [1, 2]
    ],
    ?assertEqual(ok, cenote_nif:talk(Conn, set_uri, {"cenote:///x"})),
    ?assertEqual(<<"x">>, cenote_nif:talk(Conn, option, {"pool"})),
    ok = cenote_nif:close(Conn).

nothing_goes_without_a_session_test() ->
    Conn = cenote_nif:new(),
    Ops = [{send, {<<"select 1">>, null, text, 0, 0}}, {ping, {}}, {commit, {}}, {sync, {}}],
    [?assertMatch({error, #{status := state}}, cenote_nif:talk(Conn, Op, Args)) || {Op, Args} <- Ops],
    ?assertEqual({0, []}, cenote_nif:rows(Conn, 5, [])),
    ?assertEqual(done, cenote_nif:cancel(Conn)),
    ?assertEqual(ok, cenote_nif:listen(Conn)),
    ok = cenote_nif:close(Conn),
    ?assertMatch({error, #{sqlstate := <<"08003">>}}, cenote_nif:talk(Conn, ping, {})).
