%% SPDX-License-Identifier: BSD-2-Clause

%% A column of a result, or of a prepared statement.
-record(column, {
    name :: binary(),
    type :: cenote:type(),
    %% the server's own name of the type, and the table as the query named it; <<>>: it does not tell
    type_name :: binary(),
    table :: binary(),
    %% the server's own number of the type
    native_type :: integer(),
    %% -1: not known
    length :: integer(),
    precision :: integer(),
    scale :: integer(),
    %% 0: no, 1: yes, 2: not known
    nullable :: 0..2
}).
