#!/usr/bin/env perl
# How Mojolicious reads a request, in its own server: `perl readings.pl daemon -l http://127.0.0.1`. A line a value: the thing, the
# reader, the value in hexadecimal digits.
use Mojolicious::Lite -signatures;
use Mojo::Util 'encode';

sub leaves ($value) {
    return ref $value eq 'ARRAY' ? map { leaves($_) } @$value
        : ref $value eq 'HASH' ? map { leaves($_) } values %$value
        : defined $value ? "$value" : ();
}

sub lines ($thing, $reader, $value) {
    return join '', map { "$thing $reader " . unpack('H*', encode('UTF-8', $_)) . "\n" } leaves($value);
}

my $answer = sub ($c) {
    my $request = $c->req;
    my $said = lines('event', 'stash', $c->stash('event')) . lines('event', 'param', $c->param('event'));
    for my $name ('id', 'event_id') {
        $said .= lines($name, 'param', $c->param($name)) . lines($name, 'every_param', $c->every_param($name));
        $said .= lines($name, 'query_params', $request->query_params->every_param($name));
        $said .= lines($name, 'body_params', $request->body_params->every_param($name));
    }
    $said .= lines('user', 'header', $request->headers->header('X-User'));
    $said .= lines('sid', 'cookie', $c->cookie('sid')) . lines('sid', 'every_cookie', $c->every_cookie('sid'));
    $said .= lines('email', 'param', $c->every_param('email'));
    # It takes a body of any type for JSON.
    my $body = $request->json;
    $said .= lines('email', 'json', ref $body eq 'HASH' ? $body->{email} : undef);
    $c->render(text => $said, format => 'txt');
};

any '/event/#event' => $answer;
any '/event/#event/*rest' => $answer;
any '/*rest' => {rest => ''} => $answer;
STDOUT->autoflush(1);
app->secrets(['readings'])->log->level('fatal');
app->start;
