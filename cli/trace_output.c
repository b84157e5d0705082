/* SPDX-License-Identifier: MIT */
#include "cli/trace_output.h"

#include "engine/os/file_traits.h"
#include "engine/os/memory.h"
#include "engine/os/protection.h"

/* A device or a pipe. */
static bool is_device(const char *path)
{
    struct file *f;
    if (path_is_device_name(path_name(path)))
        return true;
    const HRESULT hr = file_open_source(path, &f);
    file_close(f);
    return hr == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
}

static bool is_link(const char *path)
{
    struct ownership about;
    return file_ownership(path, &about) == S_OK && about.is_link;
}

HRESULT trace_output_open(struct trace_output *o, const char *path, bool yes, const struct trace_inputs *in)
{
    o->path = path;
    for (size_t i = 0; i < in->count; i++)
        if (file_is_same(in->items[i].path, path))
            return error_set(E_INVALIDARG, "%s: is read from, it cannot be written at the same time", path);
    if (folder_exists(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "%s: is a folder, it cannot be written", path);
    const bool device = is_device(path);
    if (!device && file_exists(path) && !yes && !cli_may_overwrite(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "%s: is there already; -y overwrites it", path);
    /* A file of its name would take its place. */
    if (device || is_link(path))
        return file_open(path, FILE_REPLACE, &o->file);
    o->partial = text_format("%s.partial", path);
    return o->partial ? file_open(o->partial, FILE_REPLACE, &o->file) : E_OUTOFMEMORY;
}

HRESULT trace_output_write(void *output, const void *bytes, size_t size)
{
    return file_write(((struct trace_output *)output)->file, bytes, size);
}

HRESULT trace_output_write_at(void *output, uint64_t offset, const void *bytes, size_t size)
{
    return file_write_at(((struct trace_output *)output)->file, offset, bytes, size);
}

HRESULT trace_output_finish(struct trace_output *o)
{
    file_close(o->file);
    o->file = NULL;
    HRESULT hr = S_OK;
    if (o->partial) {
        hr = file_rename(o->partial, o->path);
        if (FAILED(hr))
            return hr;
        memory_free(o->partial);
        o->partial = NULL;
    }
    return hr;
}

void trace_output_close(struct trace_output *o)
{
    file_close(o->file);
    if (o->partial)
        (void)file_delete(o->partial);
    memory_free(o->partial);
    *o = (struct trace_output){0};
}
