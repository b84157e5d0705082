# SPDX-License-Identifier: MIT
# What decodes, and TDH's functions.
target_sources(openpla_tdh PRIVATE event_property_find.c event_values.c known_fields.c payload_filter.c
  payload_filter_create.c program_memory.c schemas.c tdh_block.c tdh_event_api.c tdh_filter_api.c tdh_format_api.c
  tdh_load_api.c tdh_provider_api.c tdh_schemas.c tdh_unpublished_api.c tdh_wpp_api.c trace_logging.c value_extent.c value_forms.c value_text.c)
if(WIN32)
  # Programs link it as openetw.dll's functions (lib/libopenetw.a), or load it, or a copy named tdh.dll.
  add_library(opentdh SHARED opentdh_dll.c opentdh$<$<BOOL:${OPENPLA_32}>:_32>.def)
  set_target_properties(opentdh PROPERTIES PREFIX "" IMPORT_PREFIX lib IMPORT_SUFFIX .a
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  target_link_options(opentdh PRIVATE -Wl,--exclude-all-symbols)
  openpla_version_resource(opentdh "decoding of events")
  target_link_libraries(opentdh PRIVATE openpla_tdh LibXml2::LibXml2 openpla_flags)
  if(OPENPLA_BUNDLED_XML)
    target_compile_definitions(opentdh PRIVATE OPENPLA_BUNDLED_XML)
  endif()
endif()
