# SPDX-License-Identifier: MIT
add_test(NAME script.examples
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/examples.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.examples ";server")
add_test(NAME script.c_examples
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/c_examples.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.c_examples ";server")
