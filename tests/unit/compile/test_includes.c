/* SPDX-License-Identifier: MIT
 *
 * What a source includes: the files that are followed, their hashes, the folders of CUDA's headers,
 * and what the compiler makes of them. Each test is a process of its own, because CUDA's folders
 * are looked for only once.
 */
#include "../cache/scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

TestSuite(includes, .init = scratch_make, .fini = scratch_delete);

/* "a.h, b.h, -nix.h?": the names found, with a - before those that are nowhere, and a ? where there
 * may be more. */
static char *names_of(const qn_includes *includes)
{
    static char names[2000];
    names[0] = '\0';
    for (size_t k = 0; k < includes->file_count; k++) {
        const qn_include *file = &includes->files[k];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s%s", k ? ", " : "",
                 file->hash[0] | file->hash[1] ? "" : "-", file->name);
    }
    strcat(names, includes->opaque ? "?" : "");
    return names;
}

static void expect_names(const qn_compile_request *request, const char *names)
{
    qn_includes includes;
    cr_assert_eq(qn_includes_find(&includes, request), QUERN_OK);
    cr_expect_str_eq(names_of(&includes), names, "%s: %s", request->source, names_of(&includes));
    qn_includes_free(&includes);
}

static const struct {
    const char *source, *names;
} sources[] = {
    {"int x;", ""},
    {"#include \"a.h\"", "a.h"},
    {"#include <a.h>", "a.h"},
    {"  #  include\t\"a.h\" // as ever\n", "a.h"},
    {"/* first */ # /**/ include /* then */ \"a.h\"", "a.h"},
    {"#include \\\n \"a.h\"", "a.h"},
    {"#include_next <a.h>", "a.h?"},
    {"#include\"a.h\"\n#include<b.h>", "a.h, b.h"},
    {"#include \"a.h\"\n#include \"a.h\"", "a.h"},
    {"#if 0\n#include \"a.h\"\n#endif", "a.h"},
    {"// #include \"a.h\"\n/* \n#include \"a.h\"\n*/", ""},
    {"const char *s = \"/*\";\n#include \"a.h\"", "a.h"},
    {"const char *s = R\"(/* \" )\";\n#include \"a.h\"", "a.h"},
    {"#error don't\n#include \"a.h\"", "a.h"},
    {"int n = 1'000;\n#include \"a.h\"", "a.h"},
    {"char c = u8'a', d = u8'\"';\n#include \"a.h\"", "a.h"},
    {"#include NAME\n#include\n#include \"\n#include <\n#include \"\"", "?"},
    {"#include \"nix.h\"", "-nix.h"},
    {"#include \"sub/c.h\"", "sub/c.h, d.h"},
    {"#include \"memory.h\"", "b.h"},
    {"#include \"sub\"", "-sub"},
    {"#include \"source.h\"\n#include <source.h>", "source.h, -source.h"},
    {"#includes \"a.h\"", ""},
    {"#include NAME\n#include <a.h>", "a.h?"},
    {"#include/**/NAME(a.h)", "?"},
    {"// #include NAME", ""},
    {"%:include <a.h>", "a.h"},
    {"  %: include NAME", "?"},
    {"int m = 7 % 2;\n#include <a.h>", "a.h"},
    {"#inc\\\nlude <a.h>", "a.h"},
    {"#inc\\\r\nlude \"a\\\n.h\"", "a.h"},
    {"#include \\\r\n<a.h>\r\n#include <b.h>\r\n", "a.h, b.h"},
    {"%\\\n: include <a.h>", "a.h"},
    {"// a comment \\\n#include NAME\n#include <b.h>", "b.h"},
    {"#if __has_include(<a.h>)\n#endif", "a.h"},
    {"#if __has_include ( \"nix.h\" ) || __has_\\\ninclude(<b.h>)\n#endif", "-nix.h, b.h"},
    {"#if __has_include(NAME)\n#endif", "?"},
    {"#if __has_include_next(<a.h>)\n#endif", "?"},
    {"#define HAS __has_include\n", "?"},
    {"#ifdef __has_include\n#if defined(__has_include) && __has_include(<a.h>)\n", "a.h"},
    {"#if 1\n__has_include", "?"},
    {"\"unfinished\n#include \"a.h\"", "a.h"},
    {"/* unfinished\n#include \"a.h\"", ""},
};

Test(includes, names)
{
    static const qn_header headers[] = {{"memory.h", "#include <b.h>"}};
    char option[300];
    snprintf(option, sizeof option, "-I%s", scratch_path("inc"));
    const char *options[] = {option};
    scratch_write("inc/a.h", "int a;");
    scratch_write("inc/b.h", "int b;");
    scratch_write("inc/sub/c.h", "#include \"d.h\"");
    scratch_write("inc/sub/d.h", "int d;");
    scratch_write("src/source.h", "int s;");
    scratch_write("src/memory.h", "#error hidden by the one in memory");
    for (size_t k = 0; k < QN_COUNT(sources); k++) {
        bool memory = strstr(sources[k].source, "memory") != NULL;
        qn_compile_request request = {.source = sources[k].source,
                                      .file_name = scratch_path("src/mine.cu"),
                                      .options = options,
                                      .option_count = 1,
                                      .headers = headers,
                                      .header_count = memory};
        expect_names(&request, sources[k].names);
    }
}

Test(includes, ways_to_name_a_folder)
{
    char joined[300], blank[300], equals[300], file[300];
    snprintf(joined, sizeof joined, "-I%s", scratch);
    snprintf(blank, sizeof blank, "-I %s/", scratch);
    snprintf(equals, sizeof equals, "--include-path=%s", scratch);
    snprintf(file, sizeof file, "--pre-include=%s", scratch_path("a.h"));
    const char *options[][3] = {{joined},
                                {blank},
                                {equals},
                                {"-I", scratch},
                                {"--include-path", scratch},
                                {"-DX", "-Inix", joined}};
    scratch_write("a.h", "int a;");
    for (size_t k = 0; k < QN_COUNT(options); k++) {
        size_t count = 1 + (options[k][1] != NULL) + (options[k][2] != NULL);
        qn_compile_request request = {
            .source = "#include <a.h>", .options = options[k], .option_count = count};
        expect_names(&request, "a.h");
    }
    const char *before[] = {file, "-include", "a.h", joined};
    qn_compile_request request = {.source = "", .options = before, .option_count = 1};
    expect_names(&request, "a.h");
    request.options = before + 1;
    request.option_count = 3;
    expect_names(&request, "a.h");
    request.option_count = 1; /* a folder that is not given is not searched */
    expect_names(&request, "");
    before[1] = "-DHAVE=__has_include(<a.h>)";
    expect_names(&request, "?");
}

/* With these the compiler reads or writes files that no key covers. */
Test(includes, options_that_reach_outside)
{
    static const char *const names[] = {"--pch",           "-pch",
                                        "--use-pch=x.pch", "--create-pch=x.pch",
                                        "--pch-dir=d",     "-fdevice-time-trace=t.json",
                                        "--time=t.csv"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        expect_names(&(qn_compile_request){.source = "", .options = &names[k], .option_count = 1},
                     "?");
        expect_names(&(qn_compile_request){.source = "#include <a.h>",
                                           .options = &names[k],
                                           .option_count = 1},
                     "-a.h?");
    }
}

Test(includes, the_folder_of_the_source_can_be_left_out)
{
    char folder[300];
    snprintf(folder, sizeof folder, "-I%s", scratch_path("inc"));
    const char *options[] = {folder, "--no-source-include"};
    scratch_write("src/a.h", "#include \"beside.h\"");
    scratch_write("src/beside.h", "int s;");
    scratch_write("inc/a.h", "#include \"beside.h\"");
    scratch_write("inc/beside.h", "#include <deep.h>");
    qn_compile_request request = {.source = "#include \"a.h\"",
                                  .file_name = scratch_path("src/mine.cu"),
                                  .options = options,
                                  .option_count = 1};
    expect_names(&request, "a.h, beside.h");
    request.option_count = 2;
    expect_names(&request, "a.h, beside.h, -deep.h");
}

static qn_compile_request simple = {.source = "#include \"chain0.h\"\n#include \"circle.h\"\n"};

Test(includes, circles_depth_and_size)
{
    char name[40], text[60];
    for (int k = 0; k < 1000; k++) {
        snprintf(name, sizeof name, "chain%d.h", k);
        snprintf(text, sizeof text, "#include \"chain%d.h\"\n", k + 1);
        scratch_write(name, text);
    }
    scratch_write("circle.h", "#include \"circle.h\"\n#include \"round.h\"");
    scratch_write("round.h", "#include \"circle.h\"\n#include \"huge.h\"");
    qn_text huge = {0};
    for (int k = 0; k < 400000; k++) {
        qn_text_puts(&huge, "float function_of_no_use(float x);\n");
    }
    qn_text_puts(&huge, "#include \"last.h\"\n");
    scratch_write("huge.h", huge.data);
    qn_text_free(&huge);
    simple.file_name = scratch_path("mine.cu");
    qn_includes includes;
    cr_assert_eq(qn_includes_find(&includes, &simple), QUERN_OK);
    cr_expect_eq(includes.file_count, 1000 + 1 + 4, "%zu", includes.file_count);
    qn_includes_free(&includes);
}

Test(includes, what_cannot_be_read_is_absent)
{
    scratch_write("chain0.h", "int x;");
    cr_assert_eq(chmod(scratch_path("chain0.h"), 0), 0);
    cr_assert_eq(mkfifo(scratch_path("circle.h"), 0600), 0); /* must not be waited for */
    simple.file_name = scratch_path("mine.cu");
    expect_names(&simple, geteuid() == 0 ? "chain0.h, -circle.h" : "-chain0.h, -circle.h");
    cr_expect_eq(quern_last_error()->status, QUERN_OK, "nothing is left behind");
}

Test(includes, a_zero_byte_hides_nothing)
{
    FILE *file = fopen(scratch_path("chain0.h"), "w");
    cr_assert(file && fwrite("int x;\0\n#include <a.h>\n", 1, 24, file) == 24);
    fclose(file);
    simple.file_name = scratch_path("mine.cu");
    expect_names(&simple, "chain0.h, -circle.h, -a.h");
}

Test(includes, out_of_memory_is_told)
{
    scratch_write("chain0.h", "#include \"circle.h\"");
    scratch_write("circle.h", "#include <cuda_fp16.h>");
    simple.file_name = scratch_path("mine.cu");
    quern_status status = QUERN_ERROR_OUT_OF_MEMORY;
    qn_includes includes;
    cr_assert_eq(qn_includes_find(&includes, &simple), QUERN_OK); /* CUDA's folders are found */
    qn_includes_free(&includes);
    for (uint64_t n = 1; n < 100 && status != QUERN_OK; n++) {
        qn_memory_fail_after(n, true);
        status = qn_includes_find(&includes, &simple);
        qn_memory_fail_after(0, false);
        cr_expect(status == QUERN_OK ? n > 4 : status == QUERN_ERROR_OUT_OF_MEMORY);
        qn_includes_free(&includes);
    }
    cr_expect_eq(status, QUERN_OK, "it never succeeded");
}

/* ---- the library ---------------------------------------------------------------------------- */

static const qn_header library[] = {
    {"lib/one.h", "#include <lib/two.h>\n#include \"lib/one.h\"\n"},
    {"lib/two.h", "#include <a.h>\n"},
    {"lib/three.h", "#include <lib/one.h>\n"},
    {"b.h", "#include <lib/one.h>\n"},
    {"memory.h", ""},
};

static const struct {
    const char *source, *library, *names;
} library_sources[] = {
    {"int x;", "", ""},
    {"#include <lib/one.h>", "lib/one.h, lib/two.h", "a.h"},
    {"#include <lib/two.h>\n#include <lib/two.h>", "lib/two.h", "a.h"},
    {"#include \"lib/three.h\"", "lib/three.h, lib/one.h, lib/two.h", "a.h"},
    {"#include <a.h>\n#include <b.h>", "", "a.h, b.h"}, /* a file goes first, */
    {"#include <memory.h>", "", "b.h"},                 /* and so does what is in memory */
    {"#include <lib/nix.h>", "", "-lib/nix.h"},
    {"#include <sub/c.h>\n#include <lib/two.h>", "lib/two.h", "sub/c.h, a.h, -d.h"},
};

/* Only what is nowhere else comes from the library, with what it includes itself. */
Test(includes, library)
{
    static const qn_header headers[] = {{"memory.h", "#include <b.h>"}};
    char option[300];
    snprintf(option, sizeof option, "-I%s", scratch_path("inc"));
    const char *options[] = {option};
    scratch_write("inc/a.h", "int a;");
    scratch_write("inc/b.h", "int b;");
    scratch_write("inc/sub/c.h", "#include \"d.h\"");
    for (size_t c = 0; c < QN_COUNT(library_sources); c++) {
        const char *source = library_sources[c].source;
        qn_compile_request request = {.source = source,
                                      .file_name = scratch_path("mine.cu"),
                                      .options = options,
                                      .option_count = 1,
                                      .headers = headers,
                                      .header_count = strstr(source, "memory") != NULL,
                                      .library = library,
                                      .library_count = QN_COUNT(library)};
        qn_includes includes;
        cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
        qn_text names = {0};
        for (size_t k = 0; k < includes.library_count; k++) {
            qn_text_printf(&names, "%s%s", k ? ", " : "", includes.library[k].name);
        }
        cr_expect_str_eq(names.data ? names.data : "", library_sources[c].library, "case %zu", c);
        cr_expect_str_eq(names_of(&includes), library_sources[c].names, "case %zu: %s", c,
                         names_of(&includes));
        qn_text_free(&names);
        qn_includes_free(&includes);
    }
}

/* ---- CUDA's headers ------------------------------------------------------------------------- */

static void make_toolkit(const char *version)
{
    char text[100];
    snprintf(text, sizeof text, "// long\n#define CUDART_VERSION  %s\n// more\n", version);
    scratch_write("toolkit/include/cuda_runtime_api.h", text);
    scratch_write("toolkit/include/cuda_fp16.h", "#error not for the key\n#include \"nix.hpp\"");
    scratch_write("toolkit/include/nv/target", "");
    scratch_write("toolkit/include/cccl/cuda/std/version", "");
    scratch_write("toolkit/include/cccl/cub/cub.cuh", "");
    setenv("CUDA_HOME", scratch_path("toolkit"), 1);
}

Test(includes, cuda_headers_are_found_and_not_read)
{
    clearenv();
    make_toolkit("13000");
    qn_compile_request request = {.source = "#include <cuda_fp16.h>\n#include <cub/cub.cuh>"};
    qn_includes includes;
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    cr_expect_eq(includes.file_count, 0);
    cr_assert_eq(includes.folder_count, 2);
    cr_expect_str_eq(includes.folders[0], scratch_path("toolkit/include"));
    cr_expect_str_eq(includes.folders[1], scratch_path("toolkit/include/cccl"));
    cr_expect_neq(includes.cuda, 0);
    qn_includes_free(&includes);
    request.source = "#include \"cuda_fp16.h\"";
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    cr_expect_eq(includes.folder_count, 2, "CUDA's headers include some of CCCL's");
    qn_includes_free(&includes);
    request.source = "#include \"nix.h\"";
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    cr_expect_eq(includes.folder_count, 0);
    cr_expect_eq(includes.cuda, 0);
    qn_includes_free(&includes);
}

Test(includes, a_toolkit_among_the_users_folders_is_not_read_either)
{
    clearenv();
    make_toolkit("13000");
    unsetenv("CUDA_HOME");
    const char *options[] = {"-I", scratch_path("toolkit/include")};
    qn_compile_request request = {
        .source = "#include <cuda_fp16.h>", .options = options, .option_count = 2};
    uint64_t versions[2];
    for (int k = 0; k < 2; k++) {
        qn_includes includes;
        cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
        cr_expect_eq(includes.file_count, 0);
        cr_expect_eq(includes.folder_count, 0);
        versions[k] = includes.cuda;
        qn_includes_free(&includes);
        make_toolkit("13010");
    }
    cr_expect_neq(versions[0], versions[1]);
}

Test(includes, the_users_own_headers_beside_cudas_are_read)
{
    clearenv();
    make_toolkit("13000");
    unsetenv("CUDA_HOME");
    scratch_write("toolkit/include/my.h", "#include \"cuda_fp16.h\"\n#include <far.h>");
    scratch_write("toolkit/include/far.h", "int far;");
    scratch_write("toolkit/include/cuda_mine.h", "int mine;");
    static const char *const folders[] = {"toolkit/include", "toolkit/include/"};
    for (size_t k = 0; k < QN_COUNT(folders); k++) {
        const char *options[] = {"-I", scratch_path(folders[k])};
        qn_compile_request request = {.source = "#include <my.h>\n#include \"cuda_mine.h\"",
                                      .options = options,
                                      .option_count = 2};
        expect_names(&request, "my.h, cuda_mine.h, far.h");
        qn_includes includes;
        cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
        cr_expect_neq(includes.cuda, 0, "CUDA's are known by their version");
        qn_includes_free(&includes);
    }
}

Test(includes, the_users_own_headers_in_a_toolkit_are_read)
{
    clearenv();
    make_toolkit("13000");
    scratch_write("toolkit/include/my.h", "#include <far.h>");
    scratch_write("toolkit/include/cccl/far.h", "int far;");
    qn_compile_request request = {.source = "#include <my.h>\n#include <cuda_fp16.h>"};
    expect_names(&request, "my.h, far.h");
}

/* ---- compiled ------------------------------------------------------------------------------- */

static void need_toolkit(void)
{
    qn_compiler_identity identity;
    qn_includes includes;
    qn_compile_request request = {.source = "#include <cuda_fp16.h>\n#include <nv/target>"};
    if (!qn_compiler_find(&identity, NULL)) {
        /* It is about what the compiler itself makes of headers. Runs wherever NVRTC is: ./dev test
         * fetches it where it is absent. */
        /* It compiles for real. Under ./dev it never skips: NVRTC is fetched where there is none.
         */
        cr_skip_test("NVRTC is not on this machine");
    }
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    bool there = includes.folder_count > 0 && includes.file_count == 0;
    qn_includes_free(&includes);
    if (!there) {
        /* Made-up headers, as the tests above have, would not show that CUDA's own are found and
         * compile. ./dev fetches them where there is no CUDA Toolkit. */
        cr_skip_test("CUDA's headers are not on this machine");
    }
}

static quern_status compile(const char *source, const char *file_name)
{
    qn_compile_request request = {
        .source = source, .file_name = file_name, .arch = 90, .kind = QN_IMAGE_PTX};
    qn_includes includes;
    qn_image image;
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    request.includes = &includes;
    quern_status status = qn_compile(&image, &request, NULL, 0);
    qn_includes_free(&includes);
    qn_image_free(&image);
    return status;
}

Test(includes, real_headers_compile, .init = need_toolkit)
{
    static const char *const names[] = {
        "cuda_fp16.h",          "cuda_bf16.h",      "mma.h",
        "cooperative_groups.h", "cuda/std/cstdint", "cub/block/block_reduce.cuh"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        char source[200];
        snprintf(source, sizeof source, "#include <%s>\n__global__ void k() {}\n", names[k]);
        cr_expect_eq(compile(source, "mine.cu"), QUERN_OK, "%s: %s", names[k],
                     quern_last_error_text());
    }
}

Test(includes, a_missing_header_says_from_where_and_what_to_do, .init = need_toolkit)
{
    scratch_write("own.h", "\n#include <far/away.h>\n");
    cr_expect_eq(compile("#include \"own.h\"\n", scratch_path("mine.cu")), QUERN_ERROR_COMPILE);
    const char *message = quern_last_error()->message;
    char place[300];
    snprintf(place, sizeof place, "%s:2:11: the header \"far/away.h\" was not found",
             scratch_path("own.h"));
    cr_expect(strncmp(message, place, strlen(place)) == 0, "%s", message);
    cr_expect(strstr(message, "add its folder with -I"));
    snprintf(place, sizeof place, "looked in: %s", scratch);
    cr_expect_null(strstr(message, place), "<> is not looked for beside the file: %s", message);
    cr_expect(strstr(quern_last_error()->log, "far/away.h"));
    scratch_write("sub/quoted.h", "#include \"far.h\"\n");
    cr_expect_eq(compile("#include \"sub/quoted.h\"\n", scratch_path("mine.cu")),
                 QUERN_ERROR_COMPILE);
    snprintf(place, sizeof place, "; looked in: %s, ", scratch_path("sub"));
    cr_expect(strstr(quern_last_error()->message, place), "%s", quern_last_error()->message);
    cr_expect_eq(compile("#include \"far.h\"\n", "mine.cu"), QUERN_ERROR_COMPILE);
    cr_expect(strstr(quern_last_error()->message, "; looked in: the working folder, "), "%s",
              quern_last_error()->message);
    cr_expect_eq(compile("#include <vector>\n", "mine.cu"), QUERN_ERROR_COMPILE);
    cr_expect(strstr(quern_last_error()->message, "none of the host's headers"), "%s",
              quern_last_error()->message);
}
