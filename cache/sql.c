/* SPDX-License-Identifier: MIT
 *
 * The pieces of schema.sql by their names. In: a name. Out: the SQL between its heading and the
 * next.
 */
#include "cache/store.h"
#include "embedded/cache.h"

#include <string.h>

#define HEADING "\n--- "

qn_str qn_sql_text(const char *name)
{
    size_t length = strlen(name);
    const char *p = qn_embedded_schema_sql;
    while ((p = strstr(p, HEADING))) {
        p += strlen(HEADING);
        if (strncmp(p, name, length) == 0 && p[length] == '\n') {
            const char *end = strstr(p, HEADING);
            p += length + 1;
            return (qn_str){p, end ? (size_t)(end + 1 - p) : strlen(p)};
        }
    }
    return (qn_str){"", 0};
}
