<?php
// SPDX-License-Identifier: BSD-2-Clause
// No memory is lost over 10^5 queries of all kinds: on_pool BACKEND 2 php leak.php

const WARM_UP = 20_000;
const QUERIES = 100_000;
// Of the allocator; one byte lost with each query would be 100 kB.
const MAY_GROW_KB = 1024;

function rss_kb(): int
{
	gc_collect_cycles();
	gc_mem_caches();
	return (int)explode(' ', file_get_contents('/proc/self/statm'))[1] * 4;
}

function refused(callable $call): void
{
	try {
		$call();
	} catch (PDOException) {
		return;
	}
	exit("that was to be refused\n");
}

function work(PDO $db, int $count): void
{
	for ($i = 0; $i < $count / 10; $i++) {
		for ($k = 0; $k < 3; $k++) {
			$db->query("select 1.5, null, 'text'")->fetchAll();
		}
		$one = $db->prepare('select ?');
		$one->execute([str_repeat('x', $i % 100)]);
		$one->execute([(string)$i]);
		$one->fetch(PDO::FETCH_NUM);
		$named = $db->prepare('select :a');
		$named->bindValue('a', $i, PDO::PARAM_STR);
		$named->execute();
		$named->getColumnMeta(0);
		$streamed = $db->prepare('select 1 union all select 2 union all select 3', [PDO::ATTR_PREFETCH => 1]);
		$streamed->execute();
		$streamed->fetch();
		$streamed->closeCursor();
		$db->quote("it's");
		refused(fn () => $db->query('select nothing_like_it'));
		refused(fn () => $db->prepare('select ?')->execute([]));
	}
}

$db = new PDO('cenote:' . getenv('CENOTE_TEST_URI'));
work($db, WARM_UP);
$before = rss_kb();
work($db, QUERIES);
$grown = rss_kb() - $before;
echo "$grown kB more after ", QUERIES, " queries\n";
exit($grown < MAY_GROW_KB ? 0 : 1);
