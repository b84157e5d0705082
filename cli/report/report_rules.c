/* SPDX-License-Identifier: MIT */
/* Reads the rules that a command line names. Creates temporary reports of logs. A temporary report exists only while
   the command runs. */
#include "cli/report/report.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/report.h"

HRESULT rules_read_named(const struct texts *names, struct rules **out)
{
    *out = rules_create();
    HRESULT hr = *out ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !names->count)
        hr = rules_add_file(*out, RULES_GENERAL);
    for (size_t i = 0; i < names->count && SUCCEEDED(hr); i++)
        hr = rules_add_file(*out, names->items[i]);
    return hr;
}

HRESULT temporary_report_make(struct temporary_report *t, const char *input, const struct rules *rules,
                              const struct texts *name_files)
{
    struct report_request r = {.yes = true, .slices_for = rules, .name_files = *name_files};
    HRESULT hr = folder_create_temporary(&t->folder);
    if (SUCCEEDED(hr))
        t->path = path_join(t->folder, REPORT_FILE_NAME);
    r.output = t->path;
    if (SUCCEEDED(hr))
        hr = t->path ? texts_add(&r.operands, input) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = report_request_make(&r);
    for (size_t i = 0; i < r.warnings.count && SUCCEEDED(hr); i++)
        hr = texts_add(&t->warnings, r.warnings.items[i]);
    t->names = r.names;
    r.names = NULL;
    const struct error_kept why = error_keep(hr);
    report_request_free(&r);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

void temporary_report_free(struct temporary_report *t)
{
    if (t->path && file_exists(t->path))
        (void)file_delete(t->path);
    if (t->folder)
        (void)folder_delete(t->folder);
    memory_free(t->path);
    memory_free(t->folder);
    memory_free(t->names);
    texts_free(&t->warnings);
    *t = (struct temporary_report){0};
}
