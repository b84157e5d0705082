# SPDX-License-Identifier: MIT
openpla_tests(tests_cabinet TESTS test_cabinet test_cabinet_hostile LINK openpla_cabinet)
