# SPDX-License-Identifier: MIT
quern devices | tail -n 1
