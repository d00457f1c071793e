/* SPDX-License-Identifier: MIT
 *
 * Why something was compiled: what differs between two keys, in words; and what the store says and
 * counts of each reason. A damaged material is compared as far as it goes.
 */
#include "scratch.h"

#include <criterion/criterion.h>

TestSuite(why, .init = scratch_make, .fini = scratch_delete);

static const char *const three[] = {"-DN=3"}, *const four[] = {"-DN=4"},
                         *const more[] = {"-DN=3", "-G"};
static const qn_header a[] = {{"a.h", "int a;"}}, a2[] = {{"a.h", "int b;"}};
static const qn_include file[] = {{"f.h", {1, 2}}}, file2[] = {{"f.h", {1, 3}}};
static const qn_includes includes = {.files = file, .file_count = 1},
                         includes2 = {.files = file2, .file_count = 1},
                         cuda = {.files = file, .file_count = 1, .cuda = 5};

static const qn_key_piece cubin[] = {{QN_IMAGE_CUBIN, "x", 1}}, ptx[] = {{QN_IMAGE_PTX, "x", 1}};

#define COMMON .arch = 90, .kind = QN_IMAGE_CUBIN

static const struct {
    qn_key_fields mine, other;
    const char *words;
} differences[] = {
    {{.source = "s", COMMON}, {.source = "s", COMMON}, ""},
    {{.source = "a\nb\nc", COMMON}, {.source = "a\nb\nd", COMMON}, "the source (line 3)"},
    {{.source = "a", COMMON}, {.source = "a\nb", COMMON}, "the source (line 1)"},
    {{.source = "s", .options = four, .option_count = 1, COMMON},
     {.source = "s", .options = three, .option_count = 1, COMMON},
     "the options (-DN=4)"},
    {{.source = "s", .options = three, .option_count = 1, COMMON},
     {.source = "s", .options = more, .option_count = 2, COMMON},
     "the options (without -G)"},
    {{.source = "s", .headers = a, .header_count = 1, COMMON},
     {.source = "s", .headers = a2, .header_count = 1, COMMON},
     "the header a.h"},
    {{.source = "s", .includes = &includes, COMMON},
     {.source = "s", .includes = &includes2, COMMON},
     "the header f.h"},
    {{.source = "s", .includes = &includes, COMMON},
     {.source = "s", .includes = &cuda, COMMON},
     "the version of CUDA's headers"},
    {{.source = "s", .arch = 90, .kind = QN_IMAGE_CUBIN},
     {.source = "t", .arch = 80, .kind = QN_IMAGE_PTX},
     "the source (line 1), the target (90, not 80), the kind of code"},
    {{.source = "s", .line_info = true, .file_name = "x.cu", COMMON},
     {.source = "s", .file_name = "y.cu", COMMON},
     "line information, the file's name (x.cu)"},
    {{.source = "", .pieces = cubin, .piece_count = 1, COMMON},
     {.source = "", .pieces = ptx, .piece_count = 1, COMMON},
     "the kind of a linked piece"},
};

Test(why, differences_in_words)
{
    for (size_t k = 0; k < QN_COUNT(differences); k++) {
        qn_key mine, other;
        qn_text words = {0};
        qn_text_puts(&words, "");
        cr_assert_eq(qn_key_make(&mine, &differences[k].mine), QUERN_OK);
        cr_assert_eq(qn_key_make(&other, &differences[k].other), QUERN_OK);
        size_t count = qn_key_difference(&words, (qn_str){mine.material, mine.material_size},
                                         (qn_str){other.material, other.material_size});
        cr_expect_str_eq(words.data, differences[k].words, "%s", words.data);
        cr_expect_eq(count > 0, differences[k].words[0] != '\0');
        for (size_t size = 0; size < other.material_size; size++) { /* cut off anywhere */
            (void)qn_key_difference(&words, (qn_str){mine.material, mine.material_size},
                                    (qn_str){other.material, size});
        }
        qn_text_free(&words);
        qn_key_free(&mine);
        qn_key_free(&other);
    }
}

static void expect_why(qn_store *store, int number, const char *compiler, const char *words)
{
    qn_text why = {0};
    qn_key key = scratch_key(number);
    qn_image image;
    const qn_store_row row = {.name = "k", .compiler = compiler};
    cr_expect_not(qn_store_get(store, &key, compiler, &image));
    qn_store_why(store, &key, &row, false, &why);
    cr_expect(why.data && strstr(why.data, words), "%s: %s", words, why.data);
    qn_text_free(&why);
    qn_key_free(&key);
}

Test(why, each_reason_is_counted)
{
    qn_store *store = scratch_store(scratch, 0);
    expect_why(store, 1, "abc", "nothing named 'k'");
    scratch_put(store, 1, 100, "abc");
    expect_why(store, 2, "abc", "it differs from the 'k' in the cache");
    expect_why(store, 1, "xyz", "another NVRTC");
    cr_assert(scratch_sql("UPDATE payload SET image = x'00'"));
    expect_why(store, 1, "abc", "damaged, or rejected");
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_eq(stats.compiled_new, 1);
    cr_expect_eq(stats.compiled_changed, 1);
    cr_expect_eq(stats.compiled_compiler, 1);
    cr_expect_eq(stats.compiled_damaged, 1);
    qn_text why = {0};
    qn_key key = scratch_key(1);
    qn_store_why(store, &key, &(qn_store_row){.name = "k"}, true, &why);
    cr_expect_eq(scratch_stats(store).compiled_opaque, 1);
    char last[200];
    qn_store_last_why(store, last, sizeof last);
    cr_expect_eq(strncmp(last, "k: it is never kept", 19), 0, "%s", last);
    qn_text_free(&why);
    qn_key_free(&key);
    qn_store_close(store);
    store = scratch_store("off", 0);
    expect_why(store, 1, "abc", "there is no cache: off");
    cr_expect_eq(scratch_stats(store).compiled_unread, 1);
    qn_store_close(store);
}

/* ---- counts of all processes ---------------------------------------------------------------- */

Test(why, counts_are_summed_over_stores)
{
    for (int k = 0; k < 3; k++) {
        qn_store *store = scratch_store(scratch, 0);
        scratch_put(store, k, 100, "abc");
        cr_expect(scratch_get(store, k, 100, "abc"));
        cr_expect_not(scratch_get(store, 100, 100, "abc"));
        quern_cache_stats totals = {.size = sizeof totals};
        cr_assert_eq(qn_store_totals(store, &totals), QUERN_OK);
        cr_expect_eq(totals.hits, k + 1, "with this store's, which is still open");
        cr_expect_eq(totals.misses, k + 1);
        cr_expect_eq(scratch_stats(store).hits, 1);
        qn_store_close(store);
    }
}

/* ---- pruning -------------------------------------------------------------------------------- */

Test(why, pruned_by_size_and_by_age)
{
    uint64_t removed;
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < 100; k++) {
        scratch_put(store, k, 20000, "abc");
    }
    cr_assert(scratch_sql("UPDATE image SET last_used = last_used - 10 * 86400 - 100 + id "
                          "WHERE id <= 30"));
    cr_assert_eq(qn_store_prune(store, &removed, INT64_MAX, 9), QUERN_OK);
    cr_expect_eq(removed, 30, "%d", (int)removed);
    uint64_t bytes = scratch_stats(store).bytes;
    cr_assert_eq(qn_store_prune(store, &removed, bytes / 2, 0), QUERN_OK);
    cr_expect_eq(removed, 35, "%d", (int)removed);
    cr_expect_leq(scratch_stats(store).bytes, bytes / 2);
    cr_assert_eq(qn_store_prune(store, &removed, 0, 0), QUERN_OK);
    cr_expect_eq(scratch_stats(store).entries, 0);
    scratch_put(store, 1, 100, "abc");
    cr_expect(scratch_get(store, 1, 100, "abc"));
    cr_expect_eq(scratch_stats(store).faults, 0);
    qn_store_close(store);
    struct stat facts;
    cr_assert_eq(stat(scratch_path(QN_CACHE_FILE), &facts), 0);
    cr_expect_leq(facts.st_size, 200000, "the space was given back");
}
