%% SPDX-License-Identifier: BSD-2-Clause
%% @private Writes lists among the parameters as PostgreSQL arrays.
-module(cenote_array).

-export([is_in/1, text/1]).

%% A list of integers is a text, unless it is marked as an array.
is_array({array, _}) -> true;
is_array(Value) -> is_list(Value) andalso not is_text(Value).

is_text([Char | Rest]) -> is_integer(Char) andalso is_text(Rest);
is_text(Rest) -> Rest =:= [].

%% The number of the first array of a list of parameters; `none'.
-spec is_in(term()) -> pos_integer() | none.
is_in(Params) -> is_in(Params, 1).

is_in([Param | Rest], Number) ->
    case is_array(Param) of
        true -> Number;
        false -> is_in(Rest, Number + 1)
    end;
is_in(_, _) ->
    none.

%% A parameter without arrays; `error': an element cannot be bound.
-spec text(cenote:param()) -> {ok, cenote:param()} | error.
text(Param) ->
    try
        {ok,
            case is_array(Param) of
                true -> element(Param);
                false -> Param
            end}
    catch
        error:_ -> error
    end.

element({array, List}) -> ["{", lists:join(",", [element(Item) || Item <- List]), "}"];
element(Null) when Null =:= null; Null =:= undefined -> "NULL";
element(nan) -> "NaN";
element(infinity) -> "Infinity";
element('-infinity') -> "-Infinity";
element(Bool) when is_boolean(Bool) -> atom_to_list(Bool);
element(Number) when is_integer(Number) -> integer_to_list(Number);
element(Number) when is_float(Number) -> float_to_list(Number, [short]);
element({decimal, Text}) -> quote(iolist_to_binary(Text));
element({bytes, Bytes}) -> quote(<<"\\x", (binary:encode_hex(iolist_to_binary(Bytes)))/binary>>);
element({time, Clock}) -> quote(clock(Clock));
element({_, _, _} = Date) -> quote(date(Date));
element({{_, _, _} = Date, {_, _, _} = Clock}) -> quote([date(Date), " ", clock(Clock)]);
element({{Date, Clock}, Offset}) -> quote([date(Date), " ", clock(Clock), offset(Offset)]);
element({Clock, Offset}) -> quote([clock(Clock), offset(Offset)]);
element(Text) when is_binary(Text) -> quote(Text);
element(List) ->
    case is_text(List) of
        true -> quote(list_to_binary(List));
        false -> element({array, List})
    end.

quote(Text) when is_binary(Text) ->
    [$", binary:replace(Text, [<<"\\">>, <<"\"">>], <<"\\">>, [global, {insert_replaced, 1}]), $"];
quote(Text) ->
    quote(iolist_to_binary(Text)).

date({Year, Month, Day}) -> io_lib:format("~4..0w-~2..0w-~2..0w", [Year, Month, Day]).

clock({Hour, Minute, Second}) when is_integer(Second) ->
    io_lib:format("~2..0w:~2..0w:~2..0w", [Hour, Minute, Second]);
clock({Hour, Minute, Second}) ->
    io_lib:format("~2..0w:~2..0w:~9.6.0f", [Hour, Minute, Second]).

offset(Seconds) ->
    Sign = if Seconds < 0 -> "-"; true -> "+" end,
    Abs = abs(Seconds),
    [Sign | io_lib:format("~2..0w:~2..0w:~2..0w", [Abs div 3600, Abs div 60 rem 60, Abs rem 60])].
