# SPDX-License-Identifier: MIT
openpla_tests(tests_rules TESTS test_rules test_rules_packs test_rules_large test_rules_tags test_rules_functions
  test_rules_imports test_rules_xsd test_rules_threshold test_xpath_pairs test_pal_import
  LINK openpla_schemas openpla_rules)
