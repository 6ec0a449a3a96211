<?php
// SPDX-License-Identifier: BSD-2-Clause
// PHP's odbc extension on the table "things": see tests/suites/odbc_clients.

function check(string $name, $got, $wanted): void
{
	if ($got === $wanted)
		echo "ok $name\n";
	else
		echo "not ok $name: got ", json_encode($got), ", wanted ", json_encode($wanted), "\n";
}

// Of every row of a result the column of that name.
function column($result, string $name): array
{
	$values = [];
	while ($row = odbc_fetch_array($result))
		$values[] = array_change_key_case($row)[$name];
	return $values;
}

$fish = "Grüße \u{1F41F}";
$dsn = $argv[1];
$odbc = odbc_connect($dsn, '', '');
check('connect', is_resource($odbc), true);
check('data source', odbc_data_source($odbc, SQL_FETCH_FIRST)['server'], $dsn);

$result = odbc_exec($odbc, 'select id, name, price, made, made_at from things order by id');
check('fields', odbc_num_fields($result), 5);
check('name', odbc_field_name($result, 2), 'name');
check('precision', [odbc_field_precision($result, 3), odbc_field_scale($result, 3)], [10, 2]);
check('row', odbc_fetch_array($result),
	['id' => '1', 'name' => $fish, 'price' => '1.25', 'made' => '2024-02-29', 'made_at' => '2024-02-29 12:34:56']);
check('nulls', odbc_fetch_array($result),
	['id' => '2', 'name' => null, 'price' => null, 'made' => null, 'made_at' => null]);
check('into', [odbc_fetch_into($result, $row), $row[0]], [5, '3']);
check('end', odbc_fetch_row($result), false);
odbc_free_result($result);

$statement = odbc_prepare($odbc, 'select id from things where name = ?');
check('parameter', [odbc_execute($statement, [$fish]), odbc_fetch_row($statement), odbc_result($statement, 1)],
	[true, true, '1']);
odbc_free_result($statement);

// Rows of a cursor that scrolls, in any order.
$result = odbc_exec($odbc, 'select id from things order by id');
check('third', [odbc_fetch_row($result, 3), odbc_result($result, 'id')], [true, '3']);
check('first again', [odbc_fetch_row($result, 1), odbc_result($result, 1)], [true, '1']);
odbc_free_result($result);

// A long value comes in pieces.
$result = odbc_exec($odbc, 'select note, data from things where id = 1');
odbc_longreadlen($result, 200000);
odbc_binmode($result, ODBC_BINMODE_RETURN);
check('long', odbc_fetch_row($result) ? strlen(odbc_result($result, 1)) : 0, 100000);
check('binary', bin2hex(odbc_result($result, 2)), '00ff10');
odbc_free_result($result);

odbc_autocommit($odbc, false);
check('no autocommit', odbc_autocommit($odbc), 0);
$statement = odbc_prepare($odbc, 'insert into things (id, name, price, made) values (?, ?, ?, ?)');
check('insert', odbc_execute($statement, [10, 'ten', '10.25', '2001-02-03']), true);
check('count', odbc_num_rows($statement), 1);
odbc_rollback($odbc);
check('rollback', column(odbc_exec($odbc, 'select count(*) as n from things'), 'n'), ['3']);
odbc_execute($statement, [11, null, null, null]);
odbc_commit($odbc);
odbc_autocommit($odbc, true);
check('commit', column(odbc_exec($odbc, 'select name from things where id = 11'), 'name'), [null]);
odbc_exec($odbc, 'delete from things where id = 11');

check('error', @odbc_exec($odbc, 'select x from nowhere'), false);
check('state', odbc_error($odbc), 'S0002'); // as ODBC 2 called it
check('message', strpos(odbc_errormsg($odbc), 'nowhere') !== false, true);

check('tables', column(odbc_tables($odbc, null, null, 'things', 'TABLE'), 'table_name'), ['things']);
check('columns', column(odbc_columns($odbc, null, null, 'things', '%'), 'column_name'),
	['id', 'name', 'price', 'made', 'made_at', 'note', 'data']);
check('primary key', column(odbc_primarykeys($odbc, null, null, 'things'), 'column_name'), ['id']);
check('foreign key', column(odbc_foreignkeys($odbc, null, null, 'things', null, null, null), 'fktable_name'), ['parts']);
check('statistics', count(column(odbc_statistics($odbc, null, null, 'parts', SQL_INDEX_ALL, SQL_QUICK), 'type')) > 1, true);
check('row id', column(odbc_specialcolumns($odbc, SQL_BEST_ROWID, null, null, 'things', SQL_SCOPE_CURROW, SQL_NULLABLE),
	'column_name'), ['id']);
check('types', count(column(odbc_gettypeinfo($odbc), 'type_name')) > 4, true);
check('procedures', is_resource(odbc_procedures($odbc)), true);
check('procedure columns', is_resource(odbc_procedurecolumns($odbc)), true);
check('table privileges', is_resource(odbc_tableprivileges($odbc, null, null, 'things')), true);
check('column privileges', is_resource(odbc_columnprivileges($odbc, null, null, 'things', '%')), true);

odbc_close($odbc);
echo "ok to its end\n";
