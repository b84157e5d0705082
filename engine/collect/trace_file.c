/* SPDX-License-Identifier: MIT */
/* What stands at the place of a trace's file. */
#include "engine/collect/trace_file.h"

#include "engine/collect/kind.h"
#include "engine/log/etl_reader.h"
#include "engine/log/log_file.h"

/* What would be lost with it: a trace, a file without anything in it, or something else. */
static HRESULT check_is_trace(const char *path, struct file *file)
{
    struct etl_reader *reader;
    uint64_t size = 0;
    HRESULT hr = file_size(file, &size);
    if (FAILED(hr) || !size)
        return hr;
    hr = etl_reader_open(path, NULL, NULL, &reader);
    if (SUCCEEDED(hr)) {
        etl_reader_close(reader);
        return S_OK;
    }
    return hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
               ? error_set(hr, "\"%s\": is there already and is no trace; it is not overwritten", path)
               : hr;
}

HRESULT trace_file_check(const char *base, const char *path, bool over)
{
    const struct log_options options = {.base = base};
    struct file *file = NULL;
    bool fresh;
    HRESULT hr = log_file_begin(path, &options, false, &file, &fresh);
    file_close(file);
    if (SUCCEEDED(hr))
        return log_file_delete(path, &options);
    if (hr != HRESULT_FROM_WIN32(ERROR_FILE_EXISTS))
        return hr;
    if (!over)
        return collector_file_exists(path);
    hr = file_open_below(base, path, FILE_READ, &file);
    if (SUCCEEDED(hr))
        hr = check_is_trace(path, file);
    file_close(file);
    return hr;
}
