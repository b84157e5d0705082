# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_live_request ${CMAKE_CURRENT_LIST_DIR}/fuzz_live_request.c LINK openpla_cli)
