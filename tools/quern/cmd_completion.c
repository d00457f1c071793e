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

/* The words that may follow a command, after the quote that begins them. */
static void bash_words(const cli_command *command)
{
    print_choices(command);
    const char *blank = has_choices(command) ? " " : "";
    for (size_t j = 0; j < command->option_count; j++) {
        const cli_option *o = &command->options[j];
        printf("%s--%s%s", blank, o->name, takes_value(o) ? "=" : "");
        blank = " ";
    }
    printf("%s--help' ;;\n", blank);
}

static void bash_parts(void)
{
    puts("        if [ \"$COMP_CWORD\" -gt 2 ]; then\n"
         "            case ${COMP_WORDS[1]}.${COMP_WORDS[2]} in");
    for (size_t k = 0; k < cli_command_count; k++) {
        const cli_command *command = cli_commands[k];
        for (size_t j = 0; command->parts && j < command->choice_count; j++) {
            printf("            %s.%s) words='", command->name, command->choices[j]);
            bash_words(command->parts[j]);
        }
    }
    puts("            esac\n"
         "        fi");
}

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
        bash_words(command);
    }
    puts("        esac");
    bash_parts();
    puts("    fi\n"
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

/* What may follow a command; `in` is the blanks of the lines. */
static void zsh_arguments(const cli_command *command, const char *in)
{
    printf("%s_arguments \\\n", in);
    for (size_t j = 0; j < command->option_count; j++) {
        const cli_option *o = &command->options[j];
        bool many = o->kind == CLI_LIST || o->kind == CLI_WORDS;
        printf("%s    '%s--%s%s[", in, many ? "*" : "", o->name, takes_value(o) ? "=" : "");
        quoted(o->help, "[]:", "'\\''");
        fputs("]", stdout);
        if (takes_value(o)) {
            printf(":%s:%s", o->value, o->kind == CLI_TRUTH ? "(True False)" : "_files");
        }
        puts("' \\");
    }
    if (has_choices(command)) {
        printf("%s    '1:what:(", in);
        print_choices(command);
        puts(")' \\");
    }
    printf("%s    '(-h --help)'{-h,--help}'[print help]' \\\n"
           "%s    '*:argument:_files'\n",
           in, in);
}

/* The commands in a command, once one of them is written. */
static void zsh_parts(const cli_command *command)
{
    puts("        if (( CURRENT > 2 )); then\n"
         "            name=$words[2]\n"
         "            shift words\n"
         "            (( CURRENT-- ))\n"
         "            case $name in");
    for (size_t j = 0; j < command->choice_count; j++) {
        printf("            %s)\n", command->choices[j]);
        zsh_arguments(command->parts[j], "                ");
        puts("                ;;");
    }
    puts("            esac\n"
         "            return\n"
         "        fi");
}

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
        printf("    %s)\n", command->name);
        if (command->parts) {
            zsh_parts(command);
        }
        zsh_arguments(command, "        ");
        puts("        ;;");
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

/* The options of the commands in a command, but for those that are commands by themselves. */
static void fish_parts(const cli_command *command)
{
    for (size_t k = 0; command->parts && k < command->choice_count; k++) {
        const cli_command *part = command->parts[k];
        for (size_t j = 0; !cli_command_find(part->name) && j < part->option_count; j++) {
            printf("complete -c quern -n '__fish_seen_subcommand_from %s; and "
                   "__fish_seen_subcommand_from %s' -l %s%s -d '",
                   command->name, command->choices[k], part->options[j].name,
                   takes_value(&part->options[j]) ? " -r" : "");
            quoted(part->options[j].help, "\\", "\\'");
            puts("'");
        }
    }
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
        fish_parts(cli_commands[k]);
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
