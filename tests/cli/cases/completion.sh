# SPDX-License-Identifier: MIT
# The installed completions are what the command prints from its tables; those of bash work.
. "$CASE_LIB"
root=${CASE_LIB%/*}/../..
for shell in bash zsh fish; do
    quern completion $shell >printed
    case $shell in zsh) file=_quern ;; *) file=quern.$shell ;; esac
    diff "$root/completions/$file" printed >changed ||
        echo "completions/$file is old: quern completion $shell >completions/$file"
done
try quern completion csh
command -v bash >/dev/null || { echo 'no bash' >&2 && exit 77; }
complete() {
    bash -c '
        compopt() { :; }
        . "$0"
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _quern
        echo "${COMPREPLY[@]}"' "$root/completions/quern.bash" "$@"
}
for shell in zsh fish; do
    file=$root/completions/$([ $shell = zsh ] && echo _quern || echo quern.fish)
    ! command -v $shell >/dev/null || $shell -n "$file"
done
touch array.npy
complete quern el
complete quern reduce --ke
complete quern reduce --no-such
complete quern cache s
complete quern cache st
complete quern cache prune --u
complete quern tune reduce --keep
complete quern help ra
complete quern elementwise x = arr
