/* SPDX-License-Identifier: MIT */
/* Entries of sessions. */
#include "engine/etw/session/session_journal.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"

#include <stdio.h>

static const struct row {
    enum session_journal_id id;
    enum journal_level level;
    const char *message, *counted;
} rows[] = {
    {SESSION_RESCUED, JOURNAL_WARNING, "A trace session's host had ended; its events are in its log", "Events"},
    {SESSION_NOT_RESCUED, JOURNAL_ERROR, "A trace session's host had ended, and its last events are lost", "Events"},
    {SESSION_NOT_WRITTEN, JOURNAL_ERROR, "A trace session's log cannot be written; the session goes on", "Buffers"},
    {SESSION_WRITTEN_AGAIN, JOURNAL_INFORMATION, "A trace session's log is written again", "BuffersLost"},
    {SESSION_RESCUE_FAILED, JOURNAL_ERROR, "A trace session's host had ended, and its log cannot be written yet", ""},
    {SESSION_FULL, JOURNAL_INFORMATION, "A trace session's log has its maximum and is closed", "Buffers"},
    {SESSION_WITHOUT_DIRECTORY, JOURNAL_WARNING, "The directory of sessions was deleted; the trace session ends", ""},
    {SESSION_UNDELIVERED, JOURNAL_WARNING, "A trace session has ended, and a consumer did not read its last events",
     "BuffersLost"},
    {SESSION_KEY_VALUE, JOURNAL_WARNING, "A value of an autologger in the registry is not as it must be", ""},
    {SESSION_KEY_PROVIDER, JOURNAL_WARNING, "An autologger does not enable a provider", ""},
    {SESSION_KEY_NOT_STARTED, JOURNAL_ERROR, "An autologger has not started", ""},
    {SESSION_WITHOUT_KERNEL, JOURNAL_WARNING, "A logger of the kernel's events has none on this host", ""},
    {SESSION_KERNEL_FLAGS, JOURNAL_INFORMATION,
     "Some of the kernel's events that a session asks for have no source on this host", ""},
    {SESSION_KERNEL_POORER, JOURNAL_WARNING,
     "A logger of the kernel's events sees processes and threads alone, by looking for them again and again", ""},
    {SESSION_KERNEL_HIDDEN, JOURNAL_WARNING, "A logger of the kernel's events is shown no processes of other users",
     ""},
    {SESSION_KERNEL_LEFT, JOURNAL_WARNING, "A session has ended, and its buffers in the kernel could not be removed",
     ""},
    {SESSION_KERNEL_COUNTERS, JOURNAL_INFORMATION,
     "A session asks for counters of processors, which have no source on this host", ""},
    {SESSION_KERNEL_STACKS, JOURNAL_INFORMATION,
     "Some of the stacks that a session asks for have no source on this host", ""},
};

static const struct row *row_of(enum session_journal_id id)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static void append(const struct journal_entry *entry)
{
    char *folder = journal_folder();
    if (folder)
        (void)journal_append(folder, entry);
    memory_free(folder);
}

void session_tell(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count)
{
    const struct row *row = row_of(id);
    const struct error_kept why = error_keep(hr);
    char error[16], number[24];
    struct journal_entry entry = {.utc = clock_utc(), .id = id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", s->name};
    if (s->file)
        entry.fields[entry.count++] = (struct journal_field){"File", s->file};
    if (count != 0) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)count);
        entry.fields[entry.count++] = (struct journal_field){row->counted, number};
    }
    if (FAILED(hr)) {
        snprintf(error, sizeof error, "0x%08X", (unsigned)hr);
        entry.fields[entry.count++] = (struct journal_field){"Error", error};
        entry.fields[entry.count++] = (struct journal_field){"Reason", why.text};
    }
    append(&entry);
    (void)error_restore(&why);
}

void session_tell_missing(enum session_journal_id id, const struct directory_session *s, const char *field,
                          const char *what)
{
    const struct row *row = row_of(id);
    struct journal_entry entry = {.utc = clock_utc(), .id = id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", s->name};
    entry.fields[entry.count++] = (struct journal_field){field, what};
    append(&entry);
}

void session_tell_source(enum session_journal_id id, const char *session, const char *source, const char *why)
{
    const struct row *row = row_of(id);
    struct journal_entry entry = {.utc = clock_utc(), .id = row->id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", session};
    if (source)
        entry.fields[entry.count++] = (struct journal_field){"Source", source};
    if (why)
        entry.fields[entry.count++] = (struct journal_field){"Reason", why};
    append(&entry);
}

void session_tell_key(enum session_journal_id id, const struct autologger *a, HRESULT hr, const char *below,
                      const char *text)
{
    const struct row *row = row_of(id);
    const struct error_kept why = error_keep(hr);
    struct journal_entry entry = {.utc = clock_utc(), .id = id, .level = row->level, .message = row->message};
    char error[16], *key = a->global
                               ? text_copy(a->name)
                               : text_format("Autologger\\%s%s%s", a->name, below ? "\\" : "", below ? below : "");
    if (key)
        entry.fields[entry.count++] = (struct journal_field){"Key", key};
    if (FAILED(hr)) {
        snprintf(error, sizeof error, "0x%08X", (unsigned)hr);
        entry.fields[entry.count++] = (struct journal_field){"Error", error};
    }
    entry.fields[entry.count++] = (struct journal_field){"Reason", FAILED(hr) ? why.text : text};
    append(&entry);
    memory_free(key);
    (void)error_restore(&why);
}
