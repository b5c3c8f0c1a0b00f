# Answers --help with the comment at the top of the calling script. Sourced before anything is done, and before any cd.
case ${1:-} in -h | --help)
    sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0"
    exit
    ;;
esac
