/* SPDX-License-Identifier: MIT
 *
 * The parts of the second level one by one: breaker, addresses, secrets, modes, signatures,
 * envelopes, the queue and the spreading of a list. Recipes have test_recipes.c.
 */
#include "cache/fleet.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/wait.h>

TestSuite(remote, .init = scratch_make, .fini = scratch_delete);

/* ---- breaker -------------------------------------------------------------------------------- */

Test(remote, breaker_doubles_its_pause)
{
    qn_breaker breaker = {0};
    double now = 1000, pause = 10e3;
    cr_expect_not(qn_breaker_is_off(&breaker, now));
    for (int k = 0; k < 12; k++) {
        qn_breaker_failed(&breaker, now);
        cr_expect(qn_breaker_is_off(&breaker, now + pause - 1));
        cr_expect_not(qn_breaker_is_off(&breaker, now + pause));
        now += pause;
        pause = QN_MIN(2 * pause, 600e3);
    }
    cr_expect_eq(breaker.pause_ms, 600e3);
    qn_breaker_worked(&breaker);
    qn_breaker_failed(&breaker, now);
    cr_expect_eq(breaker.pause_ms, 10e3);
}

Test(remote, deadline_grows_with_what_came)
{
    qn_deadline past = {qn_now_ms() - 200, 100};
    cr_expect_eq(qn_deadline_left(&past, 0), 0);
    cr_expect_gt(qn_deadline_left(&past, 50 * QN_REMOTE_BYTES_PER_MS * 10), 300);
}

/* ---- addresses and secrets ------------------------------------------------------------------ */

Test(remote, addresses)
{
    static const struct {
        const char *url, *scheme, *host, *path;
        int port;
    } good[] = {
        {"https://cache.example.org/quern", "https", "cache.example.org", "/quern", 0},
        {"redis://10.0.0.1:6380/2", "redis", "10.0.0.1", "/2", 6380},
        {"http://[::1]:8080", "http", "[::1]", "", 8080},
        {"redis://h", "redis", "h", "", 0},
    };
    static const char *const bad[] = {"",
                                      "cache",
                                      "://h",
                                      "redis://",
                                      "redis://:6379",
                                      "redis://h:",
                                      "redis://h:0",
                                      "redis://h:65536",
                                      "redis://h:6a",
                                      "http://h\n/",
                                      "http://h/a b",
                                      "http://h/?x=1",
                                      "http://h/#x",
                                      "averyveryverylongscheme://h"};
    qn_remote_url url;
    for (size_t k = 0; k < QN_COUNT(good); k++) {
        cr_assert_eq(qn_remote_url_read(&url, good[k].url), QUERN_OK, "%s", good[k].url);
        cr_expect_str_eq(url.scheme, good[k].scheme);
        cr_expect_str_eq(url.host, good[k].host);
        cr_expect_str_eq(url.path, good[k].path);
        cr_expect_eq(url.port, good[k].port);
    }
    for (size_t k = 0; k < QN_COUNT(bad); k++) {
        cr_expect_eq(qn_remote_url_read(&url, bad[k]), QUERN_ERROR_INVALID_ARGUMENT, "%s", bad[k]);
    }
}

Test(remote, no_secret_in_an_address_or_a_message)
{
    qn_remote_url url;
    cr_expect_eq(qn_remote_url_read(&url, "redis://me:geheim@h"), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_null(strstr(quern_last_error()->message, "geheim"));
    cr_expect(strstr(quern_last_error()->message, "QUERN_REMOTE_AUTH"));
}

Test(remote, secrets_only_from_files_of_mode_0600)
{
    char text[300], *secret;
    scratch_write("secret", "me:geheim\n");
    snprintf(text, sizeof text, "@%s", scratch_path("secret"));
    for (unsigned mode = 0; mode <= 0777; mode++) {
        chmod(scratch_path("secret"), mode | 0400);
        const bool fine = (mode & 077) == 0;
        quern_status status = qn_secret_read(&secret, "QUERN_REMOTE_AUTH", text);
        cr_assert_eq(status == QUERN_OK, fine, "mode %o", mode | 0400);
        if (fine) {
            cr_expect_str_eq(secret, "me:geheim");
        }
        qn_secret_free(secret);
    }
    cr_assert_eq(qn_secret_read(&secret, "X", "plain"), QUERN_OK);
    cr_expect_str_eq(secret, "plain");
    qn_secret_free(secret);
    cr_expect_eq(qn_secret_read(&secret, "X", "@/no/such/file"), QUERN_ERROR_IO);
}

/* ---- who is believed ------------------------------------------------------------------------ */

/* Those whom `r` has believed so far are freed. */
static quern_status settle(qn_remote *r, const char *mode, const char *trust, const char *sign)
{
    qn_free(r->trust.items);
    *r = (qn_remote){0};
    setenv("QUERN_REMOTE_MODE", mode, 1);
    setenv("QUERN_REMOTE_TRUST", trust, 1);
    setenv("QUERN_REMOTE_SIGN", sign, 1);
    return qn_remote_settings(r);
}

static void need_sodium(void)
{
    if (!qn_sign_ready(NULL)) {
        cr_skip_test("libsodium is not installed");
    }
}

Test(remote, modes)
{
    char key[300], trust[300];
    quern_public_key public = QUERN_PUBLIC_KEY_INIT;
    qn_remote r = {0};
    need_sodium();
    snprintf(key, sizeof key, "%s", scratch_path("key"));
    cr_assert_eq(quern_signing_key(&public, key, "writer"), QUERN_OK);
    scratch_write("trust", public.line);
    snprintf(trust, sizeof trust, "%s", scratch_path("trust"));

    cr_expect_eq(settle(&r, "", "", ""), QUERN_ERROR_INVALID_ARGUMENT, "somebody must be named");
    cr_expect_eq(settle(&r, "open,signed", "", ""), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(settle(&r, "open", trust, ""), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(settle(&r, "opne", "", ""), QUERN_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(settle(&r, "open", "", ""), QUERN_OK);
    cr_expect(!r.trusts && qn_remote_writes(&r));
    cr_assert_eq(settle(&r, "open,read-only", "", ""), QUERN_OK);
    cr_expect(!r.trusts && !qn_remote_writes(&r));
    cr_assert_eq(settle(&r, "", trust, ""), QUERN_OK);
    cr_expect(r.trusts && !qn_remote_writes(&r), "who has no key reads");
    cr_assert_eq(settle(&r, "", "", key), QUERN_OK);
    cr_expect(r.trusts && qn_remote_writes(&r) && r.trust.count == 1);
    cr_expect_eq(settle(&r, "recipes", trust, ""), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect(strstr(quern_last_error()->message, "QUERN_REMOTE_TRUST"));
    cr_expect_eq(settle(&r, "recipes,signed", "", ""), QUERN_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(settle(&r, "recipes", "", key), QUERN_OK, "who writes them may sign");
    cr_assert_eq(settle(&r, "recipes", "", ""), QUERN_OK);
    cr_expect(r.mode.recipes && qn_remote_writes(&r));

    cr_expect_eq(settle(&r, "", "", "5ec4e7"), QUERN_ERROR_IO);
    cr_expect_null(strstr(quern_last_error()->message, "5ec4e7"), "it may be the secret itself");
    chmod(trust, 0666);
    cr_expect_eq(settle(&r, "", trust, ""), QUERN_ERROR_INVALID_ARGUMENT, "others may change it");
    chmod(key, 0644);
    cr_expect_eq(settle(&r, "", "", key), QUERN_ERROR_INVALID_ARGUMENT, "others may read it");
    qn_free(r.trust.items);
}

Test(remote, keys_are_made_once_and_only_for_their_owner)
{
    char path[300];
    quern_public_key one = QUERN_PUBLIC_KEY_INIT, two = QUERN_PUBLIC_KEY_INIT;
    struct stat facts;
    need_sodium();
    snprintf(path, sizeof path, "%s", scratch_path("key"));
    cr_assert_eq(quern_signing_key(&one, path, NULL), QUERN_OK);
    cr_assert_eq(quern_signing_key(&two, path, "another"), QUERN_OK);
    cr_expect_str_eq(one.line, two.line);
    cr_expect(strstr(one.line, "quern-public ") == one.line && strstr(one.line, " key"));
    cr_expect_eq(stat(path, &facts), 0);
    cr_expect_eq(facts.st_mode & 0777, 0600);
    scratch_write("other", "something else\n");
    chmod(scratch_path("other"), 0600);
    cr_expect_eq(quern_signing_key(&one, scratch_path("other"), NULL),
                 QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(quern_signing_key(&one, scratch_path("no/folder"), NULL), QUERN_ERROR_IO);
}

/* ---- envelopes ------------------------------------------------------------------------------ */

Test(remote, every_altered_bit_and_every_cut_is_refused)
{
    char path[300];
    quern_public_key public = QUERN_PUBLIC_KEY_INIT;
    qn_signer signer;
    qn_trust trust = {0};
    qn_text value = {0};
    qn_str bytes;
    need_sodium();
    snprintf(path, sizeof path, "%s", scratch_path("key"));
    cr_assert_eq(quern_signing_key(&public, path, NULL), QUERN_OK);
    scratch_write("trust", public.line);
    cr_assert_eq(qn_signer_read(&signer, "X", path), QUERN_OK);
    cr_assert_eq(qn_trust_read(&trust, scratch_path("trust")), QUERN_OK);
    qn_envelope_seal(&value, QN_CONTENT_IMAGE, QN_STR("what is in it"), &signer);
    qn_str whole = {value.data, value.length};
    cr_assert_eq(qn_envelope_open(&bytes, QN_CONTENT_IMAGE, whole, &trust), QN_SOUND);
    cr_expect(qn_str_is(bytes, "what is in it"));
    cr_expect_eq(qn_envelope_open(&bytes, QN_CONTENT_RECIPE, whole, &trust), QN_NOT_ENTRY);
    for (size_t bit = 0; bit < 8 * value.length; bit++) {
        value.data[bit / 8] ^= (char)(1 << bit % 8);
        cr_expect_neq(qn_envelope_open(&bytes, QN_CONTENT_IMAGE, whole, &trust), QN_SOUND,
                      "bit %zu", bit);
        cr_expect_eq(bytes.length, 0);
        value.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t length = 0; length < value.length; length++) {
        cr_expect_neq(
            qn_envelope_open(&bytes, QN_CONTENT_IMAGE, (qn_str){value.data, length}, &trust),
            QN_SOUND, "%zu bytes", length);
    }
    qn_text_free(&value);
    qn_free(trust.items);
}

/* ---- what a Redis server may answer --------------------------------------------------------- */

/* In two pieces, cut at each place, and byte by byte. */
static bool follows(const char *expected, const char *text)
{
    const size_t length = strlen(text);
    bool all = true, any = false;
    for (size_t cut = 0; cut <= length + 1; cut++) {
        qn_redis_course c;
        bool good = true;
        qn_redis_follow_begin(&c, expected);
        if (cut > length) {
            for (size_t k = 0; good && k < length; k++) {
                good = qn_redis_follow(&c, (qn_str){text + k, 1});
            }
        } else {
            good = qn_redis_follow(&c, (qn_str){text, cut}) &&
                   qn_redis_follow(&c, (qn_str){text + cut, length - cut});
        }
        all &= good;
        any |= good;
    }
    cr_expect_eq(all, any, "it depends on the pieces: %s", text);
    return all;
}

Test(remote, answers_of_redis_are_followed_in_any_pieces)
{
    static const struct {
        const char *expected, *text;
        bool good;
    } cases[] = {
        {"+OK", "+OK\r\n", true},
        {"+OK", "-OOM command not allowed when used memory > 'maxmemory'\r\n", true},
        {"+OK", "+QUEUED\r\n", false},
        {"+OK", "$2\r\nOK\r\n", false},
        {"*1", "*1\r\n$3\r\nabc\r\n", true},
        {"*2", "*2\r\n$-1\r\n$0\r\n\r\n", true},
        {"*2", "*2\r\n$4\r\n\r\n*9\r\n$1\r\nx\r\n", true},
        {"*1", "-NOAUTH Authentication required.\r\n", true},
        {"*1", "*1000000000\r\n", false},
        {"*1", "*1\r\n*1000000000\r\n", false},
        {"*2", "*2\r\n$1\r\nx\r\n*1\r\n", false},
        {"*2", "*2\r\n$1\r\nx\r\n%1000000\r\n", false},
        {"*1", "*1\r\n$99999999999\r\n", false},
        {"*1", "*1\r\n$1x\r\n", false},
        {"*1", "*1\r\n$1\r\nx\r\n$1\r\ny\r\n", false},
        {"*1", "*1\n$1\r\nx\r\n", false},
        {"*1", "*111111111111111111111111111111111\r\n", false},
        {"", "$-1\r\n", true},
        {"", "+OK\r\n", true},
        {"", "*3\r\n", false},
        {"", "~3\r\n", false},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_expect_eq(follows(cases[k].expected, cases[k].text), cases[k].good, "%s: %s",
                     cases[k].expected, cases[k].text);
    }
}

/* ---- the spreading of a list ---------------------------------------------------------------- */

static bool take_none(void *context, size_t k, qn_str value)
{
    (void)context, (void)k, (void)value;
    return false;
}

static void count_made(void *context, size_t k)
{
    ((int *)context)[k]++;
}

Test(remote, without_a_store_all_of_a_list_are_made)
{
    const char *names[100];
    int made[100] = {0};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        names[k] = k % 3 ? "wanted" : NULL;
    }
    const qn_spread spread = {.count = QN_COUNT(names),
                              .names = names,
                              .take = take_none,
                              .keep = count_made,
                              .make = count_made,
                              .context = made};
    cr_assert(qn_spread_run(&spread));
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        cr_expect_eq(made[k], k % 3 != 0, "%zu: %d", k, made[k]);
    }
}

/* ---- the queue ------------------------------------------------------------------------------ */

static atomic_int begun, written;

static bool write_slowly(void *context, qn_put *put)
{
    (void)put;
    atomic_fetch_add(&begun, 1);
    usleep(context ? 200000 : 0);
    atomic_fetch_add(&written, 1);
    return true;
}

static qn_put *new_put(void)
{
    qn_put *put = qn_calloc(1, sizeof *put);
    qn_text_puts(&put->bytes, "bytes");
    return put;
}

Test(remote, queue_writes_all_and_is_bounded)
{
    static int slow;
    qn_queue *queue = qn_queue_new(write_slowly, NULL);
    for (int k = 0; k < 500; k++) {
        cr_expect(qn_queue_add(queue, new_put()));
    }
    cr_expect(qn_queue_flush(queue, 5000));
    cr_expect_eq(atomic_load(&written), 500);
    cr_expect_eq(qn_queue_end(queue), 0);
    queue = qn_queue_new(write_slowly, &slow);
    int added = 0;
    while (added < 100000 && qn_queue_add(queue, new_put())) {
        added++;
    }
    cr_expect(added > 0 && added < 100000, "%d", added);
    double begin = qn_now_ms();
    cr_expect_gt(qn_queue_end(queue), 0);
    cr_expect_lt(qn_now_ms() - begin, 1500);
}

Test(remote, nothing_that_waits_crosses_a_fork)
{
    static int slow;
    qn_queue *queue = qn_queue_new(write_slowly, &slow);
    for (int k = 0; k < 3; k++) {
        qn_queue_add(queue, new_put());
    }
    while (atomic_load(&begun) == 0) { /* a sanitizer has locks of its own while a thread starts */
        usleep(1000);
    }
    qn_queue_before_fork(queue);
    pid_t child = fork();
    qn_queue_after_fork(queue, child == 0);
    if (child == 0) {
        atomic_store(&written, 0);
        bool idle = qn_queue_flush(queue, 0) && qn_queue_add(queue, new_put()) &&
                    qn_queue_flush(queue, 3000);
        _exit(idle && atomic_load(&written) == 1 ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect(qn_queue_flush(queue, 3000));
    cr_expect_eq(atomic_load(&written), 3);
    qn_queue_end(queue);
}
