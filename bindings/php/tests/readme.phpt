--TEST--
The program in README.md
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc"; ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
preg_match('/^```php\n(.*?)^```/ms', file_get_contents(__DIR__ . '/../README.md'), $found);
echo $found[1] === file_get_contents(__DIR__ . '/../examples/fish.php') ? '' : "README shows another program\n";
$argv[1] = getenv('CENOTE_TEST_URI');
require __DIR__ . '/../examples/fish.php';
?>
--EXPECT--
cave fish: 8.25 cm
