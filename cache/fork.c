/* SPDX-License-Identifier: MIT
 *
 * fork() beside an open database. In: the stores of this process. Out: none of them has a
 * connection at the moment of the fork; parent and child each open their own when they need one.
 *
 * A connection in both would be worse than useless: SQLite's locks belong to the process and are
 * dropped behind its back. Closing before the fork, with every store's lock held, leaves nothing to
 * inherit. posix_spawn() and system() do not run these handlers.
 */
#include "cache/store.h"

#include <string.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static qn_store *list;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&list_lock);
    for (qn_store *store = list; store; store = store->next) {
        pthread_mutex_lock(&store->lock);
        qn_store_disconnect(store);
    }
}

/* Runs in parent and child, on the thread that forked, which holds the locks. */
static void after_fork(void)
{
    for (qn_store *store = list; store; store = store->next) {
        pthread_mutex_unlock(&store->lock);
    }
    pthread_mutex_unlock(&list_lock);
}

/* What was counted before is the parent's to tell. */
static void child_after_fork(void)
{
    for (qn_store *store = list; store; store = store->next) {
        memcpy(store->told, store->tally, sizeof store->told);
    }
    after_fork();
}

static void add_handlers(void)
{
    pthread_atfork(before_fork, after_fork, child_after_fork);
}

void qn_fork_register(qn_store *store)
{
    pthread_once(&handlers_once, add_handlers);
    pthread_mutex_lock(&list_lock);
    store->previous = NULL;
    store->next = list;
    if (list) {
        list->previous = store;
    }
    list = store;
    pthread_mutex_unlock(&list_lock);
}

void qn_fork_forget(qn_store *store)
{
    pthread_mutex_lock(&list_lock);
    if (store->previous) {
        store->previous->next = store->next;
    } else {
        list = store->next;
    }
    if (store->next) {
        store->next->previous = store->previous;
    }
    pthread_mutex_unlock(&list_lock);
}
