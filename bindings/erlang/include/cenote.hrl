%% SPDX-License-Identifier: BSD-2-Clause

%% A column of a result, or of a prepared statement.
-record(column, {
    name :: binary(),
    type :: cenote:type(),
    %% the server's name of the type, and the table as the query names it; <<>>: unknown
    type_name :: binary(),
    table :: binary(),
    %% the server's number of the type
    native_type :: integer(),
    %% -1: not known
    length :: integer(),
    precision :: integer(),
    scale :: integer(),
    %% 0: no, 1: yes, 2: not known
    nullable :: 0..2
}).
