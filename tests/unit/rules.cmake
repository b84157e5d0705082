# SPDX-License-Identifier: MIT
openpla_test(test_rules ${CMAKE_CURRENT_LIST_DIR}/test_rules.c LINK openpla_rules)
openpla_test(test_rules_packs ${CMAKE_CURRENT_LIST_DIR}/test_rules_packs.c LINK openpla_rules)
openpla_test(test_rules_large ${CMAKE_CURRENT_LIST_DIR}/test_rules_large.c LINK openpla_rules)
openpla_test(test_rules_tags ${CMAKE_CURRENT_LIST_DIR}/test_rules_tags.c LINK openpla_rules)
openpla_test(test_rules_functions ${CMAKE_CURRENT_LIST_DIR}/test_rules_functions.c LINK openpla_rules)
openpla_test(test_rules_imports ${CMAKE_CURRENT_LIST_DIR}/test_rules_imports.c LINK openpla_rules)
openpla_test(test_rules_xsd ${CMAKE_CURRENT_LIST_DIR}/test_rules_xsd.c LINK openpla_schemas)
openpla_test(test_xpath_pairs ${CMAKE_CURRENT_LIST_DIR}/test_xpath_pairs.c LINK openpla_xml)
