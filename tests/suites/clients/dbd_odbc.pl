#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# DBD::ODBC on the table "things": see tests/suites/odbc_clients.
use strict;
use warnings;
use utf8;
use DBI qw(:sql_types);

binmode STDOUT, ':utf8';

sub check
{
	my ($name, $got, $wanted) = @_;
	my ($a, $b) = map { join '|', map { defined $_ ? $_ : 'undef' } @$_ } $got, $wanted;
	print $a eq $b ? "ok $name\n" : "not ok $name: got $a, wanted $b\n";
}

sub ids
{
	my ($result) = @_;
	return [map { $_->[0] } @{$result->fetchall_arrayref}];
}

my $fish = "Grüße \x{1F41F}";
my $db = DBI->connect("dbi:ODBC:$ARGV[0]", '', '',
	{ RaiseError => 1, PrintError => 0, AutoCommit => 1, odbc_utf8_on => 1, LongReadLen => 400_000 });

check 'row', $db->selectrow_arrayref('select id, name, price, made, made_at from things where id = 1'),
	[1, $fish, '1.25', '2024-02-29', '2024-02-29 12:34:56'];
check 'nulls', $db->selectrow_arrayref('select id, name, price, made, made_at from things where id = 2'),
	[2, undef, undef, undef, undef];
check 'long', [length $db->selectrow_arrayref('select note from things where id = 1')->[0]], [100_000];

my $find = $db->prepare('select id from things where id > ? order by id');
$find->execute(1);
check 'number', ids($find), [2, 3];
$find->bind_param(1, 2, SQL_INTEGER);
$find->execute;
check 'typed', ids($find), [3];

my $insert = $db->prepare('insert into things (id, name, price) values (?, ?, ?)');
check 'insert', [$insert->execute(10, 'ten', '10.25')], [1];
my $status = [];
$insert->execute_array({ ArrayTupleStatus => $status }, [11 .. 60], [map { "n$_" } 11 .. 60], [(undef) x 50]);
check 'array', [scalar @$status, $db->selectrow_array('select count(*) from things where id > 10')], [50, 50];
check 'nothing but null', [$db->selectrow_array('select count(price) from things where id > 10')], [0];

my $binary = $db->prepare('update things set data = ?, note = ? where id = 10');
$binary->bind_param(1, join('', map { chr } 0 .. 255), SQL_LONGVARBINARY);
$binary->bind_param(2, 'x' x 300_000, SQL_LONGVARCHAR);
check 'long values', [$binary->execute], [1];
my ($data, $note) = $db->selectrow_array('select data, note from things where id = 10');
check 'binary', [length $data, ord(substr $data, 200, 1)], [256, 200];
check 'read back', [length $note], [300_000];

$db->begin_work;
$db->do('delete from things where id > 3');
$db->rollback;
check 'rollback', [$db->selectrow_array('select count(*) from things')], [54];
$db->begin_work;
check 'delete', [$db->do('delete from things where id > 3')], [51];
$db->commit;

check 'error', [eval { $db->do('select x from nowhere'); 1 }, substr($db->state, 0, 3)], ['42S'];
check 'tables', [map { $_->{TABLE_NAME} } @{$db->table_info(undef, undef, 'things', 'TABLE')->fetchall_arrayref({})}],
	['things'];
check 'columns', [map { $_->{COLUMN_NAME} } @{$db->column_info(undef, undef, 'things', '%')->fetchall_arrayref({})}],
	[qw(id name price made made_at note data)];
check 'primary key', [$db->primary_key(undef, undef, 'things')], ['id'];
check 'foreign key', [map { $_->{FKTABLE_NAME} || $_->{FK_TABLE_NAME} }
		@{$db->foreign_key_info(undef, undef, 'things', undef, undef, undef)->fetchall_arrayref({})}], ['parts'];
check 'types', [@{$db->type_info_all} > 5], [1];
check 'driver', [$db->get_info(6)], ['libcenoteodbc.so'];
check 'ping', [$db->ping], [1];

my $describe = $db->prepare('select id, price from things');
$describe->execute;
check 'described', [$describe->{NUM_OF_FIELDS}, $describe->{PRECISION}[1], $describe->{SCALE}[1]], [2, 10, 2];
$describe->finish;
$db->disconnect;
print "ok to its end\n";
