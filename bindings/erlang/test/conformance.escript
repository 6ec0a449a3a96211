#!/usr/bin/env escript
%% SPDX-License-Identifier: BSD-2-Clause
%% usage: conformance.escript CASES.json QUIRKS
%%
%% Runs the shared conformance cases (tests/conformance/README.md) on the pool CENOTE_TEST_URI, with the
%% cases as case_json gives them; in TAP. What the binding does not give is in QUIRKS.

-mode(compile).
-include_lib("cenote/include/cenote.hrl").

-define(WAYS, [query, prepared, cursor]).

main([CasesFile, QuirksFile]) ->
    {ok, Text} = file:read_file(CasesFile),
    Quirks = read_quirks(QuirksFile),
    Tests = [{Case, Way} || Case <- json(Text), Way <- ?WAYS, is_for(Case, Way)],
    Numbered = lists:zip(lists:seq(1, length(Tests)), Tests),
    Failed = [N || {N, {Case, Way}} <- Numbered, not report(N, Case, Way, Quirks)],
    io:format("1..~b~n", [length(Tests)]),
    halt(min(1, length(Failed))).

is_for(#{<<"not_ways">> := Ways}, Way) ->
    not lists:member(atom_to_binary(Way), words(Ways)).

%% ------------------------------------------------------------------------------ reporting

read_quirks(File) ->
    {ok, Text} = file:read_file(File),
    Lines = [Line || Line <- string:split(Text, "\n", all), re:run(Line, "^[^# ]") =/= nomatch],
    maps:from_list([{Key, Reason} || Line <- Lines, [Key, Reason] <- [string:split(Line, ": ")]]).

report(N, #{<<"name">> := Name} = Case, Way, Quirks) ->
    WayName = atom_to_binary(Way),
    Any = maps:get(<<"* ", Name/binary>>, Quirks, none),
    Quirk = maps:get(<<WayName/binary, " ", Name/binary>>, Quirks, Any),
    Problem = problem(Quirk, outcome(Case, Way)),
    io:format("~s ~b - ~s (~s)~s~n", [verdict(Problem), N, Name, Way, note(Quirk)]),
    [io:format("# ~s:~b: ~s~n", [basename(Case), maps:get(<<"line">>, Case), comment(Problem)]) || Problem =/= none],
    Problem =:= none.

problem(none, Outcome) -> Outcome;
problem(_, none) -> "passes, but is listed as a quirk";
problem(_, _) -> none.

verdict(none) -> "ok";
verdict(_) -> "not ok".

note(none) -> "";
note(Reason) -> [" (quirk: ", Reason, ")"].

basename(#{<<"file">> := File}) -> filename:basename(File).

comment(Text) -> string:slice(string:replace(Text, "\n", "\n# ", all), 0, 2000).

outcome(Case, Way) ->
    {ok, Db} = cenote:connect(os:getenv("CENOTE_TEST_URI"), #{async => self()}),
    try
        [{ok, _} = cenote:query(Db, Sql) || Sql <- maps:get(<<"setup">>, Case)],
        [run_step(Db, Step, Way) || Step <- maps:get(<<"steps">>, Case)],
        none
    catch
        throw:{differs, Line, What} -> io_lib:format("line ~b: ~ts", [Line, What]);
        Class:Reason:Stack -> io_lib:format("~p: ~P~n~P", [Class, Reason, 30, Stack, 20])
    after
        cenote:close(Db)
    end.

notices(Db) ->
    receive
        {cenote, Db, {notice, #{message := Message}}} -> [Message | notices(Db)]
    after 0 -> []
    end.

%% -------------------------------------------------------------------------------- running

run_step(Db, Step, Way) ->
    Line = maps:get(<<"line">>, Step),
    Expects = maps:get(<<"expects">>, Step),
    try
        Seen = run(Db, Step, Way),
        check_results(Expects, as_list(Seen)),
        check_session(Db, lists:last(Expects))
    catch
        throw:{differs, What} -> throw({differs, Line, What})
    end.

as_list(Seen) when is_list(Seen) -> Seen;
as_list(Seen) -> [Seen].

run(_, #{<<"n_formats">> := _}, _) -> differs("there is no form of the server's own to be asked for");
run(_, #{<<"format">> := 2}, _) -> differs("there are no binary values");
run(Db, #{<<"op">> := Op} = Step, _) -> run_op(Db, Op, maps:get(<<"args">>, Step, <<>>), Step);
run(Db, #{<<"sql">> := <<"copy ", _/binary>>} = Step, _) -> run_copy(Db, Step);
run(Db, #{<<"sql">> := <<"load ", _/binary>>} = Step, _) -> run_copy(Db, Step);
run(Db, Step, Way) -> run_sql(Db, Way, maps:get(<<"sql">>, Step), params(Step, Way), options(Step)).

options(Step) -> #{return => map, max_rows => maps:get(<<"max_rows">>, Step, 0)}.

params(#{<<"binds">> := []} = Step, query) when not is_map_key(<<"is_extended">>, Step) -> null;
params(#{<<"binds">> := Binds}, _) -> [param(Bind) || Bind <- Binds].

run_sql(Db, query, Sql, Params, Options) ->
    cenote:query(Db, Sql, Params, Options);
run_sql(Db, prepared, Sql, Params, Options) ->
    case cenote:prepare(Db, Sql) of
        {ok, Stmt} -> cenote:execute(Db, Stmt, Params, Options);
        Error -> Error
    end;
run_sql(Db, cursor, Sql, Params, Options) ->
    case cenote:cursor(Db, Sql, Params, Options#{batch_rows => 2}) of
        {ok, Cursor, Columns} -> fetched(Db, Cursor, Columns, []);
        Result -> Result
    end.

fetched(Db, Cursor, Columns, Rows) ->
    case cenote:fetch(Db, Cursor) of
        {ok, More} -> fetched(Db, Cursor, Columns, Rows ++ More);
        done -> {ok, #{columns => Columns, rows => Rows}};
        {error, Error} -> {error, Error#{rows_before => length(Rows)}}
    end.

run_copy(Db, #{<<"sql">> := Sql} = Step) ->
    is("to give up", false, is_map_key(<<"copy_fail">>, Step)),
    case string:find(Sql, "to stdout") of
        nomatch -> as_map(cenote:copy_in(Db, Sql, [maps:get(<<"copy_in">>, Step, <<>>)]));
        _ -> copied_out(cenote:copy_out(Db, Sql))
    end.

copied_out({ok, Pieces}) -> {ok, #{columns => [], rows => [], copied => iolist_to_binary(Pieces)}};
copied_out(Error) -> Error.

as_map({ok, Affected}) -> {ok, #{columns => [], rows => [], affected => Affected}};
as_map(ok) -> {ok, #{columns => [], rows => []}};
as_map({ok, Columns, Rows}) -> {ok, #{columns => Columns, rows => Rows}};
as_map(Error) -> Error.

run_op(Db, <<"begin">>, Args, _) ->
    Words = words(Args),
    Isolation = maps:from_list([{isolation, serializable} || lists:member(<<"serializable">>, Words)]),
    as_map(cenote:begin_transaction(Db, Isolation#{
        read_only => lists:member(<<"read_only">>, Words),
        immediate => lists:member(<<"immediate">>, Words)
    }));
run_op(Db, <<"catalog">>, Args, _) ->
    [Kind | Filters] = words(Args),
    Filter = [{binary_to_atom(Key), Value} || [Key, Value] <- [string:split(F, "=") || F <- Filters]],
    as_map(cenote:catalog(Db, binary_to_atom(Kind), maps:from_list(Filter)));
run_op(Db, <<"autocommit">>, Args, _) ->
    as_map(cenote:set_autocommit(Db, Args =:= <<"1">>));
run_op(Db, <<"option">>, Args, _) ->
    [Name, Value] = string:split(Args, " "),
    as_map(cenote:set_session_option(Db, Name, Value));
run_op(Db, <<"change_user">>, Args, _) ->
    [User, Password, Database] = [word_or_null(Word) || Word <- words(Args)],
    as_map(cenote:change_user(Db, User, Password, Database));
run_op(Db, <<"notifications">>, _, #{<<"expects">> := [Expected]}) ->
    Wanted = words_by(maps:get(<<"notifications">>, Expected, <<>>), "\n"),
    is("notifications", Wanted, [await_notification(Db) || _ <- Wanted]),
    receive
        {cenote, Db, {notification, _, _, _} = More} -> is("another notification", none, More)
    after 0 -> as_map(ok)
    end;
run_op(Db, Op, Args, _) ->
    Known = [<<"commit">>, <<"rollback">>, <<"ping">>, <<"reset">>],
    Named = [<<"savepoint">>, <<"release">>, <<"rollback_to">>, <<"select_database">>],
    case {lists:member(Op, Known), lists:member(Op, Named)} of
        {true, _} -> as_map(apply(cenote, binary_to_atom(Op), [Db]));
        {_, true} -> as_map(apply(cenote, binary_to_atom(Op), [Db, Args]));
        _ -> differs(["there is no call for ", Op])
    end.

await_notification(Db) ->
    receive
        {cenote, Db, {notification, Channel, Pid, Payload}} when is_integer(Pid) ->
            <<Channel/binary, " ", Payload/binary>>
    after 10000 -> differs("no notification came")
    end.

words(Text) -> words_by(Text, " ").

words_by(Text, Separator) -> [Word || Word <- string:split(Text, Separator, all), Word =/= <<>>].

word_or_null(<<"-">>) -> null;
word_or_null(Word) -> Word.

%% -------------------------------------------------------------------------------- values

param(#{<<"type">> := <<"null">>}) -> null;
param(#{<<"type">> := Type, <<"value">> := Value}) -> param(Type, Value);
param(#{<<"type">> := Type}) -> param(Type, <<>>).

param(<<"bool">>, Text) -> Text =:= <<"1">>;
param(<<"int64">>, Text) -> binary_to_integer(Text);
param(<<"uint64">>, Text) -> binary_to_integer(Text);
param(<<"double">>, Text) -> to_float(Text);
param(<<"decimal">>, Text) -> {decimal, Text};
param(<<"text">>, Text) -> Text;
param(<<"bytes">>, Text) -> {bytes, Text};
param(<<"date">>, Text) -> date(Text);
param(<<"time">>, Text) -> time_param(clock(Text));
param(<<"timestamp">>, Text) -> timestamp_param(Text);
param(Type, _) -> differs(["nothing to bind is a ", Type]).

time_param({Clock, none}) -> {time, Clock};
time_param({_, Offset} = Clock) when is_integer(Offset) -> Clock.

timestamp_param(Text) ->
    [Day, Rest] = string:split(Text, " "),
    case clock(Rest) of
        {Clock, none} -> {date(Day), Clock};
        {Clock, Offset} -> {{date(Day), Clock}, Offset}
    end.

to_float(<<"NaN">>) -> nan;
to_float(<<"Infinity">>) -> infinity;
to_float(<<"-Infinity">>) -> '-infinity';
to_float(Text) ->
    {Number, <<>>} = string:to_float(with_fraction(Text)),
    Number.

with_fraction(Text) ->
    case re:run(Text, "^([-+]?[0-9]+)(e.*)?$", [{capture, all_but_first, binary}]) of
        {match, [Whole]} -> <<Whole/binary, ".0">>;
        {match, [Whole, Exponent]} -> <<Whole/binary, ".0", Exponent/binary>>;
        nomatch -> Text
    end.

date(Text) ->
    {match, [Y, M, D]} = re:run(Text, "^(-?\\d+)-(\\d\\d)-(\\d\\d)$", [{capture, all_but_first, binary}]),
    {binary_to_integer(Y), binary_to_integer(M), binary_to_integer(D)}.

%% {Clock, Offset or none}
clock(Text) ->
    Pattern = "^(\\d\\d):(\\d\\d):(\\d\\d)(\\.\\d+)?(?:([-+])(\\d\\d):(\\d\\d))?$",
    {match, [H, M, S, Fraction | Offset]} = re:run(Text, Pattern, [{capture, [1, 2, 3, 4, 5, 6, 7], binary}]),
    {{binary_to_integer(H), binary_to_integer(M), seconds(S, Fraction)}, offset(Offset)}.

seconds(S, <<>>) -> binary_to_integer(S);
seconds(S, Fraction) -> binary_to_float(<<S/binary, Fraction/binary>>).

offset([<<>>, _, _]) -> none;
offset([Sign, H, M]) ->
    Seconds = 3600 * binary_to_integer(H) + 60 * binary_to_integer(M),
    case Sign of
        <<"+">> -> Seconds;
        <<"-">> -> -Seconds
    end.

%% What a case says, as the binding gives a column of that type; or the text itself.
is_same(_, null, Seen) -> Seen =:= null;
is_same(_, _, null) -> false;
is_same(_, Text, Text) -> true;
is_same(Type, Text, Seen) ->
    try wanted(Type, Text, Seen) of
        Wanted -> Wanted == Seen
    catch
        error:_ -> false
    end.

wanted(bool, Text, _) -> lists:member(Text, [<<"1">>, <<"t">>, <<"true">>]);
wanted(Type, Text, _) when Type =:= int64; Type =:= uint64 -> binary_to_integer(Text);
wanted(double, Text, _) -> to_float(Text);
wanted(bytes, <<"\\x", Hex/binary>>, _) -> binary:decode_hex(string:uppercase(Hex));
wanted(date, Text, _) -> date(Text);
wanted(time, Text, _) ->
    case clock(Text) of
        {Clock, none} -> Clock;
        Clock -> Clock
    end;
wanted(timestamp, Text, _) -> utc(timestamp_param(Text));
wanted(_, Text, _) -> Text.

utc({{{_, _, _} = Day, {H, M, S}}, Offset}) ->
    Whole = calendar:datetime_to_gregorian_seconds({Day, {H, M, trunc(S)}}) - Offset,
    {Date, {Hour, Minute, Second}} = calendar:gregorian_seconds_to_datetime(Whole),
    {Date, {Hour, Minute, Second + (S - trunc(S))}};
utc(Timestamp) ->
    Timestamp.

%% ------------------------------------------------------------------------------ comparing

-spec differs(iodata()) -> no_return().
differs(What) -> throw({differs, What}).

is(_, Wanted, Wanted) -> ok;
is(What, Wanted, Seen) -> differs(io_lib:format("~ts is ~P, expected ~P", [What, Seen, 20, Wanted, 20])).

check_results(Expects, Seen) ->
    is("number of results", length(Expects), length(Seen)),
    [check_result(Expected, Result) || {Expected, Result} <- lists:zip(Expects, Seen)].

check_result(#{<<"sqlstate">> := State} = Expected, {error, Error}) ->
    #{sqlstate := Sqlstate, message := Message, native := Native} = Error,
    is(["SQLSTATE (", Message, ")"], State, binary:part(Sqlstate, 0, min(byte_size(State), 5))),
    said(Expected, <<"native">>, Native),
    said(Expected, <<"position">>, maps:get(position, Error, none)),
    said(maps:with([<<"rows_before_error">> || is_map_key(rows_before, Error)], Expected), <<"rows_before_error">>,
        maps:get(rows_before, Error, none)),
    Part = maps:get(<<"message">>, Expected, <<>>),
    string:find(Message, Part) =/= nomatch orelse differs(["message is ", Message]);
check_result(#{<<"sqlstate">> := State}, {ok, _}) ->
    differs(["succeeded, expected error ", State]);
check_result(_, {error, #{sqlstate := State, message := Message}}) ->
    differs(["failed with ", State, ": ", Message]);
check_result(Expected, {ok, #{columns := Columns, rows := Rows} = Seen}) ->
    check_columns(maps:get(<<"columns">>, Expected, []), Columns),
    said(Expected, <<"column_count">>, length(Columns)),
    check_rows(Expected, Columns, Rows),
    [said(Expected, Key, maps:get(Name, Seen)) ||
        {Key, Name} <- [{<<"tag">>, tag}, {<<"affected">>, affected}, {<<"insert_id">>, last_insert_id},
            {<<"copy_out">>, copied}],
        is_map_key(Name, Seen)],
    is("output", is_map_key(<<"has_output">>, Expected), maps:get(is_output, Seen, false)).

said(Expected, Key, Seen) ->
    case Expected of
        #{Key := Wanted} -> is(Key, Wanted, Seen);
        _ -> ok
    end.

check_columns([], _) ->
    ok;
check_columns(Wanted, Columns) ->
    is("columns", [maps:get(<<"name">>, C) || C <- Wanted], [C#column.name || C <- Columns]),
    [is(["type of ", C#column.name], Type, atom_to_binary(C#column.type)) ||
        {#{<<"type">> := Type}, C} <- lists:zip(Wanted, Columns), Type =/= <<>>].

check_rows(#{<<"rows">> := Wanted} = Expected, Columns, Rows) ->
    Count = maps:get(<<"row_count">>, Expected, length(Wanted)),
    [is("number of rows", Count, length(Rows)) || Columns =/= []],
    Types = [C#column.type || C <- Columns],
    Given = min(Count, length(Wanted)),
    Pairs = lists:zip(lists:sublist(Wanted, Given), lists:sublist(Rows, Given)),
    [check_row(Types, W, tuple_to_list(Row)) || {W, Row} <- Pairs].

check_row(Types, Wanted, Row) ->
    is("number of values", length(Wanted), length(Row)),
    [is_same(Type, W, Seen) orelse is([atom_to_list(Type), " value"], W, Seen) ||
        {Type, W, Seen} <- lists:zip3(Types, Wanted, Row)].

check_session(Db, Expected) ->
    Transactions = #{idle => 0, open => 1, failed => 2, unknown => 3},
    said(Expected, <<"tx">>, maps:get(cenote:transaction(Db), Transactions)),
    said(Expected, <<"pins">>, pins(Db, maps:get(<<"pins">>, Expected, 0))),
    Notices = notices(Db),
    [lists:any(fun(N) -> binary:match(N, Part) =/= nomatch end, Notices) orelse is("notices", Part, Notices) ||
        Part <- words_by(maps:get(<<"notices">>, Expected, <<>>), "\n")],
    [is(Name, Value, cenote:parameter(Db, Name)) ||
        [Name, Value] <- [string:split(L, " ") || L <- words_by(maps:get(<<"parameters">>, Expected, <<>>), "\n")]].

%% 0 is for none at all, else those bits alone are asked for.
pins(Db, Wanted) ->
    Names = [
        <<"temporary objects">>, <<"changed settings">>, <<"locks">>, <<"listening">>,
        <<"an open cursor">>, <<"attached databases">>, <<"a volatile function">>,
        <<"statements prepared in SQL">>
    ],
    Bits = maps:from_list(lists:zip(Names, [1 bsl N || N <- lists:seq(0, 7)])),
    Seen = lists:sum([maps:get(Name, Bits) || Name <- cenote:pins(Db)]),
    case Wanted of
        0 -> Seen;
        _ -> Seen band Wanted
    end.

%% ----------------------------------------------------------------------------------- JSON

%% As case_json writes it: each character of a string is a byte.
json(Text) ->
    {Value, _} = value(Text),
    Value.

value(<<"[", Rest/binary>>) -> elements(Rest, []);
value(<<"{", Rest/binary>>) -> members(Rest, []);
value(<<"\"", Rest/binary>>) -> string(Rest, <<>>);
value(<<"null", Rest/binary>>) -> {null, Rest};
value(<<"\n", Rest/binary>>) -> value(Rest);
value(Text) -> string:to_integer(Text).

elements(<<"]", Rest/binary>>, List) -> {lists:reverse(List), Rest};
elements(<<C, Rest/binary>>, List) when C =:= $,; C =:= $\n -> elements(Rest, List);
elements(Text, List) ->
    {Value, Rest} = value(Text),
    elements(Rest, [Value | List]).

members(<<"}", Rest/binary>>, List) -> {maps:from_list(List), Rest};
members(<<",", Rest/binary>>, List) -> members(Rest, List);
members(Text, List) ->
    {Name, <<":", Rest/binary>>} = value(Text),
    {Value, After} = value(Rest),
    members(After, [{Name, Value} | List]).

string(<<"\"", Rest/binary>>, Bytes) -> {Bytes, Rest};
string(<<"\\u00", High, Low, Rest/binary>>, Bytes) -> string(Rest, <<Bytes/binary, (digit(High)):4, (digit(Low)):4>>);
string(<<Byte, Rest/binary>>, Bytes) -> string(Rest, <<Bytes/binary, Byte>>).

digit(Character) when Character =< $9 -> Character - $0;
digit(Character) -> Character - $a + 10.
