/* SPDX-License-Identifier: MIT */
#include "cli/trace/trace_output.h"

#include "engine/base/file.h"

HRESULT trace_output_open(struct trace_output *o, const char *path, bool yes, const struct trace_inputs *in)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++)
        hr = output_check_input(path, in->items[i].path);
    if (SUCCEEDED(hr))
        hr = output_begin(&o->output, path, yes ? OUTPUT_REPLACE : OUTPUT_ASK);
    return SUCCEEDED(hr) ? output_failed(&o->output, file_open(output_path(&o->output), FILE_REPLACE, &o->file)) : hr;
}

HRESULT trace_output_write(void *output, const void *bytes, size_t size)
{
    struct trace_output *o = output;
    return output_failed(&o->output, file_write(o->file, bytes, size));
}

HRESULT trace_output_write_at(void *output, uint64_t offset, const void *bytes, size_t size)
{
    struct trace_output *o = output;
    return output_failed(&o->output, file_write_at(o->file, offset, bytes, size));
}

HRESULT trace_output_finish(struct trace_output *o)
{
    file_close(o->file);
    o->file = NULL;
    return output_finish(&o->output);
}

void trace_output_close(struct trace_output *o)
{
    file_close(o->file);
    o->file = NULL;
    output_close(&o->output);
}
