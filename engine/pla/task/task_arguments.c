/* SPDX-License-Identifier: MIT */
/* The arguments of a task: variables and their values. DECISIONS 14. */
#include "engine/base/command_line.h"
#include "engine/base/memory.h"
#include "engine/pla/task.h"

#include <string.h>

#define PATTERN_MOST (4 * 32767) /* bytes of as many characters as CreateProcess takes */

/* A variable in the pattern, with its braces. */
struct place {
    const struct task_variable *variable; /* NULL: none stands there */
    size_t bytes;
};

static HRESULT find(const char *at, const struct task_variable *variables, size_t count, struct place *out)
{
    size_t escape = *at == '\\';
    const char *name = at + escape + 1;
    *out = (struct place){NULL, 0};
    if (at[escape] != '{')
        return S_OK;
    size_t length = strcspn(name, "{}");
    bool closed = name[length] == '}' && (!escape || (length && name[length - 1] == '\\'));
    char *called = closed ? text_copy_n(name, length - escape) : NULL;
    for (size_t i = 0; called && !out->variable && i < count; i++)
        if (text_equal_nocase(called, variables[i].name))
            *out = (struct place){&variables[i], escape + 1 + length + 1};
    memory_free(called);
    return closed && !called ? E_OUTOFMEMORY : S_OK;
}

static void add_value(struct command_line *l, const struct task_variable *v, bool quoted)
{
    if (!v->list) {
        command_line_value(l, v->text ? v->text : "");
        return;
    }
    bool first = true;
    for (size_t i = 0; i < v->list->count; i++) {
        if (!v->list->items[i][0])
            continue;
        if (!first && quoted)
            command_line_text(l, " ");
        else if (!first)
            command_line_blank(l, ' ');
        command_line_value(l, v->list->items[i]);
        first = false;
    }
}

HRESULT task_expand_arguments(const char *pattern, const struct task_variable *variables, size_t count, char **out)
{
    struct command_line_reader r = {.at = pattern};
    struct command_line line = {0};
    HRESULT hr = S_OK;
    *out = NULL;
    if (strlen(pattern) > PATTERN_MOST)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE),
                         "TaskArguments: %llu bytes are more than the %d of a command line",
                         (unsigned long long)strlen(pattern), PATTERN_MOST);
    for (bool more = true; SUCCEEDED(hr) && more;) {
        struct place place = {NULL, 0};
        /* The backslash of an escape is the last of its row, which stands before no quote. */
        if (!r.backslashes)
            hr = find(r.at, variables, count, &place);
        if (!place.variable) {
            more = command_line_copy(&line, &r);
            continue;
        }
        add_value(&line, place.variable, r.quoted);
        r.at += place.bytes;
        r.plain = 0;
    }
    char *text = command_line_take(&line);
    if (FAILED(hr))
        memory_free(text);
    *out = SUCCEEDED(hr) ? text : NULL;
    return *out ? S_OK : E_OUTOFMEMORY;
}
