/* SPDX-License-Identifier: MIT */
/* Writes and reads the journal. An event is a line with time, id, level, message and name=value fields, separated by
   tabs. Control characters and '%' are written as %XX. Each process has a quota of events per second. */
#include "engine/logs/journal.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/quotas.h"

#include <stdio.h>
#include <string.h>

#define JOURNAL_LEFT_OUT 9013 /* event that reports how many events were dropped */

/* Limits the number of events that one process can write (the quotas "events" and "burst"). Without this limit, a
   process that floods the journal would displace the events of other processes. Room for events is added at a fixed
   rate, up to the size of a burst. */
struct journal_room {
    bool free;        /* there is room for this event */
    bool full_now;    /* this event has no room, but the event before it had; the journal reports the change */
    uint64_t dropped; /* number of earlier events that were dropped. The caller reports this number now; if the report
                         fails, the caller restores the number */
};

#define WHOLE 1000 /* room for one event; the unit is a thousandth of an event, because time is in milliseconds */

static struct {
    struct lock lock;
    bool begun;
    uint64_t at;    /* clock_monotonic_ms at which journal_room_fill last added to `store` */
    uint64_t store; /* room for events, in thousandths of an event */
    uint64_t dropped;
} journal_store;

static void journal_room_fill(void)
{
    uint64_t now = clock_monotonic_ms(), most = (uint64_t)quota_limit(QUOTA_burst) * WHOLE;
    uint64_t since = now > journal_store.at ? now - journal_store.at : 0, rate = quota_limit(QUOTA_events);
    bool whole = !journal_store.begun || since > most / rate;
    journal_store.store =
        whole || journal_store.store + since * rate > most ? most : journal_store.store + since * rate;
    journal_store.begun = true;
    journal_store.at = now;
}

static struct journal_room journal_room_take(void)
{
    struct journal_room r = {0};
    lock_enter(&journal_store.lock);
    journal_room_fill();
    if (journal_store.store >= WHOLE) {
        journal_store.store -= WHOLE;
        r.free = true;
        r.dropped = journal_store.dropped;
        journal_store.dropped = 0;
    } else {
        r.full_now = !journal_store.dropped++;
    }
    lock_leave(&journal_store.lock);
    return r;
}

static void journal_room_give_back(uint64_t dropped)
{
    lock_enter(&journal_store.lock);
    journal_store.dropped += dropped;
    lock_leave(&journal_store.lock);
}

/* ---- lines ---- */

#define FILE_BYTES   (1u << 20)
#define FILES_KEPT   2
#define LOCK_MS      2000
#define NAME_FORMAT  "events-%010u.log"
#define NAME_PATTERN "events-??????????.log"
/* Writers never reach this number, and ignore files with a higher number. Only a forged file can have this number, and
   such a file would remain the newest one forever. Therefore a writer deletes the forged file when it is full. */
#define LAST_NUMBER  4000000000u
#define LAST_DIGITS  "4000000000"
#define READ_BYTES   65536
#define LINE_BYTES   (256u << 10) /* a longer line is not an event */

char *journal_folder(void)
{
    char *data = os_data_folder(), *folder = data ? path_join(data, "events") : NULL;
    memory_free(data);
    return folder;
}

enum { TIME_ROOM = 32, TIME_BYTES = 24 };

static void format_time(int64_t utc, char out[TIME_ROOM])
{
    struct calendar_time t = clock_calendar(utc);
    snprintf(out, TIME_ROOM, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)t.year % 10000, (unsigned)t.month % 100,
             (unsigned)t.day % 100, (unsigned)t.hour % 100, (unsigned)t.minute % 100, (unsigned)t.second % 100,
             (unsigned)t.millisecond % 1000);
}

/* If an event has no time, append_to sets the time when it writes the line. A time that is set before the wait for
   other writers would be wrong: the line of a process that waits is later in the file, but could then have the older
   time. */
struct journal_line {
    char *text; /* begins with the time, TIME_BYTES long */
    bool has_time;
};

static char *format_line(const struct journal_entry *e)
{
    char time[TIME_ROOM];
    struct text_buffer b = {0};
    format_time(e->utc, time);
    text_buffer_format(&b, "%s\t%u\t%u\t", time, (unsigned)e->id, (unsigned)e->level);
    text_buffer_add_escaped(&b, e->message);
    for (size_t i = 0; i < e->count; i++) {
        text_buffer_format(&b, "\t%s=", e->fields[i].name);
        text_buffer_add_escaped(&b, e->fields[i].value);
    }
    text_buffer_add(&b, "\n");
    return text_buffer_take(&b);
}

/* ---- the numbered files ---- */

static unsigned number_of(const char *name)
{
    unsigned number = 0;
    const char *digits = strchr(name, '-');
    if (!text_matches(NAME_PATTERN, name) || strspn(digits + 1, "0123456789") != 10)
        return 0;
    return strncmp(digits + 1, LAST_DIGITS, 10) <= 0 && sscanf(name, NAME_FORMAT, &number) == 1 ? number : 0;
}

/* Returns the smallest file number above `after`, or 0. *newest is the largest number. */
static HRESULT find_number(const char *folder, unsigned after, unsigned *next, unsigned *newest)
{
    struct texts names = {0};
    *next = *newest = 0;
    HRESULT hr = folder_list(folder, false, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        unsigned number = number_of(names.items[i]);
        if (number > after && (!*next || number < *next))
            *next = number;
        if (number > *newest)
            *newest = number;
    }
    texts_free(&names);
    return hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) ? S_OK : hr;
}

static char *path_of(const char *folder, unsigned number)
{
    char *name = text_format(NAME_FORMAT, number), *path = name ? path_join(folder, name) : NULL;
    memory_free(name);
    return path;
}

/* Deletes old files. A file that a reader has open is deleted by a later call. */
static void delete_old(const char *folder, unsigned newest)
{
    unsigned number, ignored;
    for (unsigned after = 0;
         SUCCEEDED(find_number(folder, after, &number, &ignored)) && number && number + FILES_KEPT <= newest;
         after = number) {
        char *path = path_of(folder, number);
        if (path)
            file_delete(path);
        memory_free(path);
    }
}

/* ---- writing ---- */

/* Returns whether the file ends in the middle of a line, for example because a writer was killed. */
static HRESULT is_torn(struct file *f, uint64_t size, bool *torn)
{
    char last = '\n';
    size_t got = 0;
    HRESULT hr = size ? file_read_at(f, size - 1, &last, 1, &got) : S_OK;
    *torn = SUCCEEDED(hr) && got == 1 && last != '\n';
    return hr;
}

/* Appends the line to a file. S_FALSE: try the next file. The open file is the lock: no other process has it open for
   writing, so the next file is created only when this one is full. */
static HRESULT append_to(const char *folder, unsigned number, bool listed, const struct journal_line *line)
{
    struct file *f;
    uint64_t size = 0;
    bool torn = false;
    char *path = path_of(folder, number);
    HRESULT hr = path ? file_open_wait(path, FILE_APPEND, LOCK_MS, &f) : E_OUTOFMEMORY;
    memory_free(path);
    if (FAILED(hr))
        return hr;
    hr = file_size(f, &size);
    if (SUCCEEDED(hr) && size >= FILE_BYTES) {
        hr = S_FALSE;
    } else if (SUCCEEDED(hr) && listed && !size) {
        /* The file may have been filled and deleted after it was listed. After a deletion, file_open_wait has created a
           new, empty file with the old number. */
        unsigned later, newest;
        hr = find_number(folder, number, &later, &newest);
        hr = SUCCEEDED(hr) && later ? S_FALSE : hr;
    }
    if (hr == S_OK)
        hr = is_torn(f, size, &torn);
    if (hr == S_OK && torn)
        hr = file_write(f, "\n", 1);
    if (hr == S_OK && !line->has_time) {
        char time[TIME_ROOM];
        format_time(clock_utc(), time);
        memcpy(line->text, time, TIME_BYTES);
    }
    if (hr == S_OK)
        hr = file_write(f, line->text, strlen(line->text));
    file_close(f);
    return hr;
}

/* The file to which this process wrote last. A process that knows this file usually does not have to list the
   folder. */
static struct {
    struct lock lock;
    char folder[512];
    unsigned number;
} latest;

/* Returns the number of the file in `latest`; 0: this process has not written to the folder, or the file no longer
   exists. */
static unsigned latest_recall(const char *folder)
{
    lock_enter(&latest.lock);
    unsigned number = strcmp(folder, latest.folder) != 0 ? 0 : latest.number;
    lock_leave(&latest.lock);
    char *path = number ? path_of(folder, number) : NULL;
    bool there = path && file_exists(path);
    memory_free(path);
    return there ? number : 0;
}

static void latest_remember(const char *folder, unsigned number)
{
    size_t size = strlen(folder) + 1;
    if (size > sizeof latest.folder)
        return;
    lock_enter(&latest.lock);
    memcpy(latest.folder, folder, size);
    latest.number = number;
    lock_leave(&latest.lock);
}

static HRESULT delete_forged(const char *folder, unsigned number)
{
    char *path = path_of(folder, number);
    HRESULT hr = path ? file_delete(path) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static HRESULT append_to_newest(const char *folder, const struct journal_line *line)
{
    unsigned next, newest;
    HRESULT hr = find_number(folder, 0, &next, &newest);
    unsigned number = newest ? newest : 1;
    while (SUCCEEDED(hr) && (hr = append_to(folder, number, number == newest, line)) == S_FALSE) {
        if (number < LAST_NUMBER) {
            number++;
            continue;
        }
        hr = delete_forged(folder, number);
        if (SUCCEEDED(hr))
            hr = find_number(folder, 0, &next, &newest);
        number = newest ? newest : 1;
    }
    if (FAILED(hr))
        return hr;
    latest_remember(folder, number);
    if (number != newest)
        delete_old(folder, number);
    return S_OK;
}

static HRESULT append_line(const char *folder, const struct journal_line *line)
{
    unsigned number = latest_recall(folder);
    HRESULT hr = number ? append_to(folder, number, true, line) : S_FALSE;
    return hr == S_FALSE ? append_to_newest(folder, line) : hr;
}

static HRESULT append_entry(const char *folder, const struct journal_entry *e)
{
    const struct journal_line line = {format_line(e), e->utc != 0};
    HRESULT hr = line.text ? folder_check_own(folder) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = append_line(folder, &line);
    if (hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) {
        hr = folder_create_protected(folder, PROTECTION_JOURNAL);
        if (SUCCEEDED(hr))
            hr = append_line(folder, &line);
    }
    memory_free(line.text);
    return hr;
}

/* Reports dropped events. `count` is the number of dropped events; 0: the first event is being dropped now. */
static HRESULT append_dropped(const char *folder, const struct journal_entry *e, uint64_t count)
{
    char process[16], rate[16], times[24];
    struct journal_entry summary = {.utc = e->utc,
                                    .id = JOURNAL_LEFT_OUT,
                                    .level = JOURNAL_WARNING,
                                    .message = count ? "Events were dropped because a process wrote too many"
                                                     : "Events are being dropped because a process writes too many"};
    snprintf(process, sizeof process, "%u", (unsigned)process_own_id());
    snprintf(rate, sizeof rate, "%u", (unsigned)quota_limit(QUOTA_events));
    snprintf(times, sizeof times, "%llu", (unsigned long long)count);
    summary.fields[summary.count++] = (struct journal_field){"Process", process};
    summary.fields[summary.count++] = (struct journal_field){"Quota", rate};
    if (count)
        summary.fields[summary.count++] = (struct journal_field){"Count", times};
    return append_entry(folder, &summary);
}

HRESULT journal_append(const char *folder, const struct journal_entry *e)
{
    const struct journal_room room = journal_room_take();
    TRACE_STEP(logs, "journal %s: event %d", folder, (int)e->id);
    if (room.full_now || room.dropped) {
        HRESULT hr = append_dropped(folder, e, room.dropped);
        if (FAILED(hr)) {
            journal_room_give_back(room.dropped);
            return hr;
        }
    }
    return room.free ? append_entry(folder, e) : S_FALSE;
}

/* ---- reading ---- */

struct journal_reader {
    char *folder;
    struct file *file; /* NULL: not opened yet */
    unsigned number;
    uint64_t offset; /* position of the next line to read */
    char *text;      /* bytes that were read but not returned, from `at` to `end` */
    size_t at, end, capacity;
    bool skip; /* skip the rest of a line that is too long */
};

HRESULT journal_reader_open(const char *folder, struct journal_reader **out)
{
    struct journal_reader *r = memory_zero(1, sizeof *r);
    *out = NULL;
    if (r)
        r->folder = text_copy(folder);
    if (!r || !r->folder) {
        memory_free(r);
        return E_OUTOFMEMORY;
    }
    *out = r;
    return S_OK;
}

void journal_reader_close(struct journal_reader *r)
{
    if (!r)
        return;
    file_close(r->file);
    memory_free(r->folder);
    memory_free(r->text);
    memory_free(r);
}

/* Reads more data of the current file. S_FALSE: no more data. */
static HRESULT read_more(struct journal_reader *r)
{
    size_t got = 0;
    if (!r->file)
        return S_FALSE;
    if (r->at) {
        memmove(r->text, r->text + r->at, r->end - r->at);
        r->end -= r->at;
        r->at = 0;
    }
    if (r->end > LINE_BYTES) {
        r->end = 0;
        r->skip = true;
    }
    void *items = r->text;
    if (!memory_grow(&items, &r->capacity, r->end + READ_BYTES + 1, 1))
        return E_OUTOFMEMORY;
    r->text = items;
    HRESULT hr = file_read_at(r->file, r->offset, r->text + r->end, READ_BYTES, &got);
    if (FAILED(hr))
        return hr;
    r->offset += got;
    r->end += got;
    return got ? S_OK : S_FALSE;
}

/* Continues with the next file. S_FALSE: there is no next file. */
static HRESULT next_file(struct journal_reader *r)
{
    unsigned next, newest;
    struct file *file;
    HRESULT hr = find_number(r->folder, r->number, &next, &newest);
    if (FAILED(hr) || !next)
        return FAILED(hr) ? hr : S_FALSE;
    char *path = path_of(r->folder, next);
    hr = path ? file_open(path, FILE_READ, &file) : E_OUTOFMEMORY;
    memory_free(path);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) /* the file was deleted in the meantime; use the next file */
        r->number = next;
    if (FAILED(hr))
        return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) ? next_file(r) : hr;
    hr = read_more(r); /* reads lines that were written before the next file was created */
    if (hr != S_FALSE) {
        file_close(file);
        return hr;
    }
    file_close(r->file);
    r->file = file;
    r->number = next;
    r->offset = 0;
    r->at = r->end = 0;
    r->skip = false;
    return S_OK;
}

/* Returns the next complete line without its line end, in place in the buffer. */
static HRESULT next_line(struct journal_reader *r, char **line)
{
    for (;;) {
        char *end = r->end > r->at ? memchr(r->text + r->at, '\n', r->end - r->at) : NULL;
        if (end) {
            *line = r->text + r->at;
            *end = 0;
            r->at = (size_t)(end + 1 - r->text);
            if (!r->skip)
                return S_OK;
            r->skip = false;
            continue;
        }
        HRESULT hr = read_more(r);
        if (hr == S_FALSE) {
            hr = next_file(r);
            if (hr == S_OK)
                continue;
        }
        if (hr != S_OK)
            return hr;
    }
}

static char *field_cut(char **rest)
{
    char *part = *rest, *tab = part ? strchr(part, '\t') : NULL;
    *rest = tab ? tab + 1 : NULL;
    if (tab)
        *tab = 0;
    return part;
}

static bool parse_time(const char *text, int64_t *utc)
{
    struct calendar_time t = {0};
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &t.year, &t.month, &t.day, &t.hour, &t.minute, &t.second,
               &t.millisecond, &used) != 7 ||
        text[used] || t.year < 1601 || t.month < 1 || t.month > 12 || t.day < 1 || t.day > 31 || t.hour < 0 ||
        t.minute < 0 || t.second < 0 || t.millisecond < 0 || t.hour > 23 || t.minute > 59 || t.second > 59)
        return false;
    *utc = clock_from_calendar(&t);
    return true;
}

/* Decodes the escapes and checks the result, because an escape can hide invalid UTF-8. */
static bool take_text(char *text)
{
    return text_unescape(text) && text_is_utf8(text, strlen(text));
}

static bool parse_line(char *line, struct journal_entry *e)
{
    memset(e, 0, sizeof *e);
    char *time = field_cut(&line), *id = field_cut(&line), *level = field_cut(&line), *message = field_cut(&line);
    uint64_t number, grade;
    if (!message || !parse_time(time, &e->utc) || !text_to_u64(id, &number) || number > UINT32_MAX ||
        !text_to_u64(level, &grade) || grade < JOURNAL_ERROR || grade > JOURNAL_INFORMATION || !take_text(message))
        return false;
    e->id = (uint32_t)number;
    e->level = (enum journal_level)grade;
    e->message = message;
    while (line) {
        char *name = field_cut(&line), *value = strchr(name, '=');
        if (!value || e->count == JOURNAL_FIELDS_MAX)
            return false;
        *value++ = 0;
        if (!take_text(value))
            return false;
        e->fields[e->count++] = (struct journal_field){name, value};
    }
    return true;
}

HRESULT journal_reader_next(struct journal_reader *r, struct journal_entry *out)
{
    char *line = NULL;
    HRESULT hr;
    do
        hr = next_line(r, &line);
    while (hr == S_OK && (!text_is_utf8(line, strlen(line)) || !parse_line(line, out)));
    return hr;
}
