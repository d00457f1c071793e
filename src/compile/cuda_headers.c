/* SPDX-License-Identifier: MIT
 *
 * Where the headers of CUDA and CCCL are. In: the environment, the NVRTC in use and the usual
 * places. Out: the folders, those of NVRTC's own release first, with a hash that tells one version
 * of them from another. The thing to know: they are hundreds of files, so they are identified by
 * the versions that a few of them state, and never read for the key.
 */
#include "compile/nvrtc.h"

#define XXH_INLINE_ALL
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define FOLDERS_MAX 64
#define VERSION_MAX (32 << 10) /* bytes of a file that are searched for its version */

static const qn_cuda_place places[] = {
    {"CUDA_HOME", "/include"},
    {"CUDA_HOME", "/targets/*-linux/include"},
    {"CUDA_PATH", "/include"},
    {"CUDA_PATH", "/targets/*-linux/include"},
};
/* those of the NVRTC in use come here: beside its lib/, or beside its package */
static const char *const beside_compiler[] = {"/../include", "/../../cuda_runtime/include",
                                              "/../../cuda_cccl/include", "/../../curand/include"};
static const qn_cuda_place later_places[] = {
    {QN_BESIDE, "/quern/cuda/include"},
    {QN_BESIDE, "/../cuda/include"},
    {QN_FETCHED, "/include"},
    {NULL, "/usr/local/cuda/include"},
    {NULL, "/usr/local/cuda-*/include"},
#define PACKAGES(variable)                                                                         \
    {variable, "/lib/python3*/site-packages/nvidia/cu[0-9]*/include"},                             \
        {variable, "/lib/python3*/site-packages/nvidia/cuda_runtime/include"},                     \
        {variable, "/lib/python3*/site-packages/nvidia/cuda_cccl/include"},                        \
    {                                                                                              \
        variable, "/lib/python3*/site-packages/nvidia/curand/include"                              \
    }
    PACKAGES("VIRTUAL_ENV"),
    {"CONDA_PREFIX", "/targets/*-linux/include"},
    PACKAGES("CONDA_PREFIX"),
#undef PACKAGES
};

/* What tells versions apart: a whole file, or the line with a word in it. */
static const struct {
    const char *file, *word;
} versions[] = {
    {"cuda_runtime_api.h", "#define CUDART_VERSION"},
    {"cuda/std/__cccl/version.h", NULL},
    {"cub/version.cuh", NULL},
    {"thrust/version.h", NULL},
    {"curand.h", "#define CURAND_VERSION"},
};

/* The folders that go with one compiler. */
typedef struct folder_list {
    struct folder_list *earlier; /* of a compiler that was given up for another; still in use */
    unsigned choice;             /* which compiler it goes with: see qn_compiler_choice() */
    size_t count;
    qn_cuda_folder folders[FOLDERS_MAX];
    struct stat known[FOLDERS_MAX]; /* the same folder may have several paths */
} folder_list;

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat facts;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &facts) == 0 &&
           S_ISREG(facts.st_mode);
}

bool qn_cuda_folder_is(const char *folder)
{
    return is_file(folder, "cuda_runtime_api.h") || is_file(folder, "cuda/std/version") ||
           is_file(folder, "nv/target");
}

bool qn_cuda_header_is(qn_str name)
{
    static const char *const begins[] = {
        "cub/",
        "thrust/",
        "cuda/",
        "nv/",
        "crt/",
        "cooperative_groups",
        "cuda.h",
        "cuda_awbarrier",
        "cuda_bf",
        "cuda_device_",
        "cuda_fp",
        "cuda_pipeline",
        "cuda_runtime",
        "cuComplex.h",
        "curand",
        "mma.h",
        "sm_2",
        "sm_3",
        "sm_6",
        "vector_types.h",
        "vector_functions.h",
        "device_types.h",
        "device_launch_parameters.h",
        "driver_types.h",
        "library_types.h",
        "texture_types.h",
        "surface_types.h",
        "builtin_types.h",
        "channel_descriptor.h",
        "host_defines.h",
        "math_constants.h",
        "math_functions.h",
    };
    bool is = false;
    for (size_t k = 0; !is && k < QN_COUNT(begins); k++) {
        is = qn_str_begins(name, begins[k]);
    }
    return is;
}

static pthread_mutex_t version_lock = PTHREAD_MUTEX_INITIALIZER;

/* The line of entry `which` of the table, or the file's beginning; *size is its length. NULL: there
 * is none. Valid until the next call, under the lock. */
static const char *read_version(const char *folder, size_t which, size_t *size)
{
    char path[PATH_MAX];
    static char text[VERSION_MAX];
    const char *word = versions[which].word;
    int length = snprintf(path, sizeof path, "%s/%s", folder, versions[which].file);
    FILE *stream = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (!stream) {
        return NULL;
    }
    *size = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[*size] = '\0';
    const char *line = word ? strstr(text, word) : text;
    *size = line && word ? strcspn(line, "\n") : *size;
    return line;
}

uint64_t qn_cuda_version_of(const char *folder)
{
    XXH3_state_t state;
    pthread_mutex_lock(&version_lock);
    XXH3_64bits_reset(&state);
    for (size_t k = 0; k < QN_COUNT(versions); k++) {
        size_t size;
        const char *line = read_version(folder, k, &size);
        if (line) {
            XXH3_64bits_update(&state, versions[k].file, strlen(versions[k].file) + 1);
            XXH3_64bits_update(&state, line, size);
        }
    }
    pthread_mutex_unlock(&version_lock);
    return XXH3_64bits_digest(&state);
}

qn_release qn_cuda_release_of(const char *folder)
{
    size_t size;
    int number = 0;
    pthread_mutex_lock(&version_lock);
    const char *line = read_version(folder, 0, &size);
    if (line) {
        sscanf(line + strlen(versions[0].word), "%d", &number); /* 13020: 13.2 */
    }
    pthread_mutex_unlock(&version_lock);
    return number >= 1000 ? (qn_release){number / 1000, number % 1000 / 10} : (qn_release){0, -1};
}

/* ---- once per compiler ----------------------------------------------------------------------- */

static void add_folder(folder_list *list, const char *path, qn_release release)
{
    struct stat facts;
    if (list->count == FOLDERS_MAX || stat(path, &facts) != 0) {
        return;
    }
    for (size_t k = 0; k < list->count; k++) {
        if (list->known[k].st_ino == facts.st_ino && list->known[k].st_dev == facts.st_dev) {
            return;
        }
    }
    char *copy = qn_strdup(path);
    if (copy) {
        list->known[list->count] = facts;
        list->folders[list->count++] = (qn_cuda_folder){copy, qn_cuda_version_of(copy), release};
    }
}

/* A folder and its cccl/, where CUDA 13 keeps CCCL. */
static bool add_both(void *context, const char *folder, bool trusted)
{
    folder_list *list = context;
    char cccl[PATH_MAX];
    if (!trusted) {
        return false;
    }
    qn_release release = qn_cuda_release_of(folder);
    add_folder(list, folder, release);
    int length = snprintf(cccl, sizeof cccl, "%s/cccl", folder);
    if (length > 0 && (size_t)length < sizeof cccl && qn_is_folder(cccl)) {
        add_folder(list, cccl, release);
    }
    return false;
}

/* Those that fit best come first; the others keep their order. */
static void sort_by_fit(folder_list *list, qn_release compiler)
{
    qn_cuda_folder sorted[FOLDERS_MAX];
    size_t count = 0;
    for (int misfit = 0; misfit <= QN_WORST_MISFIT; misfit++) {
        for (size_t k = 0; k < list->count; k++) {
            if (qn_release_misfit(compiler, list->folders[k].release) == misfit) {
                sorted[count++] = list->folders[k];
            }
        }
    }
    memcpy(list->folders, sorted, count * sizeof *sorted);
}

static void find(folder_list *list)
{
    qn_compiler_identity compiler;
    qn_release release = {0, -1};
    qn_places_visit(places, QN_COUNT(places), add_both, list);
    if (qn_compiler_find(&compiler, NULL)) {
        release = qn_release_of_compiler(compiler.path);
    }
    char *slash = strrchr(compiler.path, '/');
    for (size_t k = 0; slash && k < QN_COUNT(beside_compiler); k++) {
        *slash = '\0';
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s%s", compiler.path, beside_compiler[k]);
        qn_places_visit(&(qn_cuda_place){NULL, folder}, 1, add_both, list);
    }
    qn_places_visit(later_places, QN_COUNT(later_places), add_both, list);
    sort_by_fit(list, release);
}

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(folder_list *) current;

__attribute__((destructor)) static void forget(void)
{
    folder_list *list = atomic_exchange(&current, NULL);
    while (list) {
        folder_list *earlier = list->earlier;
        for (size_t k = 0; k < list->count; k++) {
            qn_free(list->folders[k].path);
        }
        qn_free(list);
        list = earlier;
    }
}

/* The list of the compiler in use; NULL: out of memory. */
static folder_list *list_of(unsigned choice)
{
    pthread_mutex_lock(&list_lock);
    folder_list *list = atomic_load(&current);
    if (!list || list->choice != choice) {
        folder_list *made = qn_calloc(1, sizeof *made);
        if (made) {
            made->earlier = list;
            made->choice = choice;
            find(made);
            atomic_store(&current, made);
        }
        list = made;
    }
    pthread_mutex_unlock(&list_lock);
    return list;
}

size_t qn_cuda_folders(const qn_cuda_folder **out)
{
    const unsigned choice = qn_compiler_choice();
    const folder_list *list = atomic_load(&current);
    if (!list || list->choice != choice) {
        list = list_of(choice);
    }
    *out = list ? list->folders : NULL;
    return list ? list->count : 0;
}

size_t qn_cuda_folder_with(const char *name)
{
    const qn_cuda_folder *list;
    size_t count = qn_cuda_folders(&list);
    for (size_t k = 0; k < count; k++) {
        if (is_file(list[k].path, name)) {
            return k;
        }
    }
    return SIZE_MAX;
}

const char *qn_cuda_headers(qn_release *release)
{
    const qn_cuda_folder *list;
    size_t count = qn_cuda_folders(&list);
    size_t found = qn_cuda_folder_with("cuda_runtime_api.h");
    *release = found < count ? list[found].release : (qn_release){0, -1};
    return found < count ? list[found].path : "";
}
