#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# DBD::mysql, with statements that the server prepares: see Mixed.pm.
use strict;
use warnings;
use utf8;
use DBI;
use FindBin;
use lib $FindBin::Bin;
use parent 'Mixed';

sub set_own
{
	my ($self) = @_;
	my $t = $self->{tenant};
	$self->{db}->do(sprintf "set time_zone = '+%02d:00', group_concat_max_len = %d", $t, 1000 + $t);
	$self->{db}->do("set \@tenant = $t");
}

sub own
{
	my ($self) = @_;
	my $t = $self->{tenant};
	Mixed::same 'own settings', $self->ask('select @tenant, @@time_zone, @@group_concat_max_len'),
		[[$t, sprintf('+%02d:00', $t), 1000 + $t]];
}

sub plain
{
	my ($self, $n) = @_;
	my $text = "it's \\ \"%s\" Grüße";
	Mixed::same 'plain', $self->ask("select count(*), sum(seq) from seq_1_to_$n"), [[$n, $n * ($n + 1) / 2]];
	Mixed::same 'parameters', $self->ask('select ? + 1, concat(?), ? is null', $n, $text, undef), [[$n + 1, $text, 1]];
}

sub error
{
	my ($self) = @_;
	$self->fails('select * from nowhere', '42S02');
	$self->count('after the error', 0);
}

sub in_transaction
{
	my ($self) = @_;
	my ($db, $tenant) = @$self{qw(db tenant)};
	$db->begin_work;
	my $statement = $db->prepare("select seq * $tenant from seq_1_to_50", { mysql_use_result => 1, mysql_server_prepare => 0 });
	$statement->execute;
	my $rows = $statement->fetchall_arrayref;
	$db->commit;
	Mixed::same 'cursor', $rows, [map { [$_ * $tenant] } 1 .. 50];
}

sub lock
{
	Mixed::same 'lock', shift->ask("select get_lock('mixed', 100)"), [[1]];
}

sub unlock
{
	return shift->ask("select release_lock('mixed')");
}

my $self = main->new;
$self->{db} = DBI->connect("dbi:mysql:database=mixed;host=localhost;mysql_socket=$ENV{MIXED_SOCKET}", 'test', 'test',
	{ RaiseError => 1, PrintError => 0, mysql_enable_utf8mb4 => 1, mysql_server_prepare => 1 });
$self->run;
