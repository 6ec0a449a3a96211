#!/usr/bin/env escript
main([Pool]) ->
    {ok, Db} = cenote:connect(Pool),
    {ok, _} = cenote:query(Db, "create temporary table fish (name varchar(20), length numeric(5, 2))"),
    %% placeholders are the server's own
    Add = case cenote:info(Db, backend) of
        <<"postgresql">> -> "insert into fish values ($1, $2)";
        _ -> "insert into fish values (?, ?)"
    end,
    {ok, _} = cenote:with_transaction(Db, fun(_) ->
        [{ok, 1} = cenote:query(Db, Add, [Name, Length]) || {Name, Length} <- [{"carp", 61.5}, {"cave fish", 8.25}]]
    end),
    {ok, _Columns, Rows} = cenote:query(Db, "select * from fish where length < 10"),
    [io:format("~s: ~s cm~n", [Name, Length]) || {Name, Length} <- Rows].
