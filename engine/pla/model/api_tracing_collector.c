/* SPDX-License-Identifier: MIT */
/* The API tracing data collector: what its rows leave to code. MS-PLA 3.2.4.10. */
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/model/data_collector.h"

#include <string.h>

#define CLASS     api_tracing_collector
#define INTERFACE IApiTracingDataCollector
#define ROWS      "engine/pla/api_tracing_collector.def"
#include "engine/pla/model/class_rows.inc"

/* "C:\..." on Windows, "/..." too where the host has such paths. */
static bool is_full_path(const char *path)
{
    return (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/')) || path[0] == '/';
}

static HRESULT validate_program(const struct validation *v, const char *path)
{
    if (!path[0])
        return validation_tell(v, PLA_E_PROPERTY_CONFLICT, "ExePath", "there is no program");
    if (!strncmp(path, "\\\\", 2) || !strncmp(path, "//", 2))
        return validation_tell(v, PLA_E_NETWORK_EXE_NOT_VALID, "ExePath", "the program is on another machine");
    if (!is_full_path(path))
        return validation_tell(v, PLA_E_EXE_FULL_PATH_REQUIRED, "ExePath",
                               "the program is not named with its full path");
    return file_exists(path) ? S_OK
                             : validation_tell(v, PLA_E_EXE_PATH_NOT_VALID, "ExePath", "there is no such program");
}

static HRESULT api_tracing_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    /* FileName is ignored too; Windows does not report it (MS-PLA note 3). */
    static const char *const unused[] = {"FileNameFormat", "FileNameFormatPattern", "LogAppend",
                                         "LogOverwrite",   "LogCircular",           NULL};
    const struct api_tracing_collector *c = (const struct api_tracing_collector *)copy;
    const char *both;
    (void)o;
    HRESULT hr = texts_common(&c->IncludeApis, &c->ExcludeApis, &both);
    if (SUCCEEDED(hr) && both)
        hr = error_set(PLA_E_CONFLICT_INCL_EXCL_API, "IncludeApis and ExcludeApis: '%s' is in both", both);
    if (SUCCEEDED(hr))
        hr = validation_unused(v, unused, "the log is LogFilePath");
    if (FAILED(hr))
        return hr;
    char *program = host_expand_environment(c->ExePath);
    hr = program ? validate_program(v, program) : E_OUTOFMEMORY;
    memory_free(program);
    return hr;
}

const struct class api_tracing_collector_class = {
    .name = "ApiTracingDataCollector",
    CLASS_ROWS(api_tracing_collector, IApiTracingDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".etl",
    .validate = api_tracing_validate,
};
