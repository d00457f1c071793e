/* SPDX-License-Identifier: MIT
 *
 * The folder of the cache. In: what was asked for, and the environment. Out: a folder with mode
 * 0700 that is this user's, or the reason why the cache is off.
 *
 * Whoever can write a file here can run code in this user's kernels, and a checksum does not help
 * against that. So the folder must belong to this user, nobody else may write in it, no link of
 * another user leads to it, there is no fallback to /tmp, and a set-uid program has no cache. Only
 * QUERN_CACHE_GROUP makes an exception: the user then trusts that group.
 */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DEFAULT_LIMIT (2ull << 30)
#define MOST_TEXTS    ((size_t)16 << 20) /* of a user or a group */

/* f_type of the file systems on which two machines may have one file open (statfs(2)). */
static const uint32_t network_types[] = {
    0x6969,     /* NFS */
    0xff534d42, /* CIFS */
    0xfe534d42, /* SMB2 */
    0x517b,     /* SMB */
    0x5346414f, /* AFS */
    0x6b414653, /* kAFS */
    0x01021997, /* 9P */
    0x0bd00bd0, /* Lustre */
    0x47504653, /* GPFS */
    0x19830326, /* BeeGFS */
    0xaad7aaea, /* PanFS */
    0x00c36400, /* Ceph */
    0x7461636f, /* OCFS2 */
    0x01161970, /* GFS2 */
    0x65735546, /* FUSE: may be anything, sshfs too */
    0x73757245, /* Coda */
    0x564c,     /* NCP */
};

bool qn_on_network(const char *path)
{
    struct statfs facts;
    if (statfs(path, &facts) != 0) {
        return true; /* unknown: the careful answer */
    }
    for (size_t k = 0; k < QN_COUNT(network_types); k++) {
        if ((uint32_t)facts.f_type == network_types[k]) {
            return true;
        }
    }
    return false;
}

int qn_store_open_beside(const qn_store *store, const char *name)
{
    qn_text path = {0};
    qn_text_printf(&path, "%s/%s", store->folder, name);
    if (path.failed) {
        errno = ENOMEM;
        return -1;
    }
    int file = open(path.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 && store->shared) { /* only its owner can, once */
        (void)!fchown(file, (uid_t)-1, store->group);
        (void)!fchmod(file, 0660);
    }
    qn_text_free(&path);
    return file;
}

/* "2G", "500M", "1048576" */
static bool parse_size(const char *text, uint64_t *out)
{
    static const char suffixes[] = "KMGT";
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    end += suffix != NULL;
    if (errno || *end || number > UINT64_MAX >> shift || number << shift > INT64_MAX) {
        return false;
    }
    *out = number << shift;
    return true;
}

uint64_t qn_store_limit(const qn_logger *logger)
{
    const char *text = getenv("QUERN_CACHE_LIMIT");
    uint64_t limit;
    if (!text || !text[0]) {
        return DEFAULT_LIMIT;
    }
    if (parse_size(text, &limit) && limit > 0) {
        return limit;
    }
    qn_log(logger, QN_WARN,
           "QUERN_CACHE_LIMIT is \"%s\"; it may be a number of bytes, with K, M, G or T after it, "
           "such as 2G; 2G is used (QUERN_CACHE_DIR=off switches the cache off)",
           text);
    return DEFAULT_LIMIT;
}

/* Room for what the system's lists say of a user or a group: they ask for more (ERANGE) until it is
 * enough, and a group may have thousands of members. False: the last answer stands. */
static bool more_room(char **texts, size_t *size, int error)
{
    if (*texts && (error != ERANGE || *size >= MOST_TEXTS)) {
        return false;
    }
    *size = *size ? 4 * *size : 4096;
    qn_free(*texts);
    *texts = qn_alloc(*size);
    return *texts != NULL;
}

/* The user's own folder: HOME, else what the system's list of users says; "" for neither. */
static void find_home(qn_text *out)
{
    const char *home = getenv("HOME");
    char *texts = NULL;
    size_t size = 0;
    int error = ENOMEM;
    struct passwd entry, *found = NULL;
    if (!home || home[0] != '/') {
        while (more_room(&texts, &size, error)) {
            error = getpwuid_r(geteuid(), &entry, texts, size, &found);
        }
        home = found ? found->pw_dir : NULL;
    }
    qn_text_puts(out, home && home[0] == '/' ? home : "");
    qn_free(texts);
}

/* $HOME/.cache/quern; a missing home is not created: a service may have none on purpose. */
static void choose_home(qn_store *store, qn_text *path)
{
    struct stat facts;
    find_home(path);
    if (path->failed) {
        return;
    }
    if (path->length == 0) {
        qn_store_switch_off(store, "neither QUERN_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a "
                                   "folder for it, and the user has no home");
    } else if (stat(path->data, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        qn_store_switch_off(store,
                            "there is no home folder %s; QUERN_CACHE_DIR names another "
                            "folder for it",
                            path->data);
    }
    qn_text_puts(path, "/.cache/quern");
}

/* The path of the folder, which may not exist yet; NULL, and switched off, when there is none. */
static char *choose(qn_store *store, const char *asked)
{
    const char *xdg = getenv("XDG_CACHE_HOME");
    qn_text path = {0};
    if (!asked || !asked[0]) {
        asked = getenv("QUERN_CACHE_DIR");
    }
    if (asked && asked[0]) {
        qn_text_puts(&path, asked);
    } else if (xdg && xdg[0] == '/') {
        qn_text_printf(&path, "%s/quern", xdg);
    } else {
        choose_home(store, &path);
    }
    if (store->problem[0]) {
        qn_text_free(&path);
        return NULL;
    }
    return qn_text_take(&path);
}

/* Make the folder and those above it. An existing one is left as it is. */
static int make_folders(char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return 0;
    }
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || !slash || slash == path) {
        return errno;
    }
    *slash = '\0';
    int error = make_folders(path);
    *slash = '/';
    if (error == 0 && mkdir(path, 0700) != 0 && errno != EEXIST) {
        error = errno;
    }
    return error;
}

/* Look a group up by its name. */
static void find_named_group(qn_store *store, const char *name)
{
    char *texts = NULL;
    size_t size = 0;
    int error = ENOMEM;
    struct group entry, *found = NULL;
    while (more_room(&texts, &size, error)) {
        error = getgrnam_r(name, &entry, texts, size, &found);
    }
    if (found) {
        store->group = found->gr_gid;
        store->shared = true;
    } else if (error == 0) {
        qn_store_switch_off(store, "QUERN_CACHE_GROUP is \"%s\", and there is no such group", name);
    } else {
        qn_store_switch_off(store,
                            "QUERN_CACHE_GROUP is \"%s\", which cannot be looked up: %s; its "
                            "number can be given as well",
                            name, strerror(error));
    }
    qn_free(texts);
}

/* The group that QUERN_CACHE_GROUP names, by name or number. */
static void find_group(qn_store *store)
{
    const char *name = getenv("QUERN_CACHE_GROUP");
    char *end;
    if (!name || !name[0]) {
        return;
    }
    unsigned long number = strtoul(name, &end, 10);
    if (name[0] >= '0' && name[0] <= '9' && !*end) {
        store->group = (gid_t)number;
        store->shared = true;
    } else {
        find_named_group(store, name);
    }
}

/* Who owns a file or folder, and who may write to it, is to be trusted. */
static bool is_trusted(const qn_store *store, const struct stat *facts)
{
    if (store->shared && facts->st_gid == store->group) {
        return true;
    }
    return facts->st_uid == geteuid();
}

static bool others_may_write(const qn_store *store, const struct stat *facts)
{
    bool group = store->shared && facts->st_gid == store->group;
    return facts->st_mode & (group ? S_IWOTH : S_IWGRP | S_IWOTH);
}

/* A link that another user made may lead elsewhere tomorrow. */
static bool is_foreign_link(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode) && facts.st_uid != geteuid() &&
           facts.st_uid != 0;
}

/* The database, where there is one: root may have made it in the user's name. */
static void check_file(qn_store *store)
{
    struct stat facts;
    if (stat(store->path, &facts) == 0 && !is_trusted(store, &facts) && facts.st_uid != 0) {
        qn_store_switch_off(store, "%s belongs to another user (uid %u)", store->path,
                            (unsigned)facts.st_uid);
    } else if (is_foreign_link(store->path)) {
        qn_store_switch_off(store, "%s is a symbolic link of another user", store->path);
    }
}

void qn_store_check_folder(qn_store *store)
{
    struct stat facts;
    int error = make_folders(store->folder);
    if (is_foreign_link(store->folder)) {
        qn_store_switch_off(store, "the folder %s is a symbolic link of another user",
                            store->folder);
    } else if (error != 0) {
        qn_store_switch_off(store, "cannot make the folder %s: %s", store->folder, strerror(error));
    } else if (stat(store->folder, &facts) != 0) {
        qn_store_switch_off(store, "cannot use the folder %s: %s", store->folder, strerror(errno));
    } else if (!S_ISDIR(facts.st_mode)) {
        qn_store_switch_off(store, "%s is not a folder", store->folder);
    } else if (!is_trusted(store, &facts)) {
        qn_store_switch_off(store, "the folder %s belongs to another user (uid %u)", store->folder,
                            (unsigned)facts.st_uid);
    } else if (others_may_write(store, &facts)) {
        qn_store_switch_off(store,
                            "others may write in the folder %s (mode %04o): chmod 700 it, or name "
                            "the group that you trust in QUERN_CACHE_GROUP",
                            store->folder, facts.st_mode & 07777u);
    } else {
        check_file(store);
    }
}

bool qn_store_folder(qn_store *store, const char *asked)
{
    if (getauxval(AT_SECURE)) {
        qn_store_switch_off(store, "this program runs with another user's rights (set-uid)");
        return true;
    }
    find_group(store);
    store->folder = store->problem[0] ? NULL : choose(store, asked);
    if (store->problem[0]) {
        return true;
    }
    if (store->folder && strcmp(store->folder, "off") == 0) {
        memcpy(store->problem, "off", sizeof "off"); /* as asked: nothing to warn of */
        atomic_store(&store->is_off, true);
        return true;
    }
    qn_text path = {0};
    qn_text_printf(&path, "%s/" QN_CACHE_FILE, store->folder ? store->folder : "");
    store->path = qn_text_take(&path);
    if (!store->folder || !store->path) {
        return false;
    }
    qn_store_check_folder(store);
    return true;
}
