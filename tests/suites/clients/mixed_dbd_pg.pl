#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# DBD::Pg, which prepares a statement at its second execution: see Mixed.pm.
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
	$self->{db}->do($_) for "set time zone 'Etc/GMT-$self->{tenant}'",
		"set search_path = tenant_$self->{tenant}, public", "set app.tenant = '$self->{tenant}'";
}

sub own
{
	my ($self) = @_;
	my $t = $self->{tenant};
	Mixed::same 'own settings', $self->ask("select current_setting('app.tenant'), current_setting('TimeZone'),
		current_setting('application_name'), (select tenant from mine)"), [[$t, "Etc/GMT-$t", $self->{name}, $t]];
}

sub plain
{
	my ($self, $n) = @_;
	my $text = "it's \\ \"%s\" Grüße";
	Mixed::same 'plain', $self->ask("select count(*), sum(g) from generate_series(1, $n) g"), [[$n, $n * ($n + 1) / 2]];
	Mixed::same 'parameters', $self->ask('select ?::int + 1, ?::text, ?::text is null', $n, $text, undef),
		[[$n + 1, $text, 1]];
}

sub error
{
	my ($self) = @_;
	$self->fails('select 1/0', '22012');
	$self->fails('select 1', '25P02');
}

sub in_transaction
{
	my ($self) = @_;
	my ($db, $tenant) = @$self{qw(db tenant)};
	$db->begin_work;
	$db->do("set local app.tenant = 'local'");
	$db->do("set local timezone = 'Asia/Tokyo'");
	Mixed::same 'set local', $self->ask("select current_setting('app.tenant'), current_setting('TimeZone')"),
		[['local', 'Asia/Tokyo']];
	$db->commit;

	$db->begin_work;
	$db->do("declare c cursor for select g * $tenant from generate_series(1, 50) g");
	my @rows;
	while (my @part = @{$self->ask('fetch 20 from c')}) {
		push @rows, @part;
	}
	$db->commit;
	Mixed::same 'cursor', \@rows, [map { [$_ * $tenant] } 1 .. 50];
}

sub lock
{
	shift->ask('select pg_advisory_lock(7)::text');
}

sub unlock
{
	return shift->ask('select pg_advisory_unlock(7)');
}

my $self = main->new;
$self->{db} = DBI->connect("dbi:Pg:application_name=$self->{name}", '', '', { RaiseError => 1, PrintError => 0 });
$self->run;
