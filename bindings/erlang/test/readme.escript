#!/usr/bin/env escript
%% SPDX-License-Identifier: BSD-2-Clause
%% README's program is examples/fish.escript, and it runs. A package has its licence and its homepage:
%% readme.escript DIRECTORY

main([Directory]) ->
    Example = filename:join(Directory, "examples/fish.escript"),
    {ok, Program} = file:read_file(Example),
    %% a package is this directory alone
    {ok, Licence} = file:read_file(filename:join(Directory, "LICENSE")),
    {ok, Licence} = file:read_file(filename:join(Directory, "../../LICENSE")),
    {ok, [{application, cenote, Facts}]} = file:consult(filename:join(Directory, "src/cenote.app.src")),
    {links, [{"Homepage", "https://" ++ _}]} = lists:keyfind(links, 1, Facts),
    {ok, Readme} = file:read_file(filename:join(Directory, "README.md")),
    [_, Lines] = string:split(Program, "\n"),
    true = string:find(Readme, Lines) =/= nomatch,
    Escript = os:find_executable("escript"),
    Port = open_port({spawn_executable, Escript}, [
        {args, [Example, os:getenv("CENOTE_TEST_URI")]}, exit_status, binary, stderr_to_stdout]),
    "cave fish: 8.25 cm\n" = said(Port, []).

said(Port, Pieces) ->
    receive
        {Port, {data, Piece}} -> said(Port, [Pieces, Piece]);
        {Port, {exit_status, 0}} -> unicode:characters_to_list(Pieces);
        {Port, {exit_status, Status}} -> {Status, unicode:characters_to_list(Pieces)}
    end.
