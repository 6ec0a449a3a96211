#!/usr/bin/php
<?php
// SPDX-License-Identifier: BSD-2-Clause
// PDO pgsql, which prepares each statement that has parameters: see mixed.php.
require __DIR__ . '/mixed_pdo.php';

class PdoPgsql extends MixedPostgreSQL
{
	use MixedPdo;

	public function connect(): void
	{
		$this->db = new PDO("pgsql:application_name={$this->name}");
		// A statement that is executed once has no name on the server, as PDO can be told.
		$this->db->setAttribute(PDO::PGSQL_ATTR_DISABLE_PREPARES, $this->simple);
	}

	public function ask(string $sql, array $values = []): array
	{
		if (!$values)
			return $this->db->query($sql)->fetchAll(PDO::FETCH_NUM);
		$statement = $this->db->prepare($sql);
		$statement->execute($values);
		return $statement->fetchAll(PDO::FETCH_NUM);
	}
}

$program = new PdoPgsql($argv);
$program->connect();
$program->run();
