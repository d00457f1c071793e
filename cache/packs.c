/* SPDX-License-Identifier: MIT
 *
 * The packs of an engine, in front of its database. In: their paths, or memory. Out: images. The
 * thing to know: a pack is shipped so that nobody need compile, so its images are taken whichever
 * compiler made them, and one by the compiler at hand comes first. A pack or an entry that is
 * damaged is a miss that is counted and told once.
 */
#include "cache/pack.h"
#include "cache/store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef struct pack {
    qn_pack_file file;
    char *name;             /* for messages */
    atomic_uchar *rejected; /* by row: the device did not take it */
} pack;

struct qn_packs {
    qn_logger logger;
    QN_LIST(pack) list;
    atomic_uint_fast64_t hits, faults;
};

/* ---- opening -------------------------------------------------------------------------------- */

static void count_fault(qn_packs *packs, const char *name, const char *what, const char *why)
{
    bool first = atomic_fetch_add(&packs->faults, 1) == 0;
    qn_log(&packs->logger, first ? QN_WARN : QN_DEBUG,
           "%s %s is not used: %s; what it should have is compiled when it is needed: see that the "
           "right file is named, or make it again with 'quern build'",
           what, name, why);
}

static void pack_free(pack *p)
{
    qn_pack_file_close(&p->file);
    qn_free(p->name);
    qn_free(p->rejected);
}

/* Take the file over. */
static bool add(qn_packs *packs, const char *name, qn_pack_file *file)
{
    pack p = {.file = *file,
              .name = qn_strdup(name),
              .rejected = qn_calloc(file->count + 1, sizeof(atomic_uchar))};
    if (!p.name || !p.rejected || !QN_ROOM(packs->list)) {
        pack_free(&p);
        return false;
    }
    packs->list.items[packs->list.count++] = p;
    return true;
}

static bool add_path(qn_packs *packs, const char *path)
{
    qn_pack_file file;
    const char *why;
    if (!qn_pack_file_open(&file, path, &why)) {
        count_fault(packs, path, "the pack", why);
        return true;
    }
    return add(packs, path, &file);
}

static bool add_memory(qn_packs *packs, const void *data, size_t bytes)
{
    static const char name[] = "in the program";
    qn_pack_file file;
    const char *why;
    if (!qn_pack_memory_open(&file, data, bytes, &why)) {
        count_fault(packs, name, "the pack", why);
        return true;
    }
    return add(packs, name, &file);
}

/* Those of the environment, with ":" between them. Not for programs that run with the rights of
 * another user: a pack is code. */
static bool add_listed(qn_packs *packs)
{
    const char *list = getauxval(AT_SECURE) ? NULL : getenv("QUERN_PACKS");
    bool good = true;
    while (good && list && *list) {
        size_t length = strcspn(list, ":");
        char *path = qn_strndup(list, length);
        good = path && (length == 0 || add_path(packs, path));
        qn_free(path);
        list += length + (list[length] == ':');
    }
    return good;
}

quern_status qn_packs_open(qn_packs **out, const char *const *paths, const void *data, size_t bytes,
                           const qn_logger *logger)
{
    *out = NULL;
    qn_packs *packs = qn_calloc(1, sizeof *packs);
    bool good = packs != NULL;
    if (good) {
        packs->logger = *logger;
        good = add_listed(packs);
    }
    for (size_t k = 0; good && paths && paths[k]; k++) {
        good = add_path(packs, paths[k]);
    }
    if (good && data) {
        good = add_memory(packs, data, bytes);
    }
    if (!good) {
        qn_packs_close(packs);
        return qn_fail_memory("opening packs of compiled kernels");
    }
    *out = packs;
    return QUERN_OK;
}

void qn_packs_close(qn_packs *packs)
{
    for (size_t k = 0; packs && k < packs->list.count; k++) {
        pack_free(&packs->list.items[k]);
    }
    if (packs) {
        qn_free(packs->list.items);
        qn_free(packs);
    }
}

/* ---- looking up ----------------------------------------------------------------------------- */

static bool is_of(const pack *p, size_t row, const unsigned char key[16])
{
    return row < p->file.count && memcmp(p->file.rows[row].key, key, 16) == 0;
}

/* The image of a row, if it is by `compiler` (NULL: by any). */
static bool take(qn_packs *packs, pack *p, size_t row, const qn_key *key, const char *compiler,
                 qn_image *out)
{
    if (atomic_load_explicit(&p->rejected[row], memory_order_relaxed)) {
        return false;
    }
    qn_entry entry;
    char *room;
    const char *why = NULL;
    bool hit = false;
    if (qn_pack_file_entry(&entry, &room, &p->file, row, &why)) {
        hit = (!compiler || qn_str_is(entry.compiler, compiler)) &&
              qn_entry_image(out, &entry, key, &why);
        qn_free(room);
    }
    if (!hit && why) {
        count_fault(packs, p->name, "a kernel of the pack", why);
    }
    return hit;
}

static bool get_from(qn_packs *packs, pack *p, const qn_key *key, const char *compiler,
                     qn_image *out)
{
    unsigned char stored[16];
    qn_row_key(stored, key);
    const size_t first = qn_pack_file_find(&p->file, stored);
    bool several = is_of(p, first, stored) && is_of(p, first + 1, stored), hit = false;
    for (size_t row = first; several && compiler && *compiler && !hit && is_of(p, row, stored);
         row++) {
        hit = take(packs, p, row, key, compiler, out);
    }
    for (size_t row = first; !hit && is_of(p, row, stored); row++) {
        hit = take(packs, p, row, key, NULL, out);
    }
    return hit;
}

bool qn_packs_get(qn_packs *packs, const qn_key *key, const char *compiler, qn_image *out)
{
    bool hit = false;
    for (size_t k = 0; !hit && k < packs->list.count; k++) {
        hit = get_from(packs, &packs->list.items[k], key, compiler, out);
    }
    if (hit) {
        atomic_fetch_add(&packs->hits, 1);
    }
    return hit;
}

void qn_packs_reject(qn_packs *packs, const qn_key *key)
{
    unsigned char stored[16];
    qn_row_key(stored, key);
    atomic_fetch_add(&packs->faults, 1);
    for (size_t k = 0; k < packs->list.count; k++) {
        pack *p = &packs->list.items[k];
        for (size_t row = qn_pack_file_find(&p->file, stored); is_of(p, row, stored); row++) {
            atomic_store_explicit(&p->rejected[row], 1, memory_order_relaxed);
        }
    }
}

int qn_packs_arch(const qn_packs *packs, qn_image_kind kind, int least, int below)
{
    int best = 0;
    for (size_t k = 0; k < packs->list.count; k++) {
        const qn_pack_file *file = &packs->list.items[k].file;
        for (size_t row = 0; row < file->count; row++) {
            const int arch = file->rows[row].arch;
            if (file->rows[row].kind == kind && arch >= least && arch < below && arch > best) {
                best = arch;
            }
        }
    }
    return best;
}

void qn_packs_stats(const qn_packs *packs, quern_cache_stats *stats)
{
    stats->packs = packs->list.count;
    stats->pack_entries = 0;
    for (size_t k = 0; k < packs->list.count; k++) {
        stats->pack_entries += packs->list.items[k].file.count;
    }
    stats->pack_hits = atomic_load(&packs->hits);
    stats->pack_faults = atomic_load(&packs->faults);
}
