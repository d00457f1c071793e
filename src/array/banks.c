/* SPDX-License-Identifier: MIT
 *
 * banks: how threads of a warp wait for each other in shared memory. In: which byte each asks for.
 * Out: how many words the busiest bank gives one after the other. The thing to know: threads that
 * ask for the same word get it together.
 */
#include "array/plan.h"

#define BANKS 32
#define WORD  4 /* bytes */

int qn_bank_conflicts(const int64_t places[QN_WARP])
{
    int64_t words[BANKS][QN_WARP]; /* that a bank gives */
    int counts[BANKS] = {0}, most = 0;
    for (int t = 0; t < QN_WARP; t++) {
        const int64_t word = places[t] / WORD;
        const int bank = (int)(word % BANKS);
        bool seen = false;
        for (int n = 0; n < counts[bank] && !seen; n++) {
            seen = words[bank][n] == word;
        }
        if (!seen) {
            words[bank][counts[bank]++] = word;
            most = QN_MAX(most, counts[bank]);
        }
    }
    return most;
}
