/* SPDX-License-Identifier: MIT
 *
 * The parameters of a kernel and the user's arguments for them. In: a kernel, which is asked for
 * them, and NAME=VALUE words; or, for a raw kernel, VALUE words alone. Out: for each parameter its
 * value taken apart, and for each output whether it is allocated, saved, printed. No file is opened
 * and no device touched.
 */
#include "files.h"

#include <string.h>

cli_parameter *cli_parameters_add(cli_parameters *parameters, const char *name)
{
    cli_parameter *parameter = &parameters->items[parameters->count++];
    parameter->name = name;
    parameter->lead = cli_sprintf("%s=", name);
    return parameter;
}

bool cli_parameters_ask(cli_parameters *parameters, quern_kernel *kernel)
{
    quern_parameter_info info = QUERN_PARAMETER_INFO_INIT;
    quern_kernel_info whole = QUERN_KERNEL_INFO_INIT;
    if (quern_kernel_get_info(&whole, kernel) != QUERN_OK) {
        return false;
    }
    for (size_t k = 0; k < whole.parameter_count; k++) {
        if (quern_kernel_get_parameter(&info, kernel, k) != QUERN_OK) {
            return false;
        }
        cli_parameter *parameter = cli_parameters_add(parameters, info.name);
        parameter->dtype = (quern_dtype)info.dtype;
        parameter->raw = info.is_raw;
        parameter->output = info.is_output;
    }
    return true;
}

static int unknown_parameter(const cli_parameters *parameters, const char *command,
                             const char *name)
{
    const char *names[QUERN_MAX_PARAMETERS];
    const char *list = "";
    for (size_t k = 0; k < parameters->count; k++) {
        names[k] = parameters->items[k].name;
        list = cli_sprintf("%s%s%s", list, k > 0 ? ", " : "", names[k]);
    }
    const char *advice = cli_did_you_mean(name, names, parameters->count);
    return cli_usage(command, "the kernel has no parameter \"%s\"; it has %s%s", name,
                     parameters->count > 0 ? list : "none", advice);
}

static cli_parameter *find(cli_parameters *parameters, const char *name)
{
    for (size_t k = 0; k < parameters->count; k++) {
        if (strcmp(parameters->items[k].name, name) == 0) {
            return &parameters->items[k];
        }
    }
    return NULL;
}

bool cli_parameters_is_assignment(const cli_parameters *parameters, const char *word)
{
    for (size_t k = 0; k < parameters->count; k++) {
        const cli_parameter *p = &parameters->items[k];
        size_t length = strlen(p->name);
        if (!p->output && strncmp(word, p->name, length) == 0 && word[length] == '=' &&
            word[length + 1] != '=') {
            return true;
        }
    }
    return false;
}

static int assign(cli_parameters *parameters, const char *command, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word) {
        return cli_usage(command, "\"%s\" is not of the form NAME=VALUE", word);
    }
    const char *name = cli_strndup(word, (size_t)(equals - word));
    cli_parameter *parameter = find(parameters, name);
    if (!parameter) {
        return unknown_parameter(parameters, command, name);
    }
    if (parameter->text) {
        return cli_usage(command, "%s is given twice: %s=%s and %s", name, name, parameter->text,
                         word);
    }
    parameter->text = equals + 1;
    cli_problem problem;
    if (!*parameter->text) {
        return cli_usage(command, "%s= has no value", name);
    }
    if (!cli_value_parse(&parameter->value, parameter->text, &problem)) {
        return cli_usage_problem(command, name, parameter->lead, parameter->text, &problem);
    }
    return CLI_OK;
}

static int check_input(const cli_parameter *parameter, const char *command)
{
    const char *name = parameter->name;
    if (!parameter->text) {
        return cli_usage(command, "the input %s is missing: add %s=VALUE", name, name);
    }
    if (parameter->value.save) {
        return cli_usage(command, "%s is an input, and only outputs are saved: leave out \":%s\"",
                         name, parameter->value.save);
    }
    if (parameter->value.print) {
        return cli_usage(command, "%s is an input, and only outputs are printed: leave out \":-\"",
                         name);
    }
    return CLI_OK;
}

/* Decide what happens to an output. */
static int settle_output(cli_parameter *parameter, const char *command)
{
    const char *name = parameter->name;
    cli_value *value = &parameter->value;
    if (!parameter->text) {
        parameter->allocate = parameter->print = true;
    } else if (value->kind == CLI_VALUE_DIRECT) {
        return cli_usage(command,
                         "%s is an output and cannot be a number: write %s=OUT.npy, or "
                         "leave it out to have it printed",
                         name, name);
    } else if (value->print) {
        parameter->print = true;
    } else if (value->kind == CLI_VALUE_FILE && !value->save && strcmp(value->path, "-") == 0) {
        parameter->allocate = parameter->print = true;
    } else if (value->kind == CLI_VALUE_FILE && !value->save) {
        if (value->view.count > 0) {
            return cli_usage(command,
                             "%s=%s: to write into a view, say where it is saved: "
                             "%s=%s:OUT.npy",
                             name, parameter->text, name, parameter->text);
        }
        parameter->allocate = true;
        value->save = value->path;
        value->save_member = value->member;
    }
    return CLI_OK;
}

static int same_target(const cli_parameter *one, const cli_parameter *other, const char *command)
{
    const char *path = one->value.save, *second = other->value.save;
    if (strcmp(path, second) == 0) {
        return cli_usage(command, "%s and %s would both be saved to \"%s\"%s%s", one->name,
                         other->name, path, other->value.save_member ? " as " : "",
                         other->value.save_member ? other->value.save_member : "");
    }
    return cli_usage(command,
                     "%s and %s would both be saved to one file: \"%s\" and \"%s\" are the same",
                     one->name, other->name, path, second);
}

/* Whether two outputs would overwrite each other. Different members of one archive do not: they are
 * gathered in it. */
static bool collide(cli_parameter *one, cli_parameter *other, const cli_target *targets[2])
{
    const char *member = one->value.save_member, *second = other->value.save_member;
    bool same = cli_target_same(targets[0], targets[1]) ||
                (member && strcmp(one->value.save, other->value.save) == 0);
    if (!same || !member || !second) {
        return same;
    }
    other->archive = one->archive;
    return strcmp(member, second) == 0;
}

/* An archive's member has the name of its parameter unless it is given one. */
static void name_member(cli_parameter *p, size_t number)
{
    cli_value *value = &p->value;
    if (cli_is_archive(value->save) && !value->save_member) {
        value->save_member = cli_strdup(p->name);
    }
    p->archive = number;
}

/* Before any work is done: check that every file could be written, and that none is named twice,
 * however it is spelt. */
static int check_targets(cli_parameters *parameters, const char *command)
{
    cli_target targets[QUERN_MAX_PARAMETERS];
    int status = CLI_OK;
    for (size_t k = 0; k < parameters->count && status == CLI_OK; k++) {
        cli_parameter *p = &parameters->items[k];
        targets[k] = (cli_target){0};
        if (!p->value.save) {
            continue;
        }
        name_member(p, k);
        status = cli_target_find(&targets[k], p->name, p->value.save);
        cli_target_close(&targets[k]);
        for (size_t j = 0; j < k && status == CLI_OK; j++) {
            const cli_target *both[2] = {&targets[j], &targets[k]};
            if (targets[j].path && collide(&parameters->items[j], p, both)) {
                status = same_target(&parameters->items[j], p, command);
            }
        }
    }
    return status;
}

int cli_parameters_assign(cli_parameters *parameters, const char *command, const cli_list *words)
{
    for (size_t k = 0; k < words->count; k++) {
        CLI_TRY(assign(parameters, command, words->items[k]));
    }
    for (size_t k = 0; k < parameters->count; k++) {
        cli_parameter *parameter = &parameters->items[k];
        if (parameter->output) {
            CLI_TRY(settle_output(parameter, command));
        } else {
            CLI_TRY(check_input(parameter, command));
        }
    }
    return check_targets(parameters, command);
}

/* A scalar has to say how wide it is: nothing else does. */
static int check_stated(const cli_parameter *parameter, const char *command)
{
    const cli_value *value = &parameter->value;
    if (value->kind != CLI_VALUE_DIRECT || value->direct.kind != QUERN_VALUE_LITERAL) {
        return CLI_OK;
    }
    const char *dtype = value->direct.dtype == QUERN_INT64        ? "int32"
                        : value->direct.dtype == QUERN_FLOAT64    ? "float32"
                        : value->direct.dtype == QUERN_COMPLEX128 ? "complex64"
                                                                  : "bool";
    return cli_usage(command, "%s: say the type of %s, because a raw kernel does not say it: %s:%s",
                     parameter->name, parameter->text, dtype, parameter->text);
}

static int set_in_order(cli_parameter *parameter, const char *command, size_t position,
                        const char *word)
{
    cli_value *value = &parameter->value;
    cli_problem problem;
    parameter->name = cli_sprintf("argument %zu", position);
    parameter->lead = "";
    parameter->text = word;
    parameter->dtype = QUERN_BFLOAT16; /* two-byte void elements of a file are then taken as this */
    size_t named = strcspn(word, "=");
    if (word[named] && strcspn(word, ":.[") > named) {
        return cli_usage(command,
                         "%s: the arguments of a raw kernel are given in order, without names; "
                         "write %s",
                         parameter->name, word + named + 1);
    }
    bool good;
    if (cli_is_structure(word)) {
        value->kind = CLI_VALUE_DIRECT;
        good = cli_structure_parse(&value->direct, word, &problem);
    } else {
        good = cli_value_parse(value, word, &problem);
    }
    if (!good) {
        return cli_usage_problem(command, parameter->name, parameter->lead, word, &problem);
    }
    parameter->print = value->print;
    CLI_TRY(check_stated(parameter, command));
    return CLI_OK;
}

int cli_parameters_in_order(cli_parameters *parameters, const char *command, const cli_list *words)
{
    if (words->count > QUERN_MAX_PARAMETERS) {
        return cli_usage(command, "%zu arguments are more than the %d that can be given",
                         words->count, QUERN_MAX_PARAMETERS);
    }
    parameters->count = words->count;
    for (size_t k = 0; k < words->count; k++) {
        CLI_TRY(set_in_order(&parameters->items[k], command, k + 1, words->items[k]));
    }
    return check_targets(parameters, command);
}
