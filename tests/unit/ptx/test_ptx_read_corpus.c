/* SPDX-License-Identifier: MIT
 *
 * Finds and reads the corpus; see the header.
 */
#include "test_ptx_read_corpus.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void visit_file(const char *path, corpus_visitor visit, void *context)
{
    char *text;
    size_t size;
    qn_ptx_module *module;
    cr_assert_eq(qn_file_read(path, &text, &size), QUERN_OK);
    quern_status status = qn_ptx_read(&module, text, size);
    cr_assert_eq(status, QUERN_OK, "%s: %s", path, quern_last_error()->message);
    visit(path, module, context);
    qn_ptx_free(module);
    qn_free(text);
}

static unsigned visit_folder(const char *folder, corpus_visitor visit, void *context)
{
    DIR *files = opendir(folder);
    cr_assert(files, "no folder %s", folder);
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        char path[4096];
        if (end && strcmp(end, ".ptx") == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            visit_file(path, visit, context);
            count++;
        }
    }
    closedir(files);
    return count;
}

unsigned corpus_visit(corpus_visitor visit, void *context)
{
    unsigned count = visit_folder(PTX_CORPUS, visit, context);
    const char *more = getenv("QUERN_PTX_CORPUS");
    char *folders = qn_strdup(more ? more : "");
    for (char *rest = folders, *folder; (folder = strsep(&rest, ":")) != NULL;) {
        count += folder[0] ? visit_folder(folder, visit, context) : 0;
    }
    qn_free(folders);
    return count;
}

qn_ptx_module *corpus_read(const char *text)
{
    qn_ptx_module *module;
    quern_status status = qn_ptx_read(&module, text, strlen(text));
    cr_assert_eq(status, QUERN_OK, "%s", quern_last_error()->message);
    return module;
}
