/* SPDX-License-Identifier: MIT
 *
 * fork() beside a remote store. In: the stores of this process. Out: none of them has a connection
 * at the moment of the fork, and nothing is being written; parent and child each open their own. A
 * TLS session in both would be the end of it for both. The fork waits for calls that are under way,
 * which is bounded.
 */
#include "cache/fleet.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static qn_remote *list;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&list_lock);
    for (qn_remote *remote = list; remote; remote = remote->next) {
        pthread_mutex_lock(&remote->read_lock);
        qn_queue_before_fork(remote->queue);
        qn_remote_hang_up(remote, &remote->reader);
        qn_remote_hang_up(remote, &remote->writer);
        pthread_mutex_lock(&remote->lock);
    }
}

static void after_fork(bool child)
{
    for (qn_remote *remote = list; remote; remote = remote->next) {
        pthread_mutex_unlock(&remote->lock);
        qn_queue_after_fork(remote->queue, child);
        pthread_mutex_unlock(&remote->read_lock);
    }
    pthread_mutex_unlock(&list_lock);
}

static void parent_after_fork(void)
{
    after_fork(false);
}

static void child_after_fork(void)
{
    after_fork(true);
}

static void add_handlers(void)
{
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
}

void qn_remote_register(qn_remote *remote)
{
    pthread_once(&handlers_once, add_handlers);
    pthread_mutex_lock(&list_lock);
    remote->previous = NULL;
    remote->next = list;
    if (list) {
        list->previous = remote;
    }
    list = remote;
    pthread_mutex_unlock(&list_lock);
}

void qn_remote_forget(qn_remote *remote)
{
    pthread_mutex_lock(&list_lock);
    if (remote->previous) {
        remote->previous->next = remote->next;
    } else {
        list = remote->next;
    }
    if (remote->next) {
        remote->next->previous = remote->previous;
    }
    pthread_mutex_unlock(&list_lock);
}
