# SPDX-License-Identifier: MIT
openpla_test(test_etw_providers ${CMAKE_CURRENT_LIST_DIR}/test_etw_providers.c LINK openpla_etw)
