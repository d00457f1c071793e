/* SPDX-License-Identifier: MIT
 *
 * What capture.c and capture_other.c share: a capture, and the lock of all.
 */
#ifndef QN_CAPTURE_INSIDE_H
#define QN_CAPTURE_INSIDE_H

#include "device/device_internal.h"

struct qn_capture {
    qn_deferred leave_home; /**< first: another library's lets go of its home, once it holds nothing
                                 there */
    bool holds_home;
    atomic_uint references; /**< of events, and one until it is over; of another library's also of
                                 streams, and one until its graph is gone */
    struct qn_capture *next;
    qn_home *home;
    quern_stream *origin; /**< NULL: another library has begun it; else retained until it
                               is over, as are */
    QN_LIST(quern_stream *)
    joined; /**< those that wait for its events; of another library's all,
                 and none is retained */
    qn_kept_list kept;
    qn_deferred *deferred;
    bool over;
    /* of another library's */
    uint64_t number;              /**< the driver's */
    bool told;                    /**< the driver will say when its graph is gone */
    bool counted;                 /**< in home->captures */
    bool used;                    /**< its graph launches code of the home's */
    struct qn_capture *next_gone; /**< of those whose graphs are gone */
};

/** Of all captures of the process, and of the links from streams to them. */
extern pthread_mutex_t qn_captures_lock;

/* ---- capture_other.c, with the lock --------------------------------------------------------- */

/** The capture that a stream's handle takes part in; one of another library may become known by
 * this. NULL: none, or out of memory. */
qn_capture *qn_capture_of_handle(qn_home *home, void *handle);
/** Link a stream to a capture of another library. False: out of memory. */
bool qn_capture_link(quern_stream *stream, qn_capture *capture);
/** Ask whether captures of other libraries still go on. */
void qn_captures_look(qn_home *home);

#endif /* QN_CAPTURE_INSIDE_H */
