# Progress lines with the seconds since the start, and the end of a script with a reason. Sourced.

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

# die CODE MESSAGE
die() {
    local code=$1
    shift
    printf '[%4d s] failed: %s\n' "$SECONDS" "$*" >&2
    exit "$code"
}

# timed FUNCTION: runs it in this shell, so that `set -e` holds inside it, and says how long it took.
timed() {
    local began=$SECONDS
    say "$1 …"
    "$1"
    say "$1: done in $((SECONDS - began)) s"
}
