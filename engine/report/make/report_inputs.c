/* SPDX-License-Identifier: MIT */
/* What a report is made of: found in a folder, told apart, opened. */
#include "engine/report/make/report_inputs.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/report.h"
#include "engine/report/report_configuration.h"
#include "engine/report/report_names.h"

#include <string.h>

/* ---- those of a folder ---- */

static bool is_excepted(const struct texts *except, const char *name)
{
    for (size_t i = 0; except && i < except->count; i++)
        if (text_equal_nocase(except->items[i], name))
            return true;
    return text_equal_nocase(name, REPORT_FILE_NAME);
}

static bool is_input(const char *path, const char *name)
{
    static const char *const logs[] = {".blg", ".csv", ".tsv", ".etl"};
    const char *extension = path_extension(name);
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        if (text_equal_nocase(extension, logs[i]))
            return true;
    char *computer = NULL;
    const bool is_configuration =
        text_equal_nocase(extension, ".xml") && report_configuration_is(path, &computer) == S_OK;
    memory_free(computer);
    return is_configuration;
}

HRESULT report_find_inputs(const char *folder, const struct texts *except, struct texts *out)
{
    struct texts names = {0};
    HRESULT hr = folder_list(folder, false, &names);
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        if (is_excepted(except, names.items[i]))
            continue;
        char *path = path_join(folder, names.items[i]);
        if (!path)
            hr = E_OUTOFMEMORY;
        else if (is_input(path, names.items[i]))
            hr = texts_give(out, path);
        else
            memory_free(path);
    }
    texts_free(&names);
    return hr;
}

/* ---- opened ---- */

/* S_OK: it is told and the others go on. */
static HRESULT pass_over(HRESULT why, struct texts *remarks)
{
    if (why == E_OUTOFMEMORY)
        return why;
    char *text = text_format("%s; it is left out", error_text(why));
    return text ? texts_give(remarks, text) : E_OUTOFMEMORY;
}

static HRESULT look_at_trace(struct report_inputs *in, const char *path, struct texts *traces, struct texts *remarks)
{
    struct etl_reader *reader;
    HRESULT hr = etl_reader_open(path, NULL, NULL, &reader);
    if (FAILED(hr))
        return pass_over(hr, remarks);
    in->buffers_lost += etl_reader_log(reader)->buffers_lost;
    etl_reader_close(reader);
    return texts_add(traces, path);
}

static HRESULT open_log(struct report_inputs *in, const char *path, struct texts *remarks)
{
    char *copy = text_copy(path);
    const struct texts one = {.count = 1, .items = &copy};
    HRESULT hr = copy ? inputs_open(&in->logs, &one) : E_OUTOFMEMORY;
    memory_free(copy);
    return FAILED(hr) ? pass_over(hr, remarks) : S_OK;
}

static HRESULT open_one(struct report_inputs *in, const char *path, struct texts *traces, struct texts *remarks)
{
    const char *extension = path_extension(path);
    if (text_equal_nocase(extension, ".etl"))
        return look_at_trace(in, path, traces, remarks);
    if (!text_equal_nocase(extension, ".xml"))
        return open_log(in, path, remarks);
    HRESULT hr = report_configuration_is(path, &in->computer);
    if (hr == S_OK)
        return texts_add(&in->documents, path);
    return FAILED(hr) ? hr : pass_over(error_set(E_INVALIDARG, "%s: is no configuration document", path), remarks);
}

static HRESULT find_computer(struct report_inputs *in)
{
    for (size_t i = 0; i < in->logs.count && !in->computer; i++) {
        const char *machine = log_reader_info(in->logs.items[i].reader)->machine;
        while (machine && *machine == '\\')
            machine++;
        if (machine && *machine && !(in->computer = text_copy(machine)))
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

HRESULT report_inputs_open(struct report_inputs *in, const struct texts *paths, struct texts *remarks)
{
    struct texts all = {0}, traces = {0};
    HRESULT hr = input_paths(paths, &all);
    for (size_t i = 0; i < all.count && SUCCEEDED(hr); i++)
        hr = open_one(in, all.items[i], &traces, remarks);
    if (SUCCEEDED(hr) && traces.count)
        hr = trace_inputs_open(&in->traces, &traces);
    if (SUCCEEDED(hr) && in->logs.count)
        hr = inputs_rewind(&in->logs);
    if (SUCCEEDED(hr))
        hr = find_computer(in);
    texts_free(&all);
    texts_free(&traces);
    if (SUCCEEDED(hr) && !in->logs.count && !in->traces.count && !in->documents.count)
        hr = error_set(REPORT_NO_DATA, "there is nothing that a report could be made of%s%s",
                       remarks->count ? ": " : "", remarks->count ? remarks->items[0] : "");
    return hr;
}

HRESULT report_inputs_limit(struct report_inputs *in, int64_t from, int64_t to)
{
    return in->logs.count ? inputs_limit(&in->logs, from, to) : S_OK;
}

HRESULT report_inputs_remarks(const struct report_inputs *in, struct texts *remarks)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->logs.count + in->traces.count && SUCCEEDED(hr); i++) {
        const bool log = i < in->logs.count;
        const size_t at = log ? i : i - in->logs.count;
        const struct texts *told = log ? log_reader_remarks(in->logs.items[at].reader) : &in->traces.items[at].remarks;
        for (size_t k = 0; k < told->count && SUCCEEDED(hr); k++) {
            char *text =
                text_format("%s: %s", log ? in->logs.items[at].shown : in->traces.items[at].path, told->items[k]);
            hr = text ? texts_give(remarks, text) : E_OUTOFMEMORY;
        }
    }
    return hr;
}

void report_inputs_close(struct report_inputs *in)
{
    inputs_close(&in->logs);
    trace_inputs_close(&in->traces);
    texts_free(&in->documents);
    memory_free(in->computer);
    *in = (struct report_inputs){0};
}
