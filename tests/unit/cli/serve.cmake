# SPDX-License-Identifier: MIT
openpla_tests(tests_serve TESTS test_http test_metrics LINK openpla_cli)
