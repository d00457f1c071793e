# SPDX-License-Identifier: MIT
# Every command line in the documents prints what is below it. Command lines are indented and begin
# with "$ "; those of a document run in order in one folder. "..." stands for anything in what is
# printed, as tests/documents/agree says.
root=${CASE_LIB%/*}/../..

is_whole() {
    case $1 in
    *\\) return 1 ;;
    esac
    sh -n -c "$1" 2>/dev/null # no quote is open
}

# said DOCUMENT: its blocks of command lines with what they print, without their indentation.
said() {
    awk '
        match($0, /^ +\$ /) && !on { on = RLENGTH - 2 }
        on && match($0, /^ */) && RLENGTH < on { on = 0 }
        on { print substr($0, on + 1) }' "$1"
}

# transcript FILE: run the command lines of a document; print them with what they print.
transcript() {
    command=''
    while IFS= read -r line; do
        case $command$line in
        '$ '*) command=${command:+$command
}$line ;;
        *) continue ;; # what the document says that the last command prints
        esac
        if is_whole "${command#??}"; then
            printf '%s\n' "$command"
            eval "${command#??}" 2>&1 </dev/null
            command=
        fi
    done <"$1"
}

count=0
for document in "$root"/*.md "$root"/docs/*.md "$root"/*/README.md; do
    name=${document#"$root"/}
    mkdir folder
    ln -s "$root/samples" folder/samples
    said "$document" >said
    (cd folder && transcript ../said) >ran
    "$root/tests/documents/agree" said ran >difference || { echo "$name" && cat difference; }
    count=$((count + $(grep -c '^\$ ' said)))
    rm -rf folder
done
[ $count -ge 30 ] || echo "only $count command lines were found in the documents"
