<?php
// SPDX-License-Identifier: BSD-2-Clause
// What the PHP programs of tests/suites/mixed do in each round, and the answers that they must get: as mixed.py.
//
// A program says in a subclass how its library does ask(sql, values), which returns rows, prepared(sql, values), and sqlstate(error).
// Placeholders are "?".
abstract class Program
{
	public int $tenant;
	public int $rounds;
	public bool $simple;
	public string $name;

	public function __construct(array $arguments)
	{
		$this->tenant = (int)$arguments[1];
		$this->rounds = (int)$arguments[2];
		$this->simple = ($arguments[3] ?? '') === 'simple';
		$this->name = "mixed-{$this->tenant}";
	}

	// Libraries differ in whether they convert numbers and booleans.
	public function same(string $what, array $got, array $wanted): void
	{
		if (json_encode($this->texts($got)) === json_encode($this->texts($wanted)))
			return;
		fprintf(STDERR, "%s: got %s, wanted %s\n", $what, json_encode($got), json_encode($wanted));
		exit(1);
	}

	private function texts(array $rows): array
	{
		return array_map(fn($row) => array_map(fn($v) => $v === null ? null : (string)$v, array_values($row)), $rows);
	}

	public function fails(string $sql, string $state): void
	{
		try {
			$this->ask($sql);
		} catch (Exception $e) {
			$this->same($sql, [[$this->sqlstate($e)]], [[$state]]);
			return;
		}
		$this->same($sql, [['no error']], [[$state]]);
	}

	public function count(string $what, int $n): void
	{
		$this->same($what, $this->ask('select count(*) from entry where tenant = ?', [$this->tenant]), [[$n]]);
	}

	public function delete(): void
	{
		$this->ask('delete from entry where tenant = ?', [$this->tenant]);
		$this->count('delete', 0);
	}

	public function begin(): void
	{
		$this->ask('begin');
	}

	public function commit(): void
	{
		$this->ask('commit');
	}

	public function rollBack(): void
	{
		$this->ask('rollback');
	}

	public function transactions(int $n): void
	{
		$this->begin();
		$this->ask('update account set n = n + 1 where tenant = ?', [$this->tenant]);
		$this->ask('insert into entry values (?, ?)', [$this->tenant, $n]);
		$this->commit();
		$this->same('commit', $this->ask('select n from account where tenant = ?', [$this->tenant]), [[$n]]);

		$this->begin();
		$this->delete();
		$this->rollBack();
		$this->count('rollback', $n);

		$this->begin();
		$this->ask('insert into entry values (?, ?)', [$this->tenant, -$n]);
		$this->ask('savepoint s');
		$this->delete();
		$this->ask('rollback to savepoint s');
		$this->count('savepoint', $n + 1);
		$this->ask('delete from entry where tenant = ? and n < 0', [$this->tenant]);
		$this->ask('release savepoint s');
		$this->commit();
		$this->count('savepoint released', $n);

		$this->begin();
		$this->delete();
		$this->error();
		$this->rollBack();
		$this->count('error', $n);
	}

	public function temporary(): void
	{
		$this->ask('create temporary table scratch (g int)');
		$this->ask('insert into scratch values (?), (15)', [$this->tenant]);
		$this->same('temporary table', $this->ask('select sum(g) from scratch'), [[15 + $this->tenant]]);
		$this->ask('drop table scratch');
	}

	// Without the lock, the programs would overwrite each other's numbers.
	public function locked(): void
	{
		$this->lock();
		$n = $this->ask('select n from shared')[0];
		$this->ask('update shared set n = ?', [(int)reset($n) + 1]);
		$this->unlock();
	}

	public function run(): void
	{
		if (!$this->simple)
			$this->setOwn();
		for ($n = 1; $n <= $this->rounds; $n++) {
			$this->plain($n);
			$this->transactions($n);
			$this->inTransaction();
			if ($this->simple)
				continue;
			$this->own();
			$sql = "select cast(? as int) * 100 + {$this->tenant} from account where tenant = {$this->tenant}";
			$this->same('prepared', $this->prepared($sql, range(0, 9)),
				array_map(fn($i) => [$i * 100 + $this->tenant], range(0, 9)));
			$this->temporary();
			$this->locked();
			$this->own();
		}
		echo "{$this->rounds} rounds\n";
	}
}

abstract class MixedPostgreSQL extends Program
{
	public function setOwn(): void
	{
		$this->ask("set time zone 'Etc/GMT-{$this->tenant}'");
		$this->ask("set search_path = tenant_{$this->tenant}, public");
		$this->ask("set app.tenant = '{$this->tenant}'");
	}

	public function own(): void
	{
		$this->same('own settings', $this->ask("select current_setting('app.tenant'), current_setting('TimeZone') as zone,
			current_setting('application_name') as name, (select tenant from mine)"),
			[[$this->tenant, "Etc/GMT-{$this->tenant}", $this->name, $this->tenant]]);
	}

	public function plain(int $n): void
	{
		$text = "it's \\ \"%s\" Grüße";
		$this->same('plain', $this->ask("select count(*), sum(g) from generate_series(1, $n) g"), [[$n, $n * ($n + 1) / 2]]);
		$this->same('parameters', $this->ask('select cast(? as int) + 1 as a, cast(? as text) as b, cast(? as text) as c',
			[$n, $text, null]), [[$n + 1, $text, null]]);
	}

	public function error(): void
	{
		$this->fails('select 1/0', '22012');
		$this->fails('select 1', '25P02');
	}

	public function inTransaction(): void
	{
		$this->begin();
		$this->ask("set local app.tenant = 'local'");
		$this->ask("set local timezone = 'Asia/Tokyo'");
		$this->same('set local', $this->ask("select current_setting('app.tenant'), current_setting('TimeZone') as zone"),
			[['local', 'Asia/Tokyo']]);
		$this->commit();

		$this->begin();
		$this->ask("declare c cursor for select g * {$this->tenant} from generate_series(1, 50) g");
		for ($rows = []; $part = $this->ask('fetch 20 from c'); $rows = array_merge($rows, $part))
			continue;
		$this->commit();
		$this->same('cursor', $rows, array_map(fn($g) => [$g * $this->tenant], range(1, 50)));
	}

	public function lock(): void
	{
		$this->ask('select cast(pg_advisory_lock(7) as text)');
	}

	public function unlock(): void
	{
		$this->same('unlock', $this->ask('select cast(pg_advisory_unlock(7) as int)'), [[1]]);
	}
}

abstract class MixedMariaDB extends Program
{
	private function zone(): string
	{
		return sprintf('+%02d:00', $this->tenant);
	}

	public function setOwn(): void
	{
		$this->ask("set time_zone = '{$this->zone()}', group_concat_max_len = " . (1000 + $this->tenant));
		$this->ask("set @tenant = {$this->tenant}");
	}

	public function own(): void
	{
		$this->same('own settings', $this->ask('select @tenant, @@time_zone, @@group_concat_max_len'),
			[[$this->tenant, $this->zone(), 1000 + $this->tenant]]);
	}

	public function plain(int $n): void
	{
		$text = "it's \\ \"%s\" Grüße";
		$this->same('plain', $this->ask("select count(*), sum(seq) from seq_1_to_$n"), [[$n, $n * ($n + 1) / 2]]);
		$this->same('parameters', $this->ask('select ? + 1, concat(?), concat(?)', [$n, $text, null]), [[$n + 1, $text, null]]);
	}

	public function error(): void
	{
		$this->fails('select * from nowhere', '42S02');
		$this->count('after the error', 0);
	}

	public function inTransaction(): void
	{
		$this->begin();
		$rows = $this->ask("select seq * {$this->tenant} from seq_1_to_50");
		$this->commit();
		$this->same('rows', $rows, array_map(fn($g) => [$g * $this->tenant], range(1, 50)));
	}

	public function lock(): void
	{
		$this->same('lock', $this->ask("select get_lock('mixed', 100)"), [[1]]);
	}

	public function unlock(): void
	{
		$this->same('unlock', $this->ask("select release_lock('mixed')"), [[1]]);
	}
}
