<?php
// SPDX-License-Identifier: BSD-2-Clause
// A client of tests/bench/bindings.py: fetch.php DRIVER

function server_options(): array
{
	parse_str(strtr(getenv('CENOTE_TEST_SERVER'), ' ', '&'), $options);
	return $options;
}

function connect(string $driver): PDO
{
	$server = server_options();
	return match ($driver) {
		'cenote' => new PDO('cenote:' . getenv('CENOTE_TEST_URI')),
		'pdo_pgsql' => new PDO('pgsql:' . strtr(getenv('CENOTE_TEST_SERVER'), ' ', ';')),
		'pdo_mysql' => new PDO("mysql:unix_socket={$server['socket']};dbname={$server['dbname']}", $server['user']),
	};
}

function fetch(PDO $db): array
{
	return $db->query('select * from bench_rows')->fetchAll(PDO::FETCH_NUM);
}

$db = connect($argv[1]);
$rows = fetch($db);
if (count($rows) != 256 || count($rows[0]) != 16 || $rows[255][15] !== sprintf('%032d', 15)) {
	exit('other rows than those');
}
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
	$n = 0;
	$until = microtime(true) + (float)$line;
	for (; microtime(true) < $until; $n++) {
		fetch($db);
	}
	echo "$n\n";
}
