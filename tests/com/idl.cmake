# SPDX-License-Identifier: MIT
# Compares the type library and mspla.h with MS-PLA. The test program has the type library as a resource.
set(typelib ${CMAKE_BINARY_DIR}/idl/mspla.tlb)
openpla_test(test_com_idl ${CMAKE_CURRENT_LIST_DIR}/test_idl.c ${CMAKE_CURRENT_LIST_DIR}/idl.rc
  LINK openpla_idl ole32 oleaut32 uuid)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/idl.rc PROPERTIES OBJECT_DEPENDS ${typelib}
  COMPILE_OPTIONS "-I;${CMAKE_BINARY_DIR}/idl")
