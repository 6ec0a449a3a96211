%% SPDX-License-Identifier: BSD-2-Clause
%% @doc Database sessions borrowed from a pool of cenoted.
%%
%% The process that makes a connection owns it. Only the owner makes calls on it. When the owner dies, the running
%% statement is cancelled and the session goes back to the pool. No call blocks a scheduler.
%%
%% Options of a single call: `timeout' (milliseconds; then the statement is cancelled, and fails with SQLSTATE 57014),
%% `max_rows', and `return => map' for results as maps with all details.
-module(cenote).

-export([connect/1, connect/2, close/1, controlling_process/2]).
-export([squery/2, query/2, query/3, query/4, equery/2, equery/3]).
-export([prepare/2, describe/2, execute/3, execute/4, execute_batch/2, execute_batch/3, close/2]).
-export([cursor/3, cursor/4, fetch/2, fold/4, fold/5, fold/6]).
-export([with_transaction/2, with_transaction/3, begin_transaction/1, begin_transaction/2]).
-export([commit/1, rollback/1, savepoint/2, release/2, rollback_to/2, set_autocommit/2, transaction/1]).
-export([copy_in/3, copy_out/2, catalog/2, catalog/3]).
-export([cancel/1, ping/1, reset/1, change_user/4, select_database/2, set_session_option/3]).
-export([is_connected/1, info/2, parameter/2, tls_info/2, tls_info/3, pins/1]).

-export_type([conn/0, statement/0, cursor/0, value/0, param/0, row/0, column/0, type/0]).
-export_type([result/0, result_map/0, error/0, event/0, options/0, call_options/0]).

-include("cenote.hrl").

-opaque conn() :: cenote_nif:conn().
-opaque statement() :: cenote_nif:part().
-opaque cursor() :: cenote_nif:part().

-type type() ::
    null | bool | int64 | uint64 | double | decimal | text | bytes | date | time | timestamp
    | interval | uuid | json | other.
-type column() :: #column{}.
-type seconds() :: 0..60 | float().
-type clock() :: {0..24, 0..59, seconds()}.
-type timestamp() :: {calendar:date(), clock()}.
-type special_float() :: nan | infinity | '-infinity'.

%% The values of a row. Decimals, UUIDs, intervals, JSON and values of unknown types are text as the server writes it.
%% A timestamp with an offset is in UTC. A time with an offset is `{Clock, SecondsEastOfUtc}'.
-type value() ::
    null | boolean() | integer() | float() | special_float() | binary()
    | calendar:date() | clock() | {clock(), integer()} | timestamp().
-type row() :: tuple().

%% A parameter. `{Y, M, D}' is a date, unless a prepared statement's parameter is known to be a time. A list is a
%% PostgreSQL array. But a list of integers is a text: use `{array, [1, 2]}' for an array of them.
-type param() ::
    null | undefined | boolean() | integer() | float() | special_float() | binary() | string()
    | [param()] | {array, [param()]}
    | {decimal, iodata()} | {bytes, iodata()}
    | calendar:date() | {time, clock()} | clock() | {clock(), integer()}
    | timestamp() | {timestamp(), integer()}.

%% `status' says which kind of failure it is: `server' (the database refused it), `connection', `auth', `protocol' (the
%% session is lost), `timeout', `argument', `state', `convert', `limit', `unsupported', `no_memory', or `skipped' (not
%% executed, because an earlier statement of its batch failed). In notices it is `notice'.
-type error() :: #{
    status := atom(),
    sqlstate := binary(),
    message := binary(),
    native := integer(),
    severity => binary(),
    detail => binary(),
    hint => binary(),
    position => binary(),
    internal_position => binary(),
    internal_query => binary(),
    where => binary(),
    schema => binary(),
    table => binary(),
    column => binary(),
    data_type => binary(),
    constraint => binary(),
    file => binary(),
    line => binary(),
    routine => binary(),
    server => binary(),
    server_sqlstate => binary()
}.

-type result_map() :: #{
    columns := [column()],
    rows := [row()],
    tag := binary(),
    %% -1: not known
    affected := integer(),
    last_insert_id := non_neg_integer(),
    warnings := non_neg_integer(),
    %% its one row holds the output values of a call
    is_output := boolean(),
    %% max_rows was reached
    is_limited := boolean()
}.
-type result() ::
    {ok, Columns :: [column()], [row()]}
    | {ok, Affected :: non_neg_integer()}
    | {ok, Affected :: non_neg_integer(), Columns :: [column()], [row()]}
    | {ok, result_map()}
    | {error, error()}.

%% The process in the option `async' gets `{cenote, conn(), event()}'.
-type event() ::
    {notification, Channel :: binary(), ServerPid :: integer(), Payload :: binary()}
    | {notice, error()}
    | {lost, error()}.

%% libcenote's options by their names (cenote_conn(3)); integers for times are milliseconds. And `timeout', for
%% each call; `async', the process that gets notices and notifications; `session_options'.
-type options() :: #{
    timeout => timeout(),
    async => pid(),
    session_options => #{atom() | iodata() => iodata()},
    atom() => iodata() | atom() | integer()
}.
-type call_options() :: #{
    timeout => timeout(),
    max_rows => non_neg_integer(),
    return => tuple | map,
    batch_rows => pos_integer()
}.
-type begin_options() :: #{
    isolation => default | read_uncommitted | read_committed | repeatable_read | serializable,
    read_only => boolean(),
    immediate => boolean()
}.

%% How long a cancelled statement may take to end.
-define(GRACE_MS, 10000).
-define(BATCH_ROWS, 256).
-define(MAP, #{return => map}).

-define(FLAG_LIMITED, 2).
-define(FLAG_OUTPUT, 8).

%% ------------------------------------------------------------------------ connections

%% @equiv connect(UriOrOptions, #{})
-spec connect(iodata() | options()) -> {ok, conn()} | {error, error()}.
connect(Options) when is_map(Options) ->
    open([], Options);
connect(Uri) ->
    connect(Uri, #{}).

%% @doc Borrow a session. `Uri' is `cenote:///POOL', `cenote://user:password@host/POOL?tls=verify-full', or a pool's name.
-spec connect(iodata(), options()) -> {ok, conn()} | {error, error()}.
connect(Uri, Options) ->
    open([{set_uri, {Uri}}], Options).

open(First, Options) ->
    Conn = cenote_nif:new(),
    {Ours, Theirs} = maps:fold(fun sort_option/3, {[], []}, Options),
    case run_all(Conn, First ++ Theirs ++ [{connect, {}}] ++ Ours) of
        ok ->
            set_timeout(Conn, Options),
            {ok, Conn};
        Error ->
            _ = cenote_nif:close(Conn),
            Error
    end.

sort_option(timeout, _, Sorted) ->
    Sorted;
sort_option(async, Pid, {Ours, Theirs}) ->
    {[{listen, Pid} | Ours], Theirs};
sort_option(session_options, Pairs, {Ours, Theirs}) ->
    {Ours, [{session_option, {option_text(N), option_text(V)}} || {N, V} <- maps:to_list(Pairs)] ++ Theirs};
sort_option(Name, Value, {Ours, Theirs}) ->
    {Ours, [{set, {atom_to_binary(Name), option_value(Name, Value)}} | Theirs]}.

option_value(Name, Value) when is_integer(Value), Value > 0 ->
    case lists:suffix("_timeout", atom_to_list(Name)) of
        true -> [integer_to_binary(Value), "ms"];
        false -> integer_to_binary(Value)
    end;
option_value(_, Value) ->
    option_text(Value).

option_text(Value) when is_atom(Value) -> atom_to_binary(Value);
option_text(Value) when is_integer(Value) -> integer_to_binary(Value);
option_text(Value) -> Value.

run_all(_Conn, []) ->
    ok;
run_all(Conn, [{listen, Pid} | Rest]) ->
    run_all(Conn, [{async, {cenote_listener:start(Conn), Pid}} | Rest]);
run_all(Conn, [{Op, Args} | Rest]) ->
    case talk(Conn, Op, Args, infinity) of
        ok -> run_all(Conn, Rest);
        Error -> Error
    end.

%% libcenote's query_timeout is for blocking calls. Here, this module's calls are those.
set_timeout(Conn, Options) ->
    case Options of
        #{timeout := infinity} -> ok;
        #{timeout := Ms} -> ok = cenote_nif:talk(Conn, timeout, {Ms});
        _ -> ok = cenote_nif:talk(Conn, timeout, {milliseconds(cenote_nif:talk(Conn, option, {"query_timeout"}))})
    end.

milliseconds(Text) ->
    Units = #{<<"ms">> => 1, <<"s">> => 1000, <<"min">> => 60000, <<"h">> => 3600000},
    case string:to_integer(Text) of
        {Count, Unit} when is_integer(Count), Count > 0 -> Count * maps:get(Unit, Units);
        _ -> -1
    end.

%% @doc Give the session back. This rolls an open transaction back.
-spec close(conn()) -> ok | {error, error()}.
close(Conn) ->
    cenote_nif:close(Conn).

%% @doc Make `Pid' the owner: only it may make calls, and the connection ends with it.
-spec controlling_process(conn(), pid()) -> ok | {error, error()}.
controlling_process(Conn, Pid) ->
    talk(Conn, owner, {Pid}, infinity).

%% ------------------------------------------------------------------------- statements

%% @doc Run one statement, or several, and get all values as the text that the server sends.
%% Several results are a list.
-spec squery(conn(), iodata()) -> result() | [result()].
squery(Conn, Sql) ->
    run(Conn, Sql, null, text, #{}).

%% @doc Run a statement or, if the server accepts that, several without parameters. Several results are a list.
-spec query(conn(), iodata()) -> result() | [result()].
query(Conn, Sql) ->
    run(Conn, Sql, null, canonical, #{}).

%% @equiv query(Conn, Sql, Params, #{})
-spec query(conn(), iodata(), [param()]) -> result() | [result()].
query(Conn, Sql, Params) ->
    query(Conn, Sql, Params, #{}).

%% @doc The same with values for the server's placeholders (`$1' in PostgreSQL, `?' in MariaDB and SQLite).
-spec query(conn(), iodata(), [param()] | null, call_options()) -> result() | [result()].
query(Conn, Sql, Params, Options) ->
    run(Conn, Sql, Params, canonical, Options).

%% @equiv equery(Conn, Sql, [])
-spec equery(conn(), iodata()) -> result() | [result()].
equery(Conn, Sql) ->
    equery(Conn, Sql, []).

%% @doc One statement, in PostgreSQL's extended form.
-spec equery(conn(), iodata(), [param()]) -> result() | [result()].
equery(Conn, Sql, Params) ->
    run(Conn, Sql, Params, canonical, #{}).

%% @doc Let the server parse a statement, for any number of executions. It is closed when no process has it any more.
-spec prepare(conn(), iodata()) -> {ok, statement()} | {error, error()}.
prepare(Conn, Sql) ->
    prepare(Conn, Sql, deadline(Conn, #{})).

prepare(Conn, Sql, Deadline) ->
    case talk(Conn, statement, {Sql}, Deadline) of
        {ok, Stmt} ->
            case talk(Conn, prepare, {Stmt}, Deadline) of
                ok -> {ok, Stmt};
                Error -> Error
            end;
        Error ->
            Error
    end.

%% @doc The types of a statement's parameters, and its columns.
-spec describe(conn(), statement()) -> {ok, [type()], [column()]} | {error, error()}.
describe(Conn, Stmt) ->
    talk(Conn, describe, {Stmt}, infinity).

%% @equiv execute(Conn, Stmt, Params, #{})
-spec execute(conn(), statement(), [param()]) -> result() | [result()].
execute(Conn, Stmt, Params) ->
    execute(Conn, Stmt, Params, #{}).

-spec execute(conn(), statement(), [param()], call_options()) -> result() | [result()].
execute(Conn, Stmt, Params, Options) ->
    run(Conn, Stmt, Params, canonical, Options).

%% @doc Let the server forget a statement, or a cursor, now.
-spec close(conn(), statement() | cursor()) -> ok | {error, error()}.
close(Conn, Part) ->
    talk(Conn, drop, {Part}, infinity).

run(Conn, What, Params, Format, Options) ->
    Deadline = deadline(Conn, Options),
    Limit = maps:get(max_rows, Options, 0),
    case send(Conn, What, Params, Format, 0, Limit, Deadline) of
        ok -> present(collect(Conn, Deadline, []), Options);
        Error -> Error
    end.

send(Conn, What, Params, Format, Rows, Limit, Deadline) ->
    case cenote_array:is_in(Params) of
        none -> talk(Conn, send, {What, Params, Format, Rows, Limit}, Deadline);
        Number -> send_arrays(Conn, What, Params, {Format, Rows, Limit}, Deadline, Number)
    end.

send_arrays(Conn, What, Params, {Format, Rows, Limit}, Deadline, Number) ->
    case info(Conn, backend) of
        <<"postgresql">> ->
            case array_texts(Params, [], 1) of
                {ok, Texts} -> talk(Conn, send, {What, Texts, Format, Rows, Limit}, Deadline);
                {bad, Bad} -> bad_parameter(Bad, "no value of this kind can be bound in a list")
            end;
        Backend when is_binary(Backend) ->
            bad_parameter(Number, ["a list is an array, and a pool of ", Backend, " has none (for one text: iolist_to_binary/1)"]);
        undefined ->
            talk(Conn, send, {What, [], Format, Rows, Limit}, Deadline);
        Error ->
            Error
    end.

array_texts([Param | Rest], Texts, Number) ->
    case cenote_array:text(Param) of
        {ok, Text} -> array_texts(Rest, [Text | Texts], Number + 1);
        error -> {bad, Number}
    end;
array_texts([], Texts, _) ->
    {ok, lists:reverse(Texts)};
array_texts(_, _, _) ->
    error(badarg).

bad_parameter(Number, Why) ->
    failure(argument, <<"07006">>, iolist_to_binary(io_lib:format("parameter ~w: ~s", [Number, Why]))).

%% All results of a request. If the connection is lost, earlier results are of no use.
collect(Conn, Deadline, Results) ->
    case talk(Conn, result, {}, Deadline) of
        done -> lists:reverse(Results);
        {error, _} = Error -> [Error];
        Result -> collect(Conn, Deadline, [complete(Conn, Result) | Results])
    end.

complete(Conn, {rows, Columns, Info, Some}) -> {rows, Columns, all_rows(Conn, Some), Info};
complete(_, {command, Info}) -> {rows, [], [], Info};
complete(_, {failed, Error}) -> {error, Error};
complete(Conn, {cursor, Cursor, _}) ->
    ok = talk(Conn, drop, {Cursor}, infinity),
    failure(argument, <<"0A000">>, <<"a cursor is for one statement with rows">>);
complete(_, skipped) -> failure(skipped, <<"25000">>, <<"not done, because something before it failed">>);
complete(_, Copy) when Copy =:= copy_in; Copy =:= copy_out ->
    failure(argument, <<"0A000">>, <<"the statement copies: use copy_in/3 or copy_out/2">>).

all_rows(_, {0, Rows}) -> Rows;
all_rows(Conn, {Left, Rows}) -> all_rows(Conn, cenote_nif:rows(Conn, Left, Rows)).

present([Result], Options) -> present_one(Result, Options);
present(Results, Options) -> [present_one(Result, Options) || Result <- Results].

present_one({error, _} = Error, _) ->
    Error;
present_one({rows, Columns, Rows, {Tag, Affected, Id, Warnings, Flags}}, #{return := map}) ->
    {ok, #{
        columns => Columns,
        rows => Rows,
        tag => Tag,
        affected => Affected,
        last_insert_id => Id,
        warnings => Warnings,
        is_output => Flags band ?FLAG_OUTPUT =/= 0,
        is_limited => Flags band ?FLAG_LIMITED =/= 0
    }};
present_one({rows, [], [], {_, Affected, _, _, _}}, _) ->
    {ok, max(Affected, 0)};
present_one({rows, Columns, Rows, {_, Affected, _, _, _}}, _) when Affected < 0 ->
    {ok, Columns, Rows};
present_one({rows, Columns, Rows, {_, Affected, _, _, _}}, _) ->
    {ok, Affected, Columns, Rows}.

%% ---------------------------------------------------------------------------- batches

%% @doc Run statements, each with its parameters, in a pipeline: all are sent before waiting for the first answer.
%% After an error the remaining ones are skipped. Outside a transaction, PostgreSQL runs all of them in one
%% transaction; with other servers, each is a transaction of its own.
-spec execute_batch(conn(), [{statement() | iodata(), [param()]}]) -> [result()] | {error, error()}.
execute_batch(Conn, Requests) ->
    batch(Conn, Requests, deadline(Conn, #{})).

%% @doc The same for one statement with many lists of parameters.
-spec execute_batch(conn(), statement() | iodata(), [[param()]]) -> [result()] | {error, error()}.
execute_batch(Conn, Stmt, Lists) when is_reference(Stmt) ->
    batch(Conn, [{Stmt, Params} || Params <- Lists], deadline(Conn, #{}));
execute_batch(Conn, Sql, Lists) ->
    case prepare(Conn, Sql) of
        {ok, Stmt} -> execute_batch(Conn, Stmt, Lists);
        Error -> Error
    end.

batch(Conn, Requests, Deadline) ->
    case talk(Conn, pipeline_begin, {}, Deadline) of
        ok ->
            {Sent, Unsent} = send_all(Conn, Requests, Deadline, 0),
            Results = take_all(Conn, Sent, Deadline) ++ Unsent,
            end_batch(Conn, Results, talk(Conn, pipeline_end, {}, Deadline));
        Error ->
            Error
    end.

%% How many were sent, and the results for the others: a value that cannot be bound ends the batch.
send_all(Conn, [{What, Params} | Rest], Deadline, Sent) ->
    case send(Conn, What, Params, canonical, 0, 0, Deadline) of
        ok -> send_all(Conn, Rest, Deadline, Sent + 1);
        Error -> {Sent, [Error | [complete(Conn, skipped) || _ <- Rest]]}
    end;
send_all(_, [], _, Sent) ->
    {Sent, []}.

%% The synchronisation point has its own answer: an error of the commit at the end.
take_all(Conn, Sent, Deadline) ->
    case talk(Conn, sync, {}, Deadline) of
        ok ->
            Results = [one(collect(Conn, Deadline, [])) || _ <- lists:seq(1, Sent)],
            Results ++ take_sync(Conn, Deadline, []);
        Error ->
            [Error]
    end.

one(Results) ->
    present_one(lists:last(Results), #{}).

take_sync(Conn, Deadline, Failed) ->
    case talk(Conn, result, {}, Deadline) of
        done -> Failed;
        {failed, Error} -> take_sync(Conn, Deadline, [{error, Error}]);
        {error, _} -> Failed;
        sync -> take_sync(Conn, Deadline, Failed)
    end.

end_batch(_, Results, ok) -> Results;
end_batch(_, _, Error) -> Error.

%% ---------------------------------------------------------------------------- cursors

%% @equiv cursor(Conn, SqlOrStatement, Params, #{})
-spec cursor(conn(), iodata() | statement(), [param()]) ->
    {ok, cursor(), [column()]} | result().
cursor(Conn, What, Params) ->
    cursor(Conn, What, Params, #{}).

%% @doc Leave the rows at the server, and take `batch_rows' of them (256) with each fetch/2. Other statements may run in
%% between. A statement without rows returns its result.
-spec cursor(conn(), iodata() | statement(), [param()], call_options()) ->
    {ok, cursor(), [column()]} | result().
cursor(Conn, What, Params, Options) ->
    Deadline = deadline(Conn, Options),
    Rows = maps:get(batch_rows, Options, ?BATCH_ROWS),
    case send(Conn, What, Params, canonical, Rows, maps:get(max_rows, Options, 0), Deadline) of
        ok -> open_cursor(Conn, talk(Conn, result, {}, Deadline), Options, Deadline);
        Error -> Error
    end.

%% Take the first rows at once: other statements cannot run before they have arrived.
open_cursor(Conn, {cursor, Cursor, Columns}, _, Deadline) ->
    case advance(Conn, Cursor, Deadline) of
        {error, _} = Error -> Error;
        _ -> {ok, Cursor, Columns}
    end;
open_cursor(_, {error, _} = Error, _, _) ->
    Error;
open_cursor(Conn, Result, Options, Deadline) ->
    present(collect(Conn, Deadline, [complete(Conn, Result)]), Options).

advance(Conn, Cursor, Deadline) ->
    case talk(Conn, advance, {Cursor}, Deadline) of
        {failed, Error} -> end_cursor(Conn, Deadline, {error, Error});
        done -> end_cursor(Conn, Deadline, done);
        Answer -> Answer
    end.

end_cursor(Conn, Deadline, Answer) ->
    _ = collect(Conn, Deadline, []),
    Answer.

%% @doc The next rows; `done' after the last ones.
-spec fetch(conn(), cursor()) -> {ok, [row(), ...]} | done | {error, error()}.
fetch(Conn, Cursor) ->
    case advance(Conn, Cursor, deadline(Conn, #{})) of
        ok -> {ok, all_rows(Conn, cenote_nif:talk(Conn, batch, {Cursor}))};
        Answer -> Answer
    end.

%% @equiv fold(Fun, Acc, Conn, SqlOrStatement, [])
-spec fold(fun((row(), Acc) -> Acc), Acc, conn(), iodata() | statement()) -> {ok, Acc} | {error, error()}.
fold(Fun, Acc, Conn, What) ->
    fold(Fun, Acc, Conn, What, []).

%% @equiv fold(Fun, Acc, Conn, SqlOrStatement, Params, #{})
-spec fold(fun((row(), Acc) -> Acc), Acc, conn(), iodata() | statement(), [param()]) ->
    {ok, Acc} | {error, error()}.
fold(Fun, Acc, Conn, What, Params) ->
    fold(Fun, Acc, Conn, What, Params, #{}).

%% @doc Call `Fun' with each row, while only `batch_rows' of them are in memory. It may use the connection.
-spec fold(fun((row(), Acc) -> Acc), Acc, conn(), iodata() | statement(), [param()], call_options()) ->
    {ok, Acc} | {error, error()}.
fold(Fun, Acc, Conn, What, Params, Options) ->
    case cursor(Conn, What, Params, Options) of
        {ok, Cursor, _Columns} ->
            try
                fold_batches(Fun, Acc, Conn, Cursor)
            after
                close(Conn, Cursor)
            end;
        {error, _} = Error ->
            Error;
        _ ->
            {ok, Acc}
    end.

fold_batches(Fun, Acc, Conn, Cursor) ->
    case fetch(Conn, Cursor) of
        {ok, Rows} -> fold_batches(Fun, lists:foldl(Fun, Acc, Rows), Conn, Cursor);
        done -> {ok, Acc};
        Error -> Error
    end.

%% ----------------------------------------------------------------------- transactions

%% @equiv with_transaction(Conn, Fun, #{})
-spec with_transaction(conn(), fun((conn()) -> Result)) ->
    {ok, Result} | {rollback, term()} | {error, error()}.
with_transaction(Conn, Fun) ->
    with_transaction(Conn, Fun, #{}).

%% @doc Commit when `Fun' returns. Roll back when it throws `{rollback, Reason}', which is then the answer, or when it
%% fails, and let it fail. Within a transaction, this is a savepoint. `{error, _}': begin or commit failed, and nothing
%% was changed.
-spec with_transaction(conn(), fun((conn()) -> Result), begin_options()) ->
    {ok, Result} | {rollback, term()} | {error, error()}.
with_transaction(Conn, Fun, Options) ->
    Unit = unit(transaction(Conn)),
    case begin_unit(Conn, Unit, Options) of
        ok -> in_unit(Conn, Unit, Fun);
        Error -> Error
    end.

unit(idle) -> whole;
unit(_) -> {savepoint, ["cenote_", integer_to_list(erlang:unique_integer([positive]))]}.

in_unit(Conn, Unit, Fun) ->
    try Fun(Conn) of
        Result -> end_unit(Conn, Unit, Result)
    catch
        throw:{rollback, _} = Rollback ->
            undo_unit(Conn, Unit, Rollback);
        Class:Reason:Stack ->
            _ = undo_unit(Conn, Unit, ok),
            erlang:raise(Class, Reason, Stack)
    end.

begin_unit(Conn, whole, Options) -> begin_transaction(Conn, Options);
begin_unit(Conn, {savepoint, Name}, _) -> savepoint(Conn, Name).

end_unit(Conn, Unit, Result) ->
    case {transaction(Conn), Unit} of
        {failed, _} ->
            undo_unit(Conn, Unit, failure(state, <<"25P02">>, <<"a statement failed, and the transaction with it">>));
        {_, whole} ->
            ok_with(Result, commit(Conn));
        {_, {savepoint, Name}} ->
            ok_with(Result, release(Conn, Name))
    end.

ok_with(Result, ok) -> {ok, Result};
ok_with(_, Error) -> Error.

undo_unit(Conn, Unit, Answer) ->
    Undone =
        case Unit of
            whole -> rollback(Conn);
            {savepoint, Name} -> rollback_to(Conn, Name)
        end,
    case Undone of
        ok -> Answer;
        Error -> Error
    end.

%% @equiv begin_transaction(Conn, #{})
-spec begin_transaction(conn()) -> ok | {error, error()}.
begin_transaction(Conn) ->
    begin_transaction(Conn, #{}).

-spec begin_transaction(conn(), begin_options()) -> ok | {error, error()}.
begin_transaction(Conn, Options) ->
    Isolation = maps:get(isolation, Options, default),
    Levels = #{default => 0, read_uncommitted => 1, read_committed => 2, repeatable_read => 3, serializable => 4},
    Flags = flag(maps:get(read_only, Options, false), 1) bor flag(maps:get(immediate, Options, false), 2),
    simple(Conn, 'begin', {maps:get(Isolation, Levels), Flags}).

flag(true, Bit) -> Bit;
flag(false, _) -> 0.

%% @doc Commit. SQLSTATE 08007 means that the connection was lost: nobody knows whether the commit happened.
-spec commit(conn()) -> ok | {error, error()}.
commit(Conn) -> simple(Conn, commit, {}).

-spec rollback(conn()) -> ok | {error, error()}.
rollback(Conn) -> simple(Conn, rollback, {}).

-spec savepoint(conn(), iodata()) -> ok | {error, error()}.
savepoint(Conn, Name) -> simple(Conn, savepoint, {Name}).

-spec release(conn(), iodata()) -> ok | {error, error()}.
release(Conn, Name) -> simple(Conn, release, {Name}).

-spec rollback_to(conn(), iodata()) -> ok | {error, error()}.
rollback_to(Conn, Name) -> simple(Conn, rollback_to, {Name}).

%% @doc On is the default. If off, the next statement begins a transaction.
-spec set_autocommit(conn(), boolean()) -> ok | {error, error()}.
set_autocommit(Conn, On) when is_boolean(On) -> simple(Conn, autocommit, {On}).

%% @doc The state from the last reply.
-spec transaction(conn()) -> idle | open | failed | unknown | {error, error()}.
transaction(Conn) -> simple(Conn, transaction, {}).

%% ----------------------------------------------------------------------------- copies

%% @doc Send the data for a statement (PostgreSQL's COPY FROM STDIN, MySQL's LOAD DATA LOCAL with `allow_files'), in
%% pieces that may end anywhere.
-spec copy_in(conn(), iodata(), [iodata()]) -> result() | [result()].
copy_in(Conn, Sql, Pieces) ->
    copy(Conn, Sql, copy_in, fun(Deadline) -> put_pieces(Conn, Pieces, Deadline) end).

%% @doc Receive the data of a statement such as COPY TO STDOUT, in the server's pieces.
-spec copy_out(conn(), iodata()) -> {ok, [binary()]} | {error, error()}.
copy_out(Conn, Sql) ->
    copy(Conn, Sql, copy_out, fun(Deadline) -> get_pieces(Conn, Deadline, []) end).

copy(Conn, Sql, Kind, Transfer) ->
    Deadline = deadline(Conn, #{}),
    case talk(Conn, send, {Sql, null, text, 0, 0}, Deadline) of
        ok -> begin_copy(Conn, Kind, Transfer, Deadline, talk(Conn, result, {}, Deadline));
        Error -> Error
    end.

begin_copy(Conn, Kind, Transfer, Deadline, Kind) ->
    Data = Transfer(Deadline),
    case {present(collect(Conn, Deadline, []), #{}), Data} of
        {{ok, _}, {pieces, Pieces}} -> {ok, Pieces};
        {Result, _} -> Result
    end;
begin_copy(_, _, _, _, {error, _} = Error) ->
    Error;
begin_copy(Conn, _, _, Deadline, Other) ->
    case collect(Conn, Deadline, [complete(Conn, Other)]) of
        [{error, _} = Error | _] -> Error;
        _ -> failure(argument, <<"0A000">>, <<"the statement does not copy that way">>)
    end.

put_pieces(Conn, [Piece | Rest], Deadline) ->
    case talk(Conn, copy_put, {Piece}, Deadline) of
        ok -> put_pieces(Conn, Rest, Deadline);
        %% the server ended it, and its result says why
        _ -> ended
    end;
put_pieces(Conn, [], Deadline) ->
    talk(Conn, copy_end, {null}, Deadline).

get_pieces(Conn, Deadline, Pieces) ->
    case talk(Conn, copy_get, {}, Deadline) of
        {ok, Piece} -> get_pieces(Conn, Deadline, [Piece | Pieces]);
        _ -> {pieces, lists:reverse(Pieces)}
    end.

%% ---------------------------------------------------------------------------- catalog

-type catalog() ::
    databases | schemas | tables | columns | primary_keys | foreign_keys | indexes | types
    | procedures | procedure_columns | table_privileges | column_privileges.

%% @equiv catalog(Conn, Kind, #{})
-spec catalog(conn(), catalog()) -> result().
catalog(Conn, Kind) ->
    catalog(Conn, Kind, #{}).

%% @doc A list from the catalog, with the same columns from every server. Patterns are those of LIKE.
-spec catalog(conn(), catalog(), #{catalog | schema | object | column | types => iodata()}) -> result().
catalog(Conn, Kind, Filter) ->
    Kinds = [
        databases, schemas, tables, columns, primary_keys, foreign_keys, indexes, types,
        procedures, procedure_columns, table_privileges, column_privileges
    ],
    #{Kind := Number} = maps:from_list(lists:zip(Kinds, lists:seq(1, length(Kinds)))),
    Patterns = [maps:get(Key, Filter, null) || Key <- [catalog, schema, object, column, types]],
    Deadline = deadline(Conn, #{}),
    case talk(Conn, catalog, list_to_tuple([Number | Patterns]), Deadline) of
        ok -> present(collect(Conn, Deadline, []), #{});
        Error -> Error
    end.

%% ---------------------------------------------------------------------------- session

%% @doc Cancel the running statement, from any process. `done': nothing was running. It waits up to 10 s for the pool.
-spec cancel(conn()) -> ok | done | {error, error()}.
cancel(Conn) -> cenote_nif:cancel(Conn).

-spec ping(conn()) -> ok | {error, error()}.
ping(Conn) -> simple(Conn, ping, {}).

%% @doc Reset the session to the state of a new login, and keep it.
-spec reset(conn()) -> ok | {error, error()}.
reset(Conn) -> simple(Conn, reset, {}).

-spec change_user(conn(), iodata(), iodata() | null, iodata() | null) -> ok | {error, error()}.
change_user(Conn, User, Password, Database) -> simple(Conn, change_user, {User, Password, Database}).

-spec select_database(conn(), iodata()) -> ok | {error, error()}.
select_database(Conn, Name) -> simple(Conn, select_database, {Name}).

-spec set_session_option(conn(), iodata(), iodata()) -> ok | {error, error()}.
set_session_option(Conn, Name, Value) -> simple(Conn, session_option, {Name, Value}).

-spec is_connected(conn()) -> boolean() | {error, error()}.
is_connected(Conn) -> simple(Conn, is_connected, {}).

%% @doc A fact of the session (cenote_info()): `backend', `server', `server_version', `database', ….
-spec info(conn(), atom() | iodata()) -> binary() | undefined | {error, error()}.
info(Conn, Name) -> simple(Conn, info, {option_text(Name)}).

%% @doc A parameter that the server reports of its own accord.
-spec parameter(conn(), atom() | iodata()) -> binary() | undefined | {error, error()}.
parameter(Conn, Name) -> simple(Conn, parameter, {option_text(Name)}).

%% @equiv tls_info(Conn, pool, Name)
-spec tls_info(conn(), atom() | iodata()) -> binary() | undefined | {error, error()}.
tls_info(Conn, Name) -> tls_info(Conn, pool, Name).

%% @doc The TLS parameters between program and pool, or between pool and server (cenote_tls_info()).
-spec tls_info(conn(), pool | server, atom() | iodata()) -> binary() | undefined | {error, error()}.
tls_info(Conn, pool, Name) -> simple(Conn, tls_info, {option_text(Name)});
tls_info(Conn, server, Name) -> simple(Conn, server_tls_info, {option_text(Name)}).

%% @doc What pins the session to this connection between transactions, in words; from the last reply.
-spec pins(conn()) -> [binary()] | {error, error()}.
pins(Conn) -> simple(Conn, pins, {}).

%% ---------------------------------------------------------------------------- waiting

simple(Conn, Op, Args) ->
    talk(Conn, Op, Args, deadline(Conn, #{})).

deadline(Conn, Options) ->
    case Options of
        #{timeout := Ms} -> deadline(Ms);
        _ -> deadline(cenote_nif:timeout(Conn))
    end.

deadline(infinity) -> infinity;
deadline(Ms) -> {cancel, now_ms() + Ms}.

now_ms() -> erlang:monotonic_time(millisecond).

%% Make a call, and repeat it until it need not wait.
talk(Conn, Op, Args, Deadline) ->
    case cenote_nif:talk(Conn, Op, Args) of
        again ->
            case await(Conn, Deadline) of
                ok -> talk(Conn, Op, Args, Deadline);
                expired -> overdue(Conn, Op, Args, Deadline);
                Error -> Error
            end;
        Answer ->
            Answer
    end.

%% Cancel a statement that takes too long. If it does not end then, close the session.
overdue(Conn, Op, Args, {cancel, _}) ->
    _ = cenote_nif:cancel(Conn),
    talk(Conn, Op, Args, {close, now_ms() + ?GRACE_MS});
overdue(Conn, _, _, {close, _}) ->
    _ = cenote_nif:close(Conn),
    failure(timeout, <<"HYT00">>, <<"no answer, also after it was cancelled: the connection is closed">>).

%% A new reference saves searching the mailbox for it.
await(Conn, Deadline) ->
    Ref = make_ref(),
    case cenote_nif:watch(Conn, Ref) of
        {error, _} = Error ->
            Error;
        {Ms, Messages} ->
            receive
                {select, _, Ref, _} when Messages =:= 1 -> ok;
                {select, _, Ref, _} -> unwatch(Conn, Ref)
            after wait_ms(Ms, Deadline) ->
                unwatch(Conn, Ref),
                expired(Deadline)
            end
    end.

wait_ms(Ms, infinity) -> Ms;
wait_ms(Ms, {_, At}) -> min(Ms, max(0, At - now_ms())).

expired(infinity) ->
    ok;
expired({_, At}) ->
    case now_ms() >= At of
        true -> expired;
        false -> ok
    end.

%% No message about it may stay in the mailbox.
unwatch(Conn, Ref) ->
    _ = cenote_nif:unwatch(Conn, Ref),
    flush(Ref).

flush(Ref) ->
    receive
        {select, _, Ref, _} -> flush(Ref)
    after 0 -> ok
    end.

failure(Status, Sqlstate, Message) ->
    {error, #{status => Status, sqlstate => Sqlstate, message => Message, native => 0}}.
