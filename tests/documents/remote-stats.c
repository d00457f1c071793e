/* SPDX-License-Identifier: MIT
 *
 * docs/fleet.md: what an engine without a remote store counts.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine;
    quern_options options = QUERN_OPTIONS_INIT;
    options.remote = "off";
    must(quern_open(&engine, &options));
#include "remote-stats.inc"
    quern_close(engine);
    return 0;
}
