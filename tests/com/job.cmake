# SPDX-License-Identifier: MIT
# The program does the same as the script main.vbs, with objects in its own process. Its output must be the same.
add_executable(job_in_process ${CMAKE_CURRENT_LIST_DIR}/job_in_process.c ${CMAKE_CURRENT_LIST_DIR}/client.c
  ${CMAKE_CURRENT_LIST_DIR}/objects/objects.rc)
target_link_libraries(job_in_process PRIVATE openpla_idl cmocka::cmocka ole32 oleaut32 uuid openpla_flags)
add_dependencies(job_in_process openpla openplahost openpdh)
add_test(NAME script.main_in_process COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/script/run.py
  $<TARGET_FILE:job_in_process> ${CMAKE_SOURCE_DIR}/tests/script/main.txt)
openpla_test_properties(script.main_in_process)
