# SPDX-License-Identifier: MIT
# openpla_widl(TARGET IDL HEADER): defines the interface library TARGET from widl's output for IDL in the binary folder:
# HEADER.h, HEADER_i.c (GUIDs, compiled and linked with TARGET), HEADER_p.c (proxies), HEADER_dlldata.c and HEADER.tlb
# (reproducible).
find_program(WIDL NAMES x86_64-w64-mingw32-widl i686-w64-mingw32-widl widl REQUIRED)
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(WIDL_TARGET --win64)
else()
  set(WIDL_TARGET --win32)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
function(openpla_widl target idl header)
  get_filename_component(src ${idl} ABSOLUTE)
  set(o ${CMAKE_CURRENT_BINARY_DIR}/${header})
  set(types ${CMAKE_CURRENT_SOURCE_DIR}/types)
  set(widl ${WIDL} ${WIDL_TARGET} -I ${types} -L ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(
    OUTPUT ${o}.h ${o}_i.c ${o}_p.c ${o}_dlldata.c ${o}.tlb
    COMMAND ${WIDL} ${WIDL_TARGET} -t -o ${CMAKE_CURRENT_BINARY_DIR}/stdole2.tlb ${types}/stdole2.idl
    COMMAND ${widl} -h -o ${o}.h ${src}
    COMMAND ${widl} -H ${header}.h -u -o ${o}_i.c ${src}
    COMMAND ${widl} -H ${header}.h -p -Oicf -o ${o}_p.c ${src}
    COMMAND ${WIDL} --dlldata-only -o ${o}_dlldata.c ${header}
    COMMAND ${widl} -t -D OPENPLA_TYPELIB -o ${o}.tlb ${src}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/normalise-typelib.py ${o}.tlb
    DEPENDS ${src} ${types}/oaidl.idl ${types}/stdole2.idl ${CMAKE_SOURCE_DIR}/cmake/normalise-typelib.py
    VERBATIM COMMENT "widl ${idl}")
  add_custom_target(${target}_gen DEPENDS ${o}.h ${o}_i.c ${o}_p.c ${o}_dlldata.c ${o}.tlb)
  add_library(${target}_guids STATIC ${o}_i.c)
  add_library(${target} INTERFACE)
  target_include_directories(${target} INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${target} INTERFACE ${target}_guids)
  add_dependencies(${target} ${target}_gen)
endfunction()
