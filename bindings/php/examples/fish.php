<?php
$db = new PDO('cenote:' . $argv[1]);
$db->exec('create temporary table fish (name varchar(20), length double precision)');
$add = $db->prepare('insert into fish values (:name, :length)');
foreach (['carp' => 61.5, 'cave fish' => 8.25] as $name => $length)
	$add->execute(['name' => $name, 'length' => $length]);
$find = $db->prepare('select * from fish where length < ?');
$find->execute([10]);
foreach ($find as $fish)
	echo "{$fish['name']}: {$fish['length']} cm\n";
