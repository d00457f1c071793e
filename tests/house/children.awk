# SPDX-License-Identifier: MIT
#
# Children of fork() say nothing to Criterion: on Debian 13 they would wait for ever for an answer. In: tests,
# headers first. Out: each place behind a fork(), up to the end of the child's block, that names a cr_ function,
# a macro with one, or a function of the file or of a header that leads to one.

# What a name means in a file: its own, else that of a header.
function key(list, file, name) { return (file, name) in list ? file SUBSEP name : SUBSEP name }

# The word in `code` by which it says something, or "".
function speaks(file, code,    word, name, at) {
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
        if (word ~ /^cr_/ || macro[key(macro, file, word)]) return word
        at = key(text, file, word)
        if (!(at in text) || (at in asked) || code !~ /^\(/) continue
        asked[at] = 1
        name = speaks(file, text[at])
        if (name != "") return word "(), " name
    }
    return ""
}

FNR == 1 { home = FILENAME ~ /\.h$/ ? "" : FILENAME; name = "" }
{ line = $0; sub(/\/\*.*\*\//, "", line) }
joined != "" || line ~ /^#define / { # a macro, all of its lines
    more = sub(/\\$/, "", line)
    joined = joined " " line
    if (!more) {
        split(joined, word, /[ (]+/)
        code = joined
        sub(/^ #define [A-Za-z_0-9]+/, "", code)
        split("", asked)
        macro[home, word[3]] = speaks(home, code) != ""
        joined = ""
    }
    next
}
line ~ /^[a-zA-Z].*\(/ && line !~ /;$/ { # a function begins, or a Test()
    name = line
    if (name ~ /^Test\(/) gsub(/^Test\(|[ )].*$/, "", name)
    sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
}
line ~ /^[}]/ { name = "" }
name != "" && line !~ /^[a-zA-Z]/ {
    text[home, name] = text[home, name] line "\n"
    if (line ~ /fork\(\)/) { forks++; file[forks] = FILENAME; from[forks] = FNR; deep = 0; opened = 0; open = forks }
    if (open) {
        child[open] = child[open] line "\n"
        was = deep
        deep += gsub(/[{]/, "{", line) - gsub(/[}]/, "}", line)
        if (deep > 0) opened = 1
        if (opened && deep <= 0 || line ~ /;$/ && !opened && line ~ /fork\(\)\);/) open = 0
    }
}
line ~ /^[}]/ { open = 0 }
END {
    for (k = 1; k <= forks; k++) {
        split("", asked)
        said = speaks(file[k], child[k])
        if (said != "") print "  " file[k] ":" from[k] ": " said
    }
}
