/* SPDX-License-Identifier: MIT
 *
 * quern completion: what a shell needs to complete command lines of quern, printed from the same
 * tables as the help. The files in completions/ are what it prints; a test compares them.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* Print `text` as it goes between single quotes; the characters in `special` get a backslash. */
static void quoted(const char *text, const char *special, const char *quote)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            fputs(quote, stdout);
        } else {
            printf("%s%c", strchr(special, *p) ? "\\" : "", *p);
        }
    }
}

static bool takes_value(const cli_option *option)
{
    return option->value && option->kind != CLI_COUNT_OF;
}

/* The words that may follow a command, with blanks between them. */
static void print_choices(const cli_command *command)
{
    for (size_t k = 0; command == &cmd_help && k < cli_command_count; k++) {
        printf("%s%s", k > 0 ? " " : "", cli_commands[k]->name);
    }
    for (size_t k = 0; k < command->choice_count; k++) {
        printf("%s%s", k > 0 ? " " : "", command->choices[k]);
    }
}

static bool has_choices(const cli_command *command)
{
    return command == &cmd_help || command->choice_count > 0;
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash(void)
{
    puts("# bash completion for quern: 'quern completion bash' prints it\n"
         "_quern()\n"
         "{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" = 1 ]; then");
    fputs("        words='", stdout);
    for (size_t k = 0; k < cli_command_count; k++) {
        printf("%s ", cli_commands[k]->name);
    }
    puts("--help --version'\n"
         "    else\n"
         "        case ${COMP_WORDS[1]} in");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *command = cli_commands[k];
        printf("        %s) words='", command->name);
        print_choices(command);
        for (size_t j = 0; j < command->option_count; j++) {
            const cli_option *o = &command->options[j];
            printf("%s--%s%s", j > 0 || has_choices(command) ? " " : "", o->name,
                   takes_value(o) ? "=" : "");
        }
        printf("%s--help' ;;\n", has_choices(command) || command->option_count > 0 ? " " : "");
    }
    puts("        esac\n"
         "    fi\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "    if [ \"$COMP_CWORD\" -gt 1 ] && [ \"${word#-}\" = \"$word\" ]; then\n"
         "        local files\n"
         "        mapfile -t files < <(compgen -f -- \"${word#=}\")\n"
         "        COMPREPLY+=(\"${files[@]}\")\n"
         "    fi\n"
         "    case ${COMPREPLY[0]-} in\n"
         "    *=) compopt -o nospace ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -F _quern quern");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

static void zsh(void)
{
    puts("#compdef quern\n"
         "# zsh completion for quern: 'quern completion zsh' prints it\n"
         "_quern() {\n"
         "    if (( CURRENT == 2 )); then\n"
         "        local -a commands=(");
    for (size_t k = 0; k < cli_command_count; k++) {
        printf("            '%s:", cli_commands[k]->name);
        quoted(cli_commands[k]->summary, "", "'\\''");
        puts("'");
    }
    puts("        )\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local name=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $name in");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *command = cli_commands[k];
        printf("    %s)\n        _arguments \\\n", command->name);
        for (size_t j = 0; j < command->option_count; j++) {
            const cli_option *o = &command->options[j];
            bool many = o->kind == CLI_LIST || o->kind == CLI_WORDS;
            printf("            '%s--%s%s[", many ? "*" : "", o->name, takes_value(o) ? "=" : "");
            quoted(o->help, "[]:", "'\\''");
            fputs("]", stdout);
            if (takes_value(o)) {
                printf(":%s:%s", o->value, o->kind == CLI_TRUTH ? "(True False)" : "_files");
            }
            puts("' \\");
        }
        if (has_choices(command)) {
            fputs("            '1:what:(", stdout);
            print_choices(command);
            puts(")' \\");
        }
        puts("            '(-h --help)'{-h,--help}'[print help]' \\\n"
             "            '*:argument:_files'\n"
             "        ;;");
    }
    puts("    esac\n"
         "}\n"
         "_quern \"$@\"");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static bool has_option(const cli_command *command, const cli_option *option)
{
    bool found = false;
    for (size_t k = 0; k < command->option_count; k++) {
        const cli_option *o = &command->options[k];
        found |= strcmp(o->name, option->name) == 0 && strcmp(o->help, option->help) == 0;
    }
    return found;
}

/* An option of command `first`, together with all other commands that have it; nothing if an
 * earlier command has it. */
static void fish_option(size_t first, const cli_option *option)
{
    for (size_t k = 0; k < first; k++) {
        if (has_option(cli_commands[k], option)) {
            return;
        }
    }
    fputs("complete -c quern -n '__fish_seen_subcommand_from", stdout);
    for (size_t k = first; k < cli_command_count; k++) {
        if (has_option(cli_commands[k], option)) {
            printf(" %s", cli_commands[k]->name);
        }
    }
    printf("' -l %s%s -d '", option->name, takes_value(option) ? " -r" : "");
    quoted(option->help, "\\", "\\'");
    puts("'");
}

static void fish(void)
{
    puts("# fish completion for quern: 'quern completion fish' prints it\n"
         "complete -c quern -s h -l help -d 'print help'");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *command = cli_commands[k];
        printf("complete -c quern -f -n __fish_use_subcommand -a %s -d '", command->name);
        quoted(command->summary, "\\", "\\'");
        puts("'");
        if (has_choices(command)) {
            printf("complete -c quern -f -n '__fish_seen_subcommand_from %s' -a '", command->name);
            print_choices(command);
            puts("'");
        }
    }
    for (size_t k = 0; k < cli_command_count; k++) {
        for (size_t j = 0; j < cli_commands[k]->option_count; j++) {
            fish_option(k, &cli_commands[k]->options[j]);
        }
    }
}

/* ---- the command ---------------------------------------------------------------------------- */

static const char *const shells[] = {"bash", "zsh", "fish"};

static int run(const cli_command *command, int argc, char **argv)
{
    static void (*const print[])(void) = {bash, zsh, fish};
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    for (size_t k = 0; words.count == 1 && k < CLI_COUNT(shells); k++) {
        if (strcmp(words.items[0], shells[k]) == 0) {
            print[k]();
            return CLI_OK;
        }
    }
    return cli_usage(command->name, "say which shell: bash, zsh or fish");
}

const cli_command cmd_completion = {
    .name = "completion",
    .summary = "Print what completes command lines in a shell",
    .usage = " bash | zsh | fish",
    .text = "'cmake --install' puts it where the shells look. By hand, for bash:\n"
            "  quern completion bash >~/.local/share/bash-completion/completions/quern\n",
    .choices = shells,
    .choice_count = CLI_COUNT(shells),
    .run = run,
};
