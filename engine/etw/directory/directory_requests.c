/* SPDX-License-Identifier: MIT */
/* Requests of controllers to the host processes of sessions. Each logger has a mailbox for one request at a time:

     free -- controller, under the mutex --> asked -- host --> taken -- host --> answered -- controller --> free
                                               |                 |
                                               | controller      | controller gives up, or is dead
                                               v gives up        v
                                              free             taken alone -- host --> free

   The word of the mailbox contains a request number together with the state. A controller that gives up changes only
   that word, so an answer never reaches the next request. */
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_types.h"

/* The states, in this order: free; a request waits for the host process; the host process has taken the request; it has
   taken the request, but no controller waits for the answer; the answer waits for the controller. */
enum { MAIL_FREE, MAIL_ASKED, MAIL_TAKEN, MAIL_TAKEN_ALONE, MAIL_ANSWERED };

static uint32_t mail_state(uint64_t word)
{
    return (uint32_t)(word & 7);
}
static uint64_t mail_word(uint64_t number, uint32_t state)
{
    return number << 3 | state;
}

static struct mailbox_record *mailbox_of(struct directory *d, uint32_t logger)
{
    return &d->shared->mailbox[logger - 1];
}

static uint32_t rest_of(uint64_t limit)
{
    const uint64_t now = clock_monotonic_ms(), rest = limit > now ? limit - now : 0;
    return rest > INT32_MAX ? INT32_MAX : (uint32_t)rest;
}

static HRESULT to_payload(const struct directory_request *r, uint64_t until_ms, struct request_payload *p)
{
    memset(p, 0, sizeof *p);
    p->verb = (uint32_t)r->verb;
    p->process_id = r->process.id;
    p->process_start = r->process.start_time;
    p->until_ms = until_ms;
    p->mode = r->mode;
    p->maximum_buffers = r->maximum_buffers;
    p->flush_timer = r->flush_timer;
    p->flags_given = r->flags_given;
    memcpy(p->enable_flags, r->enable_flags, sizeof p->enable_flags);
    p->list = r->list;
    p->item_count = r->item_count;
    if (r->verb != DIRECTORY_SET_LIST)
        return directory_put_text(p->file, &p->file_bytes, r->file, ERROR_FILENAME_EXCED_RANGE, "file");
    p->file_bytes = DIRECTORY_NO_TEXT;
    memcpy(p->items, r->items, sizeof p->items);
    return S_OK;
}

/* Returns whether the mailbox can be used for a new request; call it under the mutex. If the controller of the previous
   request is dead or no longer waits, the answer to that request is dropped. If the host process is still working on
   the previous request, the mailbox becomes free when the work is done. */
static bool is_free(struct mailbox_record *mailbox, struct request_payload *room)
{
    uint64_t word = atomic_load(&mailbox->word);
    if (mail_state(word) == MAIL_FREE || mail_state(word) > MAIL_ANSWERED)
        return true;
    directory_load(room, mailbox->words, sizeof *room);
    /* It is not sufficient to check the time limit `until_ms`. After a restart of the computer, `until_ms` can be in
       the future although the process that stored it is dead. */
    if (process_alive(room->process_id, room->process_start) && clock_monotonic_ms() <= room->until_ms)
        return false;
    if (mail_state(word) == MAIL_TAKEN)
        (void)atomic_compare_exchange_strong(&mailbox->word, &word, mail_word(word >> 3, MAIL_TAKEN_ALONE));
    return mail_state(atomic_load(&mailbox->word)) == MAIL_ANSWERED;
}

/* Puts the request into the mailbox. S_FALSE: the mailbox was in use until the time limit. */
static HRESULT put_request(struct directory *d, uint32_t logger, uint32_t generation,
                           const struct request_payload *payload, uint64_t limit, uint64_t *number)
{
    struct mailbox_record *mailbox = mailbox_of(d, logger);
    struct request_payload *room = memory_alloc(sizeof *room);
    struct wakeup *never = NULL;
    HRESULT hr = room ? wakeup_create(&never) : E_OUTOFMEMORY;
    for (bool done = false; hr == S_OK && !done;) {
        hr = mutex_take(d->mutex, rest_of(limit));
        if (hr != S_OK)
            break;
        if (!directory_find_session(d, logger, generation, directory_revision(d))) {
            hr = E_ABORT;
        } else if (is_free(mailbox, room)) {
            *number = (atomic_load(&mailbox->word) >> 3) + 1;
            atomic_store(&mailbox->word, mail_word(*number, MAIL_FREE));
            directory_store(mailbox->words, payload, sizeof *payload);
            atomic_store(&mailbox->word, mail_word(*number, MAIL_ASKED));
            done = true;
        }
        mutex_release(d->mutex);
        if (hr == S_OK && !done && rest_of(limit) == 0)
            hr = S_FALSE;
        if (hr == S_OK && !done)
            (void)wakeup_wait(never, 1);
    }
    wakeup_free(never);
    memory_free(room);
    return hr;
}

/* Fetches the answer, or withdraws the request. S_FALSE: no answer. */
static HRESULT request_finish(struct mailbox_record *mailbox, uint64_t number, uint32_t *answer)
{
    uint64_t word = atomic_load(&mailbox->word);
    while (word >> 3 == number) {
        const uint32_t state = mail_state(word);
        if (state == MAIL_ANSWERED)
            *answer = (uint32_t)atomic_load(&mailbox->answer);
        else if (state != MAIL_ASKED && state != MAIL_TAKEN)
            break;
        if (atomic_compare_exchange_strong(&mailbox->word, &word,
                                           mail_word(number, state == MAIL_TAKEN ? MAIL_TAKEN_ALONE : MAIL_FREE)))
            return state == MAIL_ANSWERED ? S_OK : S_FALSE;
    }
    return S_FALSE;
}

HRESULT directory_ask(struct directory *d, uint32_t logger, uint32_t generation,
                      const struct directory_request *request, uint32_t timeout_ms, uint32_t *answer)
{
    const uint64_t limit = clock_monotonic_ms() + timeout_ms;
    struct directory_session session;
    struct request_payload *payload;
    struct process *host = NULL;
    struct signal *answered = NULL;
    uint64_t number;
    TRACE_STEP(etw, "request %d to the host of logger %u", (int)request->verb, (unsigned)logger);
    char name[96];
    HRESULT hr = directory_session_at(d, logger, generation, &session);
    if (hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND), "no session of logger %u, generation %u",
                         (unsigned)logger, (unsigned)generation);
    if (FAILED(hr))
        return hr;
    payload = memory_alloc(sizeof *payload);
    hr = payload ? to_payload(request, limit, payload) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        hr = process_open(session.host.id, session.host.start_time, &host);
        if (hr == S_FALSE)
            hr = error_set(E_ABORT, "cannot control session '%.200s': its host process %u has exited", session.name,
                           (unsigned)session.host.id);
    }
    if (SUCCEEDED(hr)) {
        directory_object_name(d, 'a', logger, session.generation, name);
        hr = signal_open(&(struct shared){.name = name, .create = true}, &answered);
    }
    if (SUCCEEDED(hr))
        hr = put_request(d, logger, session.generation, payload, limit, &number);
    if (hr == S_OK) {
        struct mailbox_record *mailbox = mailbox_of(d, logger);
        const uint64_t done = mail_word(number, MAIL_ANSWERED);
        directory_set_signal(session.signal);
        while (hr == S_OK && atomic_load(&mailbox->word) != done && atomic_load(&mailbox->word) >> 3 == number)
            hr = directory_find_session(d, logger, session.generation, directory_revision(d))
                     ? signal_wait_or_process(answered, host, rest_of(limit))
                     : E_ABORT;
        const HRESULT fetched = request_finish(mailbox, number, answer);
        hr = fetched == S_OK ? S_OK : hr == S_OK ? E_ABORT : hr;
    }
    if (hr == E_ABORT)
        hr = error_set(hr, "cannot control session '%.200s': its host process %u has exited", session.name,
                       (unsigned)session.host.id);
    signal_close(answered);
    process_close(host);
    memory_free(payload);
    directory_session_free(&session);
    return hr;
}

/* ---- the host process's side ---- */

static bool is_request(const struct request_payload *p)
{
    return p->verb >= DIRECTORY_STOP && p->verb <= DIRECTORY_SYSTEM_PROVIDERS && p->list < DIRECTORY_KERNEL_LISTS &&
           p->item_count <= directory_kernel_room((enum directory_kernel_list)p->list);
}

HRESULT directory_asked(struct directory *d, uint32_t logger, struct directory_request *out)
{
    struct mailbox_record *mailbox = mailbox_of(d, logger);
    uint64_t word = atomic_load(&mailbox->word);
    *out = (struct directory_request){.file = NULL};
    if (mail_state(word) != MAIL_ASKED)
        return S_FALSE;
    struct request_payload *p = memory_alloc(sizeof *p);
    if (!p)
        return E_OUTOFMEMORY;
    directory_load(p, mailbox->words, sizeof *p);
    *out = (struct directory_request){
        .verb = (enum directory_verb)p->verb,
        .process = {p->process_id, p->process_start},
        .mode = p->mode,
        .maximum_buffers = p->maximum_buffers,
        .flush_timer = p->flush_timer,
        .flags_given = p->flags_given,
        .list = p->list,
        .item_count = p->item_count,
    };
    if (out->verb == DIRECTORY_SET_LIST) {
        memcpy(out->items, p->items, sizeof out->items);
        p->file_bytes = DIRECTORY_NO_TEXT;
    }
    memcpy(out->enable_flags, p->enable_flags, sizeof out->enable_flags);
    HRESULT hr = is_request(p) ? directory_take_text(p->file, p->file_bytes, &out->file) : S_FALSE;
    memory_free(p);
    if (SUCCEEDED(hr) && !atomic_compare_exchange_strong(&mailbox->word, &word, mail_word(word >> 3, MAIL_TAKEN))) {
        directory_request_free(out);
        return S_FALSE; /* the controller has given up */
    }
    if (hr == S_FALSE) /* an unknown request */
        directory_answer(d, logger, ERROR_INVALID_PARAMETER);
    return hr;
}

void directory_hang_up(struct directory *d, uint32_t logger, uint32_t generation)
{
    char name[96];
    directory_object_name(d, 'a', logger, generation, name);
    directory_set_signal(name);
}

void directory_request_free(struct directory_request *r)
{
    memory_free(r->file);
    r->file = NULL;
}

void directory_answer(struct directory *d, uint32_t logger, uint32_t answer)
{
    TRACE_STEP(etw, "answer for logger %u: %u", (unsigned)logger, (unsigned)answer);
    struct mailbox_record *mailbox = mailbox_of(d, logger);
    uint64_t word = atomic_load(&mailbox->word);
    char name[96];
    if (mail_state(word) == MAIL_TAKEN) {
        atomic_store(&mailbox->answer, answer);
        if (atomic_compare_exchange_strong(&mailbox->word, &word, mail_word(word >> 3, MAIL_ANSWERED))) {
            struct session_record *record = directory_find_session(d, logger, 0, directory_revision(d));
            const uint64_t names = record ? atomic_load(&record->words[0]) : 0;
            directory_object_name(d, 'a', logger, (uint32_t)(names >> 32), name);
            directory_set_signal(name);
            return;
        }
    }
    if (mail_state(word) == MAIL_TAKEN_ALONE)
        (void)atomic_compare_exchange_strong(&mailbox->word, &word, mail_word(word >> 3, MAIL_FREE));
}
