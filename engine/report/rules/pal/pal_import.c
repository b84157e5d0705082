/* SPDX-License-Identifier: MIT */
/* Imports a threshold file of PAL: reads it with the files that it inherits from, checks the answers, and writes rules.
 */
#include "engine/report/pal_import.h"

#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_parts.h"

#include <string.h>

/* Rejects an answer if no file asks the question, because the name in the answer is probably mistyped. */
static HRESULT check_answer(const char *answer, const struct pal_imported *out)
{
    const char *is = strchr(answer, '=');
    char *name = is ? text_copy_n(answer, (size_t)(is - answer)) : NULL;
    struct text_buffer names = {0};
    bool known = false;
    if (!is)
        return error_set(E_INVALIDARG, "invalid answer '%.200s': expected NAME=VALUE", answer);
    for (size_t i = 0; i < out->question_count && name; i++) {
        known |= text_equal_nocase(out->questions[i].variable, name);
        text_buffer_format(&names, "%s%s", i ? ", " : " ", out->questions[i].variable);
    }
    text_buffer_add(&names, "");
    HRESULT hr = name && names.text ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !known)
        hr = error_set(E_INVALIDARG, "unknown question '%.200s' (the file asks%.800s)", name,
                       out->question_count ? names.text : " none");
    text_buffer_free(&names);
    memory_free(name);
    return hr;
}

HRESULT pal_import(const struct pal_job *job, struct pal_imported *out)
{
    struct pal_set set = {.out = out};
    struct text_buffer b = {0};
    *out = (struct pal_imported){0};
    HRESULT hr = pal_set_read(job, &set);
    for (size_t i = 0; job->answers && i < job->answers->count && SUCCEEDED(hr); i++)
        hr = check_answer(job->answers->items[i], out);
    if (SUCCEEDED(hr))
        hr = pal_rules_write(&set, job->means, &b);
    if (SUCCEEDED(hr)) {
        out->size = b.length;
        out->rules = text_buffer_take(&b);
        hr = out->rules ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&b);
    pal_set_free(&set);
    return hr;
}

void pal_imported_free(struct pal_imported *i)
{
    for (size_t k = 0; k < i->question_count; k++) {
        memory_free(i->questions[k].variable);
        memory_free(i->questions[k].text);
        memory_free(i->questions[k].value);
    }
    memory_free(i->questions);
    memory_free(i->rules);
    texts_free(&i->lost);
    texts_free(&i->notes);
    *i = (struct pal_imported){0};
}
