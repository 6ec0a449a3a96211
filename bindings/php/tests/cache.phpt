--TEST--
Results in files
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$dir = sys_get_temp_dir() . '/php_cache_' . getmypid();
mkdir($dir, 0700);
$db = connect();
$db->exec('drop table if exists php_page');
$db->exec('create table php_page (v int)');
$db->exec('insert into php_page values (1)');
for ($i = 0; $i < 2; $i++) {
	$reader = new PDO('cenote:' . getenv('CENOTE_TEST_URI') . "&cache=$dir&cache_ttl=1min");
	echo $reader->query('select v from php_page')->fetchColumn(), "\n";
	$db->exec('update php_page set v = 2');
}
$db->exec('drop table php_page');
$files = glob("$dir/*");
echo count($files), " file\n";
array_map('unlink', $files);
rmdir($dir);
?>
--EXPECT--
1
1
1 file
