#!/usr/bin/env perl
# HTTP::DAV, a verb a call: perl client.pl VERB ARGUMENT…
# DAV_URL, DAV_USER and DAV_PASSWORD say which drive. Fails as the package does,
# and prints what the server answered.
use strict;
use warnings;
use HTTP::DAV;
use URI::Escape;

my $dav  = HTTP::DAV->new;
my $root = $ENV{DAV_URL};
$dav->credentials( -user => $ENV{DAV_USER}, -pass => $ENV{DAV_PASSWORD}, -url => "$root/" );
$dav->open( -url => "$root/" ) or die $dav->message, "\n";

my %verbs = (
    put    => sub { $dav->put( -local => $_[0], -url => "$root$_[1]" ) },
    get    => sub { $dav->get( -url => "$root$_[0]", -to => $_[1] ) },
    rename => sub { $dav->move( -url => "$root$_[0]", -dest => "$root$_[1]", -overwrite => 'T' ) },
    delete => sub { $dav->delete( -url => "$root$_[0]" ) },
    mkdir  => sub { $dav->mkcol( -url => "$root$_[0]" ) },
    list   => sub {
        my $folder = $dav->propfind( -url => "$root$_[0]", -depth => 1 ) or return;
        for my $member ( $folder->get_resourcelist->get_resources ) {
            my ($name) = uri_unescape( $member->get_uri ) =~ m{([^/]+)/?$};
            print "$name\n";
        }
        1;
    },
    # What an editor does: lock, write under the lock, unlock.
    edit => sub {
        my ( $file, $path ) = @_;
        $dav->lock( -url => "$root$path", -timeout => '10m' ) or return;
        my $saved = $dav->put( -local => $file, -url => "$root$path" );
        my $why   = $dav->message;
        $dav->unlock( -url => "$root$path" );
        warn "$why\n" unless $saved;
        $saved;
    },
);

my $verb = shift;
$verbs{$verb}->(@ARGV) or die $dav->message, "\n";
