# SPDX-License-Identifier: MIT
openpla_tests(tests_kernel TESTS test_kernel_ring test_kernel_map test_kernel_trace test_kernel_events
  test_kernel_tracepoints test_kernel_polling NAMED test_kernel_events LINK openpla_kernel)
# These tests count the objects that they created in the kernel.
set_tests_properties(test_kernel_trace test_kernel_events PROPERTIES RESOURCE_LOCK tracefs)
