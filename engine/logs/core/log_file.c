/* SPDX-License-Identifier: MIT */
/* Opens the files that logs are written to. */
#include "engine/logs/log_file.h"

#include "engine/logs/blg/blg_continue.h"
#include "engine/logs/core/log_formats.h"

static HRESULT open_as(const char *path, const struct log_options *options, enum file_mode mode, struct file **out)
{
    return options->base ? file_open_below(options->base, path, mode, out) : file_open(path, mode, out);
}

/* By the content: the name says nothing of what a user would lose. */
static HRESULT check_is_log(const char *path, struct file *file)
{
    uint8_t head[LOG_HEAD_BYTES];
    size_t size = 0;
    HRESULT hr = file_read_at(file, 0, head, sizeof head, &size);
    if (FAILED(hr) || !size || log_is_head(head, size) || (size < sizeof head && blg_is_begun(head, size)))
        return hr;
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                     "\"%s\": is there already and is no performance log; it is not overwritten", path);
}

HRESULT log_file_begin(const char *path, const struct log_options *options, bool over, struct file **out, bool *fresh)
{
    HRESULT hr = open_as(path, options, FILE_CREATE_NEW, out);
    *fresh = SUCCEEDED(hr);
    if (!over || hr != HRESULT_FROM_WIN32(ERROR_FILE_EXISTS))
        return hr;
    hr = open_as(path, options, FILE_APPEND, out);
    if (FAILED(hr))
        return hr;
    hr = check_is_log(path, *out);
    if (FAILED(hr)) {
        file_close(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT log_file_empty(struct file *file)
{
    uint64_t size;
    HRESULT hr = file_size(file, &size);
    return SUCCEEDED(hr) && size ? file_set_size(file, 0) : hr;
}

HRESULT log_file_continue(const char *path, const struct log_options *options, struct file **out)
{
    return open_as(path, options, FILE_APPEND, out);
}

HRESULT log_file_delete(const char *path, const struct log_options *options)
{
    return options->base ? file_delete_below(options->base, path) : file_delete(path);
}
