/* SPDX-License-Identifier: MIT
 *
 * The help of one command, printed from what its file says about it: words, text, examples, and the
 * table of options, which also parses them.
 */
#include "cli.h"

#include <stdio.h>

const char cli_signature_help[] =
    "IN and OUT declare parameters as \"TYPE NAME, ...\": a NumPy or C type (float32, int), or a\n"
    "letter that stands for any one type; \"raw\" before it gives indexing instead of "
    "broadcasting.\n";

const char cli_value_help[] =
    "VALUE of an input:\n"
    "  x.npy                a file; with a view in NumPy's syntax: x.npy[::2, 1:], x.npy.T,\n"
    "                       x.npy.reshape(2, -1).astype(float32), x.npy.real\n"
    "  x.npz[NAME]          an array of an archive of numpy.savez, also with a view\n"
    "  -                    standard input, an NPY file; also with a view: -[::2]\n"
    "  ./x, file:x          a file without the ending, shown by its folder; or with any name\n"
    "  KIND:DTYPE:SHAPE     generated: empty, zeros, ones, arange or random; also with a view:\n"
    "                       random:float32:1000x200.T, arange:int64:12[::-1], ones:bool:()\n"
    "  full:DTYPE:SHAPE:V   and: arange:DTYPE:START:STOP[:STEP], linspace:DTYPE:START:STOP:N,\n"
    "                       eye:DTYPE:N[xM]\n"
    "  2, 2.5, 1+2j, true   a number, of the type that its parameter has\n"
    "  float32:2.5          a number of a stated type\n"
    "VALUE of an output:\n"
    "  out.npy              allocated and saved\n"
    "  out.npz[NAME]        the same in an archive, whose other arrays stay; [NAME] may be left "
    "out\n"
    "  -                    printed; -.npy is written to standard output as an NPY file\n"
    "  IN[VIEW]:out.npy     starts as IN, a file or generator; the kernel writes into the view, "
    "and\n"
    "                       the view is saved\n"
    "  IN[VIEW]:-           the same, printed instead of saved\n"
    "  KIND:DTYPE:SHAPE     starts so; neither saved nor printed\n"
    "  left out             allocated and printed\n"
    "\n"
    "@FILE in the place of a text (IN, OUT, code) reads it from a file, @- from standard input; a\n"
    "text that begins with @ is written @@. Numbers alone make outputs without dimensions.\n"
    "With --show-source, --show-ptx or --explain nothing is computed, unless --time is given: it\n"
    "saves and prints what the first call computes, and then repeats the call. Put what has "
    "brackets\n"
    "or * into quotes: 'x.npy[1:]'.\n";

const char *cli_command_words(const cli_command *command)
{
    const char *text = "";
    for (size_t k = 0; k < command->word_count; k++) {
        text = cli_sprintf("%s %s", text, command->words[k]);
    }
    return text;
}

/* The commands in a command, a line each. */
static void print_parts(const cli_command *command)
{
    if (command->parts) {
        puts("");
    }
    for (size_t k = 0; command->parts && k < command->choice_count; k++) {
        const cli_command *part = command->parts[k];
        printf("  %-14s %s\n", cli_sprintf("%s%s", command->choices[k], cli_command_words(part)),
               part->summary);
    }
}

void cli_command_help(const cli_command *command)
{
    const char *const paragraphs[] = {command->text, command->signature, command->values,
                                      command->examples};
    printf("usage: quern %s%s%s\n", command->name, cli_command_words(command), command->usage);
    printf("\n%s\n", command->summary);
    print_parts(command);
    for (size_t k = 0; k < CLI_COUNT(paragraphs); k++) {
        if (paragraphs[k]) {
            printf("\n%s", paragraphs[k]);
        }
    }
    if (command->option_count > 0) {
        puts("\noptions:");
    }
    for (size_t k = 0; k < command->option_count; k++) {
        const cli_option *o = &command->options[k];
        char left[64];
        bool optional = o->kind == CLI_COUNT_OF;
        snprintf(left, sizeof left, "--%s%s%s%s%s", o->name, optional ? "[" : "",
                 o->value ? "=" : "", o->value ? o->value : "", optional ? "]" : "");
        printf("  %-26s %s\n", left, o->help);
    }
}
