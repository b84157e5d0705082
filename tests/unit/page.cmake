# SPDX-License-Identifier: MIT
openpla_tests(tests_page TESTS test_page test_page_memory test_page_findings LINK openpla_page)
