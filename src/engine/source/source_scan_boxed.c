/* SPDX-License-Identifier: MIT
 *
 * source_scan_boxed: the CUDA source of a scan by boxes. In: a call whose fold is planned so. Out:
 * the text of templates/scan_boxed.cu, or of scan_boxed_tiles.cu where pieces of a scan have blocks
 * of their own, with its holes filled. The thing to know: what boxes have in common with those of
 * maps is that of source_fold_boxes.c.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

#define BOXES 5 /* blocks that a processor should hold: */
#define TILES 3 /* where they wait for each other, too */

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_boxes_form(out, call);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
    if (f->split) {
        qn_source_number(out, "lanes", 1);
        qn_source_number(out, "bunch", f->strips);
        qn_source_flag(out, "bundles", f->bundles);
    } else {
        qn_source_flag(out, "pieces", f->pieces);
    }
}

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(STRIPS, strips)                                                                              \
    X(FIND, find)                                                                                  \
    X(SITE, site)                                                                                  \
    X(SEEK, seek)                                                                                  \
    X(ROOM, room)                                                                                  \
    X(FETCH, fetch)                                                                                \
    X(ROW, row)                                                                                    \
    X(TAKE, take)                                                                                  \
    X(ITEM, item)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(GIVE, give)                                                                                  \
    X(KEEP, keep)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_boxed_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count)
{
    const bool split = call->fold.form.split;
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], split ? TILES : BOXES);
    form_hole(&t[FORM], call);
    qn_text_puts(&t[STRIPS], call->fold.form.again ? "1" : "0");
    qn_source_boxes_find(&t[FIND], call);
    qn_source_boxes_site(&t[SITE], call);
    qn_source_boxes_seek(&t[SEEK], call);
    qn_source_boxes_room(&t[ROOM], call);
    qn_source_boxes_fetch(&t[FETCH], call);
    qn_source_boxes_row(&t[ROW], call);
    qn_source_shelves_take(&t[TAKE], call, qn_source_boxes_shelf);
    qn_source_shelves_item(&t[ITEM], call, "_quern_input");
    qn_source_shelves_arguments(&t[ARGUMENTS], call);
    qn_source_shelves_give(&t[GIVE], call, qn_source_boxes_shelf, "_quern_start + _quern_spot");
    qn_source_boxes_keep(&t[KEEP], call);
    const qn_source_template template = {
        .text = split ? qn_embedded_scan_boxed_tiles_cu : qn_embedded_scan_boxed_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_BOX) |
                   QN_HEADER(QN_HEADER_LINES) | QN_HEADER(QN_HEADER_SITE) |
                   QN_HEADER(QN_HEADER_IMAGE) | QN_HEADER(QN_HEADER_PACK) |
                   (split ? QN_HEADER(QN_HEADER_STRIPS) : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
