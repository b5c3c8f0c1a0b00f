# Short names for what scripts/ and cargo do; nothing here needs just. `just` lists the recipes.

_list:
    @just --list --unsorted

# Lint and unit tests of the library code: the first green of a new clone
quick:
    scripts/test quick

# Every check; installs what the tests need
test *STEPS:
    scripts/test {{ STEPS }}

# One area: a folder of tests/, and a filter on the names of its tests
test-area NAME *FILTER:
    cargo test --locked --test {{ NAME }} -- {{ FILTER }}

# The room's tests alone
room *FILTER:
    cargo test --locked --package ropeline-room {{ FILTER }}

# What a visitor sees, in Chromium
browser:
    scripts/test browser

# The documentation of the code, and every link
docs:
    scripts/test docs

# What a request costs beside nginx, HAProxy and Caddy
bench *OPTIONS:
    scripts/bench {{ OPTIONS }}
