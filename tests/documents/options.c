/* SPDX-License-Identifier: MIT
 *
 * docs/conventions.md: an option structure.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine;
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
#include "options.inc"
    must(quern_device_get_info(&info, engine));
    must_be(strcmp(info.id, "soft") == 0, "the software device");
    quern_close(engine);
    return 0;
}
