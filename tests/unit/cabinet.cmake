# SPDX-License-Identifier: MIT
foreach(thing hostile)
  openpla_test(test_cabinet_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_cabinet_${thing}.c LINK openpla_cabinet)
endforeach()
openpla_test(test_cabinet ${CMAKE_CURRENT_LIST_DIR}/test_cabinet.c LINK openpla_cabinet)
