# SPDX-License-Identifier: MIT
openpla_test(test_rules ${CMAKE_CURRENT_LIST_DIR}/test_rules.c LINK openpla_rules)
