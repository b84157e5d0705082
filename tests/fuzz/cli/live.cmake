# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_live_request ${CMAKE_CURRENT_LIST_DIR}/fuzz_live_request.c LINK openpla_cli)
openpla_fuzz(fuzz_web_config ${CMAKE_CURRENT_LIST_DIR}/fuzz_web_config.c LINK openpla_cli)
