# SPDX-License-Identifier: MIT
foreach(thing ring map trace events)
  openpla_test(test_kernel_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_kernel_${thing}.c LINK openpla_kernel)
endforeach()
