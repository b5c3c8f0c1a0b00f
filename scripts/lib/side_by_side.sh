# Several commands at a time. Sourced after say.sh.

# side_by_side LANES COMMAND ARGUMENT...: runs COMMAND ARGUMENT for each, LANES at a time, says when each begins, and prints
# what it said once it has ended. Fails when any failed, after all have ended, with the ends of what those said once more.
side_by_side() {
    local lanes=$1 command=$2 argument folder failed
    shift 2
    folder=$(mktemp -d)
    for argument in "$@"; do
        while (($(jobs -rp | wc -l) >= lanes)); do
            wait -n || true
        done
        one_of_many "$folder/$argument" "$command" "$argument" &
    done
    wait
    failed=$(cd "$folder" && find . -name '*.failed' -printf '%f ')
    for argument in ${failed//.failed/}; do
        say "$argument failed, the end of what it said:"
        tail -n 80 "$folder/$argument.log"
    done
    rm -r "$folder"
    [[ -z $failed ]] || die 1 "${failed//.failed/}"
}

# one_of_many FILE COMMAND ARGUMENT: leaves FILE.failed when it fails.
one_of_many() {
    local began=$SECONDS
    say "$3 …"
    "$2" "$3" >"$1.log" 2>&1 || touch "$1.failed"
    cat "$1.log"
    say "$3: $((SECONDS - began)) s"
}
