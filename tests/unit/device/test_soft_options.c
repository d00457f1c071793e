/* SPDX-License-Identifier: MIT
 *
 * What may follow "soft:": each item, several of them, and what is refused.
 */
#include "device/soft/soft_device.h"

#include <criterion/criterion.h>
#include <string.h>

static soft_options read(const char *argument)
{
    soft_options options;
    cr_assert_eq(qn_soft_options_read(&options, argument), QUERN_OK, "%s",
                 quern_last_error()->message);
    return options;
}

Test(soft_options, nothing_is_asked_by_default)
{
    const soft_options options = read(NULL), none = {0};
    cr_expect_eq(options.threads, none.threads);
    cr_expect_eq(options.limit, none.limit);
    cr_expect(!options.aids.check_init && !options.aids.check_races && !options.aids.trace);
}

Test(soft_options, threads)
{
    cr_expect_eq(read("1").threads, 1);
    cr_expect_eq(read("1024").threads, 1024);
    cr_expect_eq(read("4,limit=1").threads, 4);
    cr_expect_eq(read("limit=1").threads, 0);
}

Test(soft_options, limit)
{
    cr_expect_eq(read("limit=10").limit, 10);
    cr_expect_eq(read("limit=2.5").limit, 2.5);
    cr_expect_eq(read("limit=0.001").limit, 0.001);
    cr_expect_eq(read("limit=1000000").limit, 1e6);
}

Test(soft_options, shared)
{
    cr_expect_eq(read("limit=10").shared, 0);
    cr_expect_eq(read("shared=1").shared, 1);
    cr_expect_eq(read("2,shared=227").shared, 227);
}

Test(soft_options, check)
{
    const struct {
        const char *text;
        bool init, races, sync, limits, bounds;
    } cases[] = {{"check=init", true, false, false, false, false},
                 {"check=races", false, true, false, false, false},
                 {"check=sync", false, false, true, false, false},
                 {"check=limits", false, false, false, true, false},
                 {"check=div", false, false, false, false, false},
                 {"check=bounds", false, false, false, false, true},
                 {"check=sync+init", true, false, true, false, false},
                 {"check=limits+races+limits", false, true, false, true, false},
                 {"2,check=all", true, true, true, true, true},
                 {"check=all+sync", true, true, true, true, true}};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const qn_ptx_aids aids = read(cases[k].text).aids;
        cr_expect_eq(aids.check_init, cases[k].init, "%s", cases[k].text);
        cr_expect_eq(aids.check_races, cases[k].races, "%s", cases[k].text);
        cr_expect_eq(aids.check_sync, cases[k].sync, "%s", cases[k].text);
        cr_expect_eq(aids.check_limits, cases[k].limits, "%s", cases[k].text);
        cr_expect_eq(aids.check_bounds, cases[k].bounds, "%s", cases[k].text);
        cr_expect_eq(aids.check_streams, cases[k].bounds && cases[k].races, "%s", cases[k].text);
    }
    cr_expect(read("check=streams").aids.check_streams);
}

Test(soft_options, trace)
{
    const struct {
        const char *text;
        uint32_t block[3], thread[3];
    } cases[] = {
        {"trace=0/0", {0, 0, 0}, {0, 0, 0}},
        {"trace=7/31", {7, 0, 0}, {31, 0, 0}},
        {"1,trace=1.2/3.4.5,limit=9", {1, 2, 0}, {3, 4, 5}},
        {"trace=4294967295.0.6/0.1", {UINT32_MAX, 0, 6}, {0, 1, 0}},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const qn_ptx_aids aids = read(cases[k].text).aids;
        cr_expect(aids.trace, "%s", cases[k].text);
        cr_expect_arr_eq(aids.trace_block, cases[k].block, sizeof aids.trace_block, "%s",
                         cases[k].text);
        cr_expect_arr_eq(aids.trace_thread, cases[k].thread, sizeof aids.trace_thread, "%s",
                         cases[k].text);
    }
}

Test(soft_options, refuses_what_it_does_not_know_and_names_it)
{
    static const struct {
        const char *text, *item;
    } cases[] = {
        {"", "''"},
        {"4,", "''"},
        {",4", "''"},
        {"limit=1,4", "'4'"},
        {"4,5", "'5'"},
        {"1:2", "'1:2'"},
        {"4 ", "'4 '"},
        {"frob", "'frob'"},
        {"2,frob=1", "'frob=1'"},
        {"=4", "'=4'"},
        {"LIMIT=1", "'LIMIT=1'"},
        {"limit", "'limit'"},
        {"limit=", "'limit='"},
        {"limit=0", "'limit=0'"},
        {"limit=0.0", "'limit=0.0'"},
        {"limit=-1", "'limit=-1'"},
        {"limit=1.", "'limit=1.'"},
        {"limit=.5", "'limit=.5'"},
        {"limit=1e3", "'limit=1e3'"},
        {"limit=nan", "'limit=nan'"},
        {"limit=1000001", "'limit=1000001'"},
        {"limit=0.1234567890", "'limit=0.1234567890'"},
        {"limit=1,limit=2", "'limit=2'"},
        {"shared=", "'shared='"},
        {"shared=0", "'shared=0'"},
        {"shared=228", "'shared=228'"},
        {"shared=64K", "'shared=64K'"},
        {"shared=1,shared=2", "'shared=2'"},
        {"check=", "'check='"},
        {"check=initx", "'check=initx'"},
        {"check=init+", "'check=init+'"},
        {"check=+init", "'check=+init'"},
        {"check=init+x", "'check=init+x'"},
        {"check=init,check=races", "'check=races'"},
        {"trace=", "'trace='"},
        {"trace=1", "'trace=1'"},
        {"trace=1/", "'trace=1/'"},
        {"trace=/1", "'trace=/1'"},
        {"trace=1/2/3", "'trace=1/2/3'"},
        {"trace=1.2.3.4/0", "'trace=1.2.3.4/0'"},
        {"trace=1./0", "'trace=1./0'"},
        {"trace=4294967296/0", "'trace=4294967296/0'"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        soft_options options;
        cr_expect_eq(qn_soft_options_read(&options, cases[k].text), QUERN_ERROR_INVALID_ARGUMENT,
                     "%s", cases[k].text);
        const char *message = quern_last_error()->message;
        cr_expect(strstr(message, cases[k].item), "%s: %s", cases[k].text, message);
        cr_expect(strstr(message, "limit=SECONDS"), "%s: %s", cases[k].text, message);
    }
}
