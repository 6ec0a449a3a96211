#!/usr/bin/php
<?php
// SPDX-License-Identifier: BSD-2-Clause
// PHP's functions pg_*: see mixed.php.
require __DIR__ . '/mixed.php';

class Pgsql extends MixedPostgreSQL
{
	private PgSql\Connection $db;

	public function connect(): void
	{
		$this->db = pg_connect("application_name={$this->name}");
	}

	private function rows(PgSql\Result $result): array
	{
		if (pg_result_error($result) !== '')
			throw new Exception(pg_result_error_field($result, PGSQL_DIAG_SQLSTATE));
		return pg_fetch_all($result, PGSQL_NUM);
	}

	private function dollars(string $sql): string
	{
		$i = 0;
		return preg_replace_callback('/\?/', function () use (&$i) {
			return '$' . ++$i;
		}, $sql);
	}

	// The functions that send do not warn of an error.
	public function ask(string $sql, array $values = []): array
	{
		if ($values)
			pg_send_query_params($this->db, $this->dollars($sql), $values);
		else
			pg_send_query($this->db, $sql);
		$result = pg_get_result($this->db);
		while (pg_get_result($this->db))
			continue;
		return $this->rows($result);
	}

	public function sqlstate(Exception $e): string
	{
		return $e->getMessage();
	}

	public function prepared(string $sql, array $values): array
	{
		pg_prepare($this->db, 'ten', $this->dollars($sql));
		$rows = array_map(fn($value) => $this->rows(pg_execute($this->db, 'ten', [$value]))[0], $values);
		$this->ask('deallocate ten');
		return $rows;
	}
}

$program = new Pgsql($argv);
$program->connect();
$program->run();
