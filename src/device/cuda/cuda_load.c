/* SPDX-License-Identifier: MIT
 *
 * The driver's library: found, checked and initialised once per process. In: QUERN_CUDA. Out: the
 * table qn_cuda, or a sentence that says why there is none and what to do about it, which later
 * calls get again at no cost. The library is never unloaded: the driver's threads outlive its
 * users.
 */
#include "device/cuda/cuda_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cu_api qn_cuda;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded, present;
static unsigned forks; /* of this process, when the driver was loaded */
static int version;
static char problem[1024];

/* ---- finding the library -------------------------------------------------------------------- */

static bool open_library(qn_library **library)
{
    const char *wanted = getenv("QUERN_CUDA");
    bool own_choice = wanted && wanted[0];
    char in_folder[4096];
    struct stat status;
    if (own_choice && stat(wanted, &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(in_folder, sizeof in_folder, "%s/libcuda.so.1", wanted);
        wanted = in_folder;
    }
    const char *const usual[] = {"libcuda.so.1", "libcuda.so", NULL};
    const char *const chosen[] = {wanted, NULL};
    char *why;
    if (qn_library_open(library, own_choice ? chosen : usual, &why)) {
        return true;
    }
    if (own_choice) {
        snprintf(
            problem, sizeof problem,
            "the CUDA driver's library that QUERN_CUDA names cannot be loaded (%.700s); correct "
            "or unset QUERN_CUDA",
            why ? why : wanted);
    } else {
        snprintf(problem, sizeof problem,
                 "no NVIDIA driver was found (%.700s); install the NVIDIA driver, or start the "
                 "container with its GPUs (docker: --gpus all), or name the library in QUERN_CUDA",
                 why ? why : "libcuda.so.1");
    }
    qn_free(why);
    return false;
}

/* Fill the table. Returns the name of the first required function that the library lacks, or
 * NULL. */
static const char *resolve(qn_library *library)
{
    const char *missing = NULL;
    void *address;
#define FIND(field, symbol, parameters)                                                            \
    address = qn_library_symbol(library, #symbol);                                                 \
    memcpy(&qn_cuda.field, &address, sizeof address);
#define REQUIRE(field, symbol, parameters)                                                         \
    FIND(field, symbol, parameters)                                                                \
    missing = !address && !missing ? #symbol : missing;
    CU_FUNCTIONS(REQUIRE)
    CU_NEWER_FUNCTIONS(FIND)
#undef REQUIRE
#undef FIND
    return missing;
}

static bool check_version(const char *path, const char *missing)
{
    if (!qn_cuda.driver_version || qn_cuda.driver_version(&version) != CU_SUCCESS) {
        snprintf(problem, sizeof problem,
                 "%s is not a CUDA driver library: it has no working cuDriverGetVersion", path);
        return false;
    }
    if (version < CU_OLDEST_DRIVER) {
        snprintf(
            problem, sizeof problem,
            "the NVIDIA driver is too old: it serves CUDA %d.%d, and Quern needs CUDA %d.%d or "
            "newer (driver 525 or newer); update the driver",
            version / 1000, version % 1000 / 10, CU_OLDEST_DRIVER / 1000,
            CU_OLDEST_DRIVER % 1000 / 10);
        return false;
    }
    if (missing) {
        snprintf(problem, sizeof problem,
                 "%s says that it serves CUDA %d.%d and lacks %s; reinstall the NVIDIA driver",
                 path, version / 1000, version % 1000 / 10, missing);
        return false;
    }
    return true;
}

/* ---- initialising --------------------------------------------------------------------------- */

/* Why the driver sees no GPU, as far as the device files show. */
static void explain_devices(char *text, size_t size)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible) {
        snprintf(text, size, "CUDA_VISIBLE_DEVICES is \"%.100s\", which may hide it", visible);
        return;
    }
    for (size_t k = 0; k < QN_COUNT(files); k++) {
        if (access(files[k], R_OK | W_OK) == 0) {
            continue;
        }
        if (errno == EACCES || errno == EPERM) {
            snprintf(text, size,
                     "no permission to open %s; join the group that owns it, or ask the "
                     "machine's administrator",
                     files[k]);
        } else {
            snprintf(text, size,
                     "there is no %s: load the kernel module (nvidia-smi as root does it), or "
                     "start the container with its GPUs (docker: --gpus all)",
                     files[k]);
        }
        return;
    }
    snprintf(text, size, "nvidia-smi may tell more");
}

static void explain_init(cu_result result)
{
    const char *name = NULL;
    char advice[400];
    (void)qn_cuda.error_name(result, &name);
    explain_devices(advice, sizeof advice);
    switch (result) {
    case CU_NO_DEVICE:
        snprintf(problem, sizeof problem, "the NVIDIA driver sees no GPU; %s", advice);
        break;
    case CU_SYSTEM_DRIVER_MISMATCH:
        snprintf(problem, sizeof problem,
                 "the driver's library and its kernel module are of different versions; restart "
                 "the machine, or reload the module, after updating the driver");
        break;
    case CU_STUB_LIBRARY:
        snprintf(problem, sizeof problem,
                 "the libcuda found is the toolkit's stub, which only serves linking; remove its "
                 "folder from LD_LIBRARY_PATH, or name the driver's in QUERN_CUDA");
        break;
    default:
        snprintf(problem, sizeof problem, "the NVIDIA driver cannot be initialised (%s, %d); %s",
                 name ? name : "unknown error", result, advice);
    }
}

static void load(void)
{
    static qn_library *library; /* it stays for the rest of the process */
    qn_forks_watch();
    forks = atomic_load(&qn_forks);
    if (!open_library(&library)) {
        return;
    }
    present = true;
    if (!check_version(qn_library_path(library), resolve(library))) {
        return;
    }
    cu_result result = qn_cuda.init(0);
    if (result != CU_SUCCESS) {
        explain_init(result);
        return;
    }
    loaded = true;
}

bool qn_cuda_is_forked(void)
{
    return loaded && atomic_load(&qn_forks) != forks;
}

bool qn_cuda_load(const char **why)
{
    pthread_once(&once, load);
    if (qn_cuda_is_forked()) {
        *why = "the NVIDIA driver was in use before this process was forked, which CUDA does not "
               "survive: fork first, or run a new program";
        return false;
    }
    *why = loaded ? "" : problem;
    return loaded;
}

bool qn_cuda_present(void)
{
    return present;
}

int qn_cuda_version(void)
{
    return version;
}
