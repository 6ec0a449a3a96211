%% SPDX-License-Identifier: BSD-2-Clause
%% A gen_server that owns a session, for a supervisor:
%%
%%     #{id => fish_keeper, start => {fish_keeper, start_link, ["cenote:///demo"]}}
%%
%% When it dies, its session goes back to the pool, and the supervisor starts another process, which borrows the
%% next session. So an error that cannot be handled here is an exit.
-module(fish_keeper).
-behaviour(gen_server).

-export([start_link/1, add/1, names/0]).
-export([init/1, handle_call/3, handle_cast/2]).

start_link(Pool) -> gen_server:start_link({local, ?MODULE}, ?MODULE, Pool, []).

add(Name) -> gen_server:call(?MODULE, {add, Name}).

names() -> gen_server:call(?MODULE, names).

init(Pool) ->
    case cenote:connect(Pool, #{timeout => 5000}) of
        {ok, Db} ->
            {ok, _} = cenote:query(Db, "create temporary table kept (name varchar(20))"),
            {ok, Db};
        {error, Error} ->
            {stop, Error}
    end.

handle_call({add, Name}, _From, Db) ->
    Sql =
        case cenote:info(Db, backend) of
            <<"postgresql">> -> "insert into kept values ($1)";
            _ -> "insert into kept values (?)"
        end,
    {ok, 1} = cenote:query(Db, Sql, [Name]),
    {reply, ok, Db};
handle_call(names, _From, Db) ->
    {ok, _Columns, Rows} = cenote:query(Db, "select name from kept"),
    {reply, [Name || {Name} <- Rows], Db}.

handle_cast(_, Db) -> {noreply, Db}.
