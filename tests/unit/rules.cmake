# SPDX-License-Identifier: MIT
openpla_test(test_rules ${CMAKE_CURRENT_LIST_DIR}/test_rules.c LINK openpla_rules)
openpla_test(test_rules_packs ${CMAKE_CURRENT_LIST_DIR}/test_rules_packs.c LINK openpla_rules)
