%% SPDX-License-Identifier: BSD-2-Clause
%% @private
%% The calls of libcenote. None of them waits. A call that would wait returns `again', and is repeated after the
%% message that watch/2 asked for.
-module(cenote_nif).

-export([new/0, talk/3, rows/3, watch/2, unwatch/2, timeout/1, cancel/1, listen/1, close/1]).
-export_type([conn/0, part/0]).

-on_load(load/0).

-type conn() :: reference().
%% A statement or a cursor.
-type part() :: reference().

load() ->
    case code:priv_dir(cenote) of
        {error, bad_name} -> {error, {bad_name, "the application cenote is not in the code path"}};
        Priv -> erlang:load_nif(filename:join(Priv, "cenote_nif"), 0)
    end.

-spec new() -> conn().
new() -> erlang:nif_error(not_loaded).

-spec talk(conn(), atom(), tuple()) -> term().
talk(_Conn, _Op, _Args) -> erlang:nif_error(not_loaded).

-spec rows(conn(), non_neg_integer(), [tuple()]) -> {non_neg_integer(), [tuple()]} | {error, map()}.
rows(_Conn, _Left, _Rows) -> erlang:nif_error(not_loaded).

-spec watch(conn(), reference()) -> {timeout(), 0..2} | {error, map()}.
watch(_Conn, _Ref) -> erlang:nif_error(not_loaded).

-spec unwatch(conn(), reference()) -> ok | {error, map()}.
unwatch(_Conn, _Ref) -> erlang:nif_error(not_loaded).

-spec timeout(conn()) -> timeout().
timeout(_Conn) -> erlang:nif_error(not_loaded).

-spec cancel(conn()) -> ok | done | {error, map()}.
cancel(_Conn) -> erlang:nif_error(not_loaded).

-spec listen(conn()) -> ok.
listen(_Conn) -> erlang:nif_error(not_loaded).

-spec close(conn()) -> ok | {error, map()}.
close(_Conn) -> erlang:nif_error(not_loaded).
