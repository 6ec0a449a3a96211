%% SPDX-License-Identifier: BSD-2-Clause
%% @private
%% Waits for notices and notifications while the owner of the connection is not in a call. It ends with the
%% connection.
-module(cenote_listener).

-export([start/1, init/1]).

-spec start(cenote_nif:conn()) -> pid().
start(Conn) ->
    proc_lib:spawn(?MODULE, init, [Conn]).

-spec init(cenote_nif:conn()) -> ok.
init(Conn) ->
    receive
        {select, _, _, _} ->
            ok = cenote_nif:listen(Conn),
            init(Conn);
        {cenote, Conn, closed} ->
            ok
    end.
