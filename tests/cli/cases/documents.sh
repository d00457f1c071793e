# SPDX-License-Identifier: MIT
# The command lines in the documents' sections "From a shell" print what stands below them.
root=${CASE_LIB%/*}/../..
ln -s "$root/samples" samples

is_whole() {
    case $1 in
    *\\) return 1 ;;
    esac
    sh -n -c "$1" 2>/dev/null # no quote is open
}

# transcript FILE: run the command lines of a document; print them with what they print.
transcript() {
    command=''
    while IFS= read -r line; do
        case $command$line in
        '$ '*) command=$command$line ;;
        *) continue ;; # what the document says that the last command prints
        esac
        if is_whole "${command#??}"; then
            printf '%s\n' "$command"
            eval "${command#??}" 2>&1
            command=
        else
            command="$command
"
        fi
    done <"$1"
}

for document in README.md samples/README.md; do
    awk '/^## / { on = $0 == "## From a shell" } on && sub(/^    /, "")' "$root/$document" >said
    [ -s said ] || echo "$document: no commands"
    transcript said >ran
    diff said ran
done
true
