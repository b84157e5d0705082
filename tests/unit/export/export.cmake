# SPDX-License-Identifier: MIT
openpla_tests(tests_export TESTS test_push_parts LINK openpla_export)
