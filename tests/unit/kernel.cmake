# SPDX-License-Identifier: MIT
foreach(thing ring map trace events tracepoints polling)
  openpla_test(test_kernel_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_kernel_${thing}.c LINK openpla_kernel)
endforeach()
# They count what they made in the kernel.
set_tests_properties(test_kernel_trace test_kernel_events PROPERTIES RESOURCE_LOCK tracefs)
