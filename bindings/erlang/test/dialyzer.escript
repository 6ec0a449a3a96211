%% SPDX-License-Identifier: BSD-2-Clause
%% Dialyzer on the application's modules: dialyzer.escript REBAR_CONFIG PLT BEAM…
%%
%% What it has to know of OTP is kept in PLT: only the modules that are called, since all of kernel and stdlib take
%% minutes. One that is missing there makes it fail, as an unknown function.

-define(SKIPPED, 77).
-define(KNOWN, [binary, calendar, code, erlang, filename, io_lib, lists, maps, proc_lib, string, unicode]).

main([Config, Plt | Beams]) ->
    case code:which(dialyzer) of
        non_existing ->
            io:format("Dialyzer is not installed~n"),
            halt(?SKIPPED);
        _ ->
            filelib:is_regular(Plt) orelse make_plt(Plt),
            check(Config, Plt, Beams)
    end.

%% Under another name until it is whole.
make_plt(Plt) ->
    New = Plt ++ ".new",
    _ = dialyzer:run([{analysis_type, plt_build}, {output_plt, New}, {files, [beam(M) || M <- ?KNOWN]}]),
    ok = file:rename(New, Plt).

%% Of what is loaded from the start the emulator names no file.
beam(Module) ->
    Name = atom_to_list(Module) ++ ".beam",
    case code:which(Module) of
        preloaded -> filename:join(code:lib_dir(erts, ebin), Name);
        File -> File
    end.

%% With the warnings that "rebar3 dialyzer" gives.
check(Config, Plt, Beams) ->
    {ok, Terms} = file:consult(Config),
    {dialyzer, Options} = lists:keyfind(dialyzer, 1, Terms),
    {warnings, Warnings} = lists:keyfind(warnings, 1, Options),
    case dialyzer:run([{analysis_type, succ_typings}, {init_plt, Plt}, {files, Beams}, {warnings, Warnings}]) of
        [] ->
            io:format("~b modules are clean~n", [length(Beams)]);
        Found ->
            [io:put_chars(dialyzer:format_warning(W)) || W <- Found],
            halt(1)
    end.
