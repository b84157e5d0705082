/* SPDX-License-Identifier: MIT */
#include "cli/logman/advice.h"

#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/run/definition.h"

#include <string.h>

static bool has_extension(const char *path, const char *const *extensions)
{
    const size_t length = strlen(path);
    for (; *extensions; extensions++)
        if (length > strlen(*extensions) && text_equal_nocase(path + length - strlen(*extensions), *extensions))
            return true;
    return false;
}

const char *logman_advice(const struct logman_line *line, HRESULT hr)
{
    static const char *const logs[] = {".blg", ".csv", ".tsv", ".etl", NULL};
    static const struct {
        unsigned verbs; /* 1 << enum logman_verb */
        int session;    /* -1: with -ets and without */
        uint32_t code;
        const char *text;
    } advice[] = {
        {1u << LOGMAN_CREATE, 0, 0x80300109, "update changes it, delete makes place for another one"},
        {1u << LOGMAN_IMPORT, -1, 0x803000B7, "delete it first, or give another name by -n"},
        {1u << LOGMAN_CREATE | 1u << LOGMAN_START, 1, 0x803000B7,
         "stop with -ets ends it, update with -ets changes it"},
        {1u << LOGMAN_DELETE, -1, 0x803000AA, "stop it first"},
        {1u << LOGMAN_START, 0, 0x80070050,
         "of the set, -ow lets it overwrite a log, -a append, -v give each log another name"},
        {1u << LOGMAN_START, 0, 0x800700B7,
         "of the set, -ow lets it overwrite a log, -a append, -v give each log another name"},
        {0xFF, -1, 0x80070005,
         "administrators may do this; Performance Log Users may too for sets that run as somebody: -u"},
    };
    const int session = logman_is_given(line, LOGMAN_SESSION);
    if (line->verb == LOGMAN_EXPORT && line->name && has_extension(line->name, logs))
        return "this is a log's name: openpla relog converts logs, export writes the definitions of sets";
    if (definition_is_damaged(hr) && hr != E_ACCESSDENIED && line->verb != LOGMAN_IMPORT && line->name)
        return "openpla store check says what is wrong with the files of sets; delete makes place for another set";
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == (uint32_t)hr && (advice[i].verbs & 1u << line->verb) != 0 &&
            (advice[i].session < 0 || advice[i].session == session))
            return advice[i].text;
    return NULL;
}

/* ---- what is done, and is not what was meant ---- */

static bool is_set(struct object *o, const char *property)
{
    struct value v;
    if (FAILED(object_get(o, class_property(o->class, property), &v)))
        return false;
    return v.kind == PROPERTY_BOOL ? v.boolean : v.u32 != 0;
}

HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector, struct texts *remarks)
{
    static const char *const programs[] = {".exe", ".cmd", ".bat", ".com", ".ps1", ".vbs", ".js", NULL};
    static const enum logman_use tasks[] = {LOGMAN_TASK_OF_RUN, LOGMAN_TASK};
    HRESULT hr = S_OK;
    if (logman_is_given(line, LOGMAN_NEW_FILES) && !is_set(set, "SegmentMaxDuration") && !is_set(set, "SegmentMaxSize"))
        hr = texts_add(remarks, "-cnf: without a time, and without -max, no other file is begun");
    if (SUCCEEDED(hr) && logman_is_given(line, LOGMAN_NEW_FILES) && is_set(collector, "LogCircular"))
        hr = texts_add(remarks,
                       "-cnf: a circular log goes on in its own file at its size; only a time begins another one");
    if (SUCCEEDED(hr) && is_set(collector, "LogCircular") && !is_set(set, "SegmentMaxSize"))
        hr = texts_add(remarks, "-f bincirc: without -max the log has no size at which it begins anew");
    const struct logman_option *output = logman_option(line, LOGMAN_OUTPUT), *user = logman_option(line, LOGMAN_USER);
    if (SUCCEEDED(hr) && output && !logman_option(line, LOGMAN_SERVER) && folder_exists(output->words.items[0]) &&
        !strchr("\\/", output->words.items[0][strlen(output->words.items[0]) - 1])) {
        char *text =
            text_format("-o: \"%s\" is a folder that is there, and the log's file gets that name beside it; with \\ at "
                        "the end it is the folder of the log",
                        output->words.items[0]);
        hr = text ? texts_give(remarks, text) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && user && user->words.count > 1 && strcmp(user->words.items[1], "*") != 0)
        hr = texts_add(remarks, "-u: others of this computer can read a password on a command line; * asks for it");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, tasks[i]);
        if (o && !o->negated && has_extension(o->words.items[0], programs)) {
            char *text =
                text_format("-%s: \"%s\" is taken for a task's name: no program is started by it, but by a task "
                            "that was added (openpla task add)",
                            logman_rows[tasks[i]].name, o->words.items[0]);
            hr = text ? texts_give(remarks, text) : E_OUTOFMEMORY;
        }
    }
    return hr;
}
