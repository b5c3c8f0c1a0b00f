# A bare Debian 12 to try packages in. Sourced after say.sh and install.sh.

# debian FOLDER: into an empty folder. The first time takes ten minutes; it is kept in target/debian-12.tar.
debian() {
    local kept=target/debian-12.tar
    if [[ ! -f $kept ]]; then
        install_packages debootstrap
        debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,logrotate,ca-certificates bookworm "$1" >target/debian-12.log ||
            die 69 "no Debian 12 to be had (target/debian-12.log): $(tail -n 3 target/debian-12.log)"
        # Without lists apt keeps no caches, which a small disk has no room for.
        rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
        tar --directory "$1" --create --file "$kept.partial" .
        mv "$kept.partial" "$kept"
    else
        tar --directory "$1" --extract --file "$kept"
    fi
}
