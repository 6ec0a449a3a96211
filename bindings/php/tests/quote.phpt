--TEST--
Quoting is right for the server, and refuses what cannot be quoted
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
foreach (["", "plain", "it's", "back\\slash", "line\nbreak", '"both"', "grün", "\\'"] as $text)
	if ($db->query('select ' . $db->quote($text))->fetchColumn() !== $text)
		echo 'not the same: ', $db->quote($text), "\n";
$bytes = "\0\1\xff'\\";
$back = $db->query('select ' . $db->quote($bytes, PDO::PARAM_LOB))->fetchColumn();
echo $back === $bytes ? 'bytes' : bin2hex($back), "\n";
$quoted = $db->quote("a\0b");
echo $quoted === false || $db->query("select $quoted")->fetchColumn() === "a\0b" ? 'kept or refused' : 'lost', "\n";
?>
--EXPECT--
bytes
kept or refused
