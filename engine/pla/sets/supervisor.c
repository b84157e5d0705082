/* SPDX-License-Identifier: MIT */
/* The supervisor: starts sets by their schedules, watches running sets, restarts interrupted ones, and stops expired
   ones.

   Problem. Sets must start within the second that their schedule names, even if thousands are due in the same second,
   and whether or not a client is connected. Other processes, and people who copy files, change definitions and run
   records. Host processes can die or hang. Several service processes may share a store, but only one of them may start
   a set.

   Choosing the supervisor. The thread first takes two lock files in the data folder, then writes its process id and
   start time to supervisor.process. There are two lock files because any program could keep one of them open: if no
   supervisor registers itself within PATIENCE_MS, one lock suffices, and an event names the file that could not be
   locked. When a supervisor dies, the host OS releases its locks, and the thread of another process becomes the
   supervisor.

   Data. v->sets has one entry per set: its schedule rules, whether its record names an active run, and the next start.
   Scans fill it:

     store.changes       names the sets that OpenPLA's programs have written; only those are read
     folder watch        wakes the thread when something in the store's folders changes
     full comparison     every COMPARE_MS, and when the changes are unknown: compares the stamps of all
                         files, which finds changes that people made by hand
     second look         reads an unreadable file again after 1, 2, 4 ... s: its writer may not have finished

   Scans are at least SCAN_PAUSE_MS apart, because running sets often write their records. A set that cannot be read
   keeps its previous schedule; this is reported only once. A set without a schedule also has an entry, but no next
   start.

   Loop (supervisor_run). Each pass scans if something has changed, calls supervisor_do_due, and waits until the next
   start, restart, second look or check of host processes, or until the watch reports a change. Starts are compared with
   the wall clock; when the clock or the time zone has been set, all starts are computed again. Pauses are measured with
   the monotonic clock.

   Starts. Each start runs on a separate thread, so that a slow start does not delay other starts. Host processes are
   prepared up to AHEAD before their starts, at most AHEAD_MOST at a time, because starts would be late if many
   processes were created within one second. One second after a start, the start is noted in the run record
   (last_scheduled). A supervisor that takes over within that second could therefore start the set a second time; the
   run lock of the set then rejects the second start.

   Running sets. Every LOOK_MS the state of each active set is read from its shared section. If the record names a run
   but there is no host process, the run was interrupted. The supervisor then corrects the record, releases the
   resources that the run held (held_release), and writes an event. OpenPLA.Restart determines whether the supervisor
   restarts the set. The pause before a restart doubles each time, up to LAST_PAUSE. A host process that takes too long
   to start or stop is terminated.

   Crash of the supervisor. No data is lost, because everything is in the store: schedules, records, and the lists of
   resources that runs hold. Prepared host processes exit. Starts that were missed by at most START_GRACE are still
   performed; older ones are only reported. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/sets.h"
#include "engine/pla/sets/supervised_set.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <stdatomic.h>
#include <inttypes.h>
#include <string.h>

#define IDLE_MS        60000  /* the longest wait, in case the folder watch has failed */
#define COMPARE_MS     600000 /* time between full comparisons, which find unannounced changes */
#define LOOK_MS        1000   /* time between checks of host processes and of the wall clock */
#define SCAN_PAUSE_MS  50     /* time between scans, because running sets often change their records */
#define FIRST_PAUSE    1000   /* pause before a restart; doubled each time up to LAST_PAUSE */
#define LAST_PAUSE     300000
#define STEADY_MS      60000                    /* a host process that has run for this time counts as stable */
#define CLOCK_SET_MS   100                      /* a smaller difference means that the clock is being adjusted */
#define WATCH_PAUSE_MS 200                      /* time between two attempts to become the supervisor */
#define GRACE_MS       5000                     /* added to limits, so that a waiting client acts first */
#define AHEAD          (10 * INT64_C(10000000)) /* units of 100 ns between preparing a host process and its start */
#define NOTE_PAUSE_MS  1000                     /* time from a start until it is noted in the record */
#define AHEAD_MOST     64                       /* maximum number of host processes prepared at a time */
#define LOOKS_MOST     100 /* maximum number of files read again in one pass, so that starts are not delayed */

#define SPACES_MAX     8

struct supervisor {
    struct thread *thread;
    struct lock lock;           /* guards the pointer to the watch */
    struct folder_watch *watch; /* watches the store's folders; NULL: none */
    atomic_bool end;
    atomic_uint starting; /* number of threads that are starting a set */
    void (*work)(void *user, bool any);
    void *user;
    bool has_work;
    struct supervised_set *sets;
    size_t count, capacity;
    bool scanned;
    bool more_ahead;                     /* whether more host processes must be prepared */
    struct store_mark marks[SPACES_MAX]; /* in the order of store_namespaces */
    struct second_look left[SPACES_MAX]; /* next tries for files that could not be moved to their places */
    uint64_t compared;                   /* clock_monotonic_ms of the last full comparison */
    int64_t utc;                         /* when the clocks were last read */
    uint64_t ticks;                      /* clock_monotonic_ms at that time */
    int bias;
};

static char *moment_text(int64_t utc)
{
    struct calendar_time t = clock_calendar(clock_utc_to_local(utc));
    return text_format("%04d-%02d-%02d %02d:%02d:%02d", t.year, t.month, t.day, t.hour, t.minute, t.second);
}

static void supervised_set_report(const struct supervised_set *s, enum journal_id id, HRESULT error, const char *reason)
{
    journal_write(id, &(struct journal_facts){.space = s->space, .name = s->name, .error = error, .reason = reason});
}

static void supervisor_pause(uint32_t ms)
{
    struct wakeup *pause;
    if (FAILED(wakeup_create(&pause)))
        return;
    wakeup_wait(pause, ms); /* only waited for, never set */
    wakeup_free(pause);
}

/* ---- starts, each on a separate thread, so that a slow one does not delay others ---- */

struct start {
    struct supervisor *supervisor;
    const char *space;
    char *name;
    int64_t due; /* 0: not started by a schedule */
    struct run_ahead *ahead;
};

static void make_start(void *user)
{
    struct start *start = user;
    HRESULT hr = run_start_ahead(start->space, start->name, start->ahead);
    /* The start is noted late, because a start must not wait for the disk, and because the host processes of other
       starts in the same second write their records now. Until the start is noted, no other process can start the set
       again, because the set is running. */
    if (SUCCEEDED(hr) && start->due)
        supervisor_pause(NOTE_PAUSE_MS);
    if (start->due)
        supervised_set_note_start(start->space, start->name, start->due);
    /* The host process or run_start reports all other failures. If the set is already running, it continues to run. */
    if (hr == PLA_E_DCS_NOT_FOUND)
        journal_write(JOURNAL_START_FAILED,
                      &(struct journal_facts){.space = start->space, .name = start->name, .error = hr});
    atomic_fetch_sub(&start->supervisor->starting, 1);
    memory_free(start->name);
    memory_free(start);
}

static void begin_start(struct supervisor *v, struct supervised_set *s, int64_t due)
{
    struct start *start = memory_zero(1, sizeof *start);
    struct thread *thread = NULL;
    HRESULT hr = E_OUTOFMEMORY;
    if (start)
        *start = (struct start){v, s->space, text_copy(s->name), due, s->ahead};
    atomic_fetch_add(&v->starting, 1);
    if (start && start->name)
        hr = thread_start(make_start, start, &thread);
    if (FAILED(hr)) {
        atomic_fetch_sub(&v->starting, 1);
        supervised_set_report(s, JOURNAL_START_FAILED, hr, NULL);
        if (start)
            memory_free(start->name);
        memory_free(start);
        run_ahead_free(s->ahead);
    }
    s->ahead = NULL;
    thread_close(thread);
}

/* ---- host processes are prepared ahead, because creating many of them within one second would delay starts ---- */

static size_t hosts_ahead(const struct supervisor *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++)
        count += v->sets[i].ahead != NULL;
    return count;
}

/* Returns whether a host process must be prepared for the set. A set that is running needs no host process, because it
   would reject the start. */
static bool wants_host(const struct supervised_set *s, int64_t now)
{
    return !s->running && s->due > now && s->due - now <= AHEAD;
}

/* Prepares at most one host process, because that takes time. Returns whether more host processes must be prepared. */
static bool make_ahead(struct supervisor *v, int64_t now)
{
    size_t count = hosts_ahead(v);
    bool made = false;
    for (size_t i = 0; i < v->count; i++) {
        struct supervised_set *s = &v->sets[i];
        if (s->ahead && (s->due != s->ahead_for || !wants_host(s, now))) { /* `due` changed, or the set is running */
            run_ahead_free(s->ahead);
            s->ahead = NULL;
            s->ahead_for = 0;
            count--;
        }
        if (!wants_host(s, now) || s->due == s->ahead_for || count == AHEAD_MOST)
            continue;
        if (made)
            return true;
        made = true;
        s->ahead_for = s->due;
        if (SUCCEEDED(run_make_ahead(s->space, s->name, &s->ahead))) /* on failure the start creates one */
            count++;
    }
    return false;
}

/* ---- scanning ---- */

static struct supervised_set *supervisor_find_set(struct supervisor *v, const char *space, const char *name)
{
    uint64_t key = text_hash_nocase(name);
    for (size_t i = 0; i < v->count; i++)
        if (v->sets[i].key == key && v->sets[i].space == space && text_equal_nocase(v->sets[i].name, name))
            return &v->sets[i];
    return NULL;
}

static struct supervised_set *find_file(struct supervisor *v, const char *space, uint64_t file)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->sets[i].file == file && v->sets[i].space == space)
            return &v->sets[i];
    return NULL;
}

static struct supervised_set *supervisor_add_set(struct supervisor *v, const char *space, const char *name)
{
    void *items = v->sets;
    char *own = text_copy(name);
    if (!own || !memory_grow(&items, &v->capacity, v->count + 1, sizeof *v->sets)) {
        memory_free(own);
        return NULL;
    }
    v->sets = items;
    v->sets[v->count] =
        (struct supervised_set){.space = space, .name = own, .key = text_hash_nocase(own), .due = NEXT_START_NEVER};
    return &v->sets[v->count++];
}

static void supervisor_plan_set(struct supervised_set *s, int64_t now)
{
    int64_t missed;
    if (supervised_set_plan(s, now, &host_zone, &missed) != S_FALSE)
        return;
    char *moment = moment_text(missed), *reason = moment ? text_format("it was due at %s", moment) : NULL;
    supervised_set_report(s, JOURNAL_START_MISSED, S_OK, reason);
    memory_free(reason);
    memory_free(moment);
}

static void forget(struct supervisor *v, struct supervised_set *s)
{
    supervised_set_free(s);
    *s = v->sets[--v->count];
}

/* Reads the set: from `stored`, or from the store if `stored` is NULL. An unreadable set keeps its previous schedule:
   its file may be corrupt, or is being replaced. False: the set no longer exists, and its entry was removed. */
static bool take_known(struct supervisor *v, struct supervised_set *s, const struct stored_set *stored, bool has_record,
                       int64_t now)
{
    int64_t since = v->scanned ? now : 0;
    uint64_t seen = s->seen;
    HRESULT hr =
        stored ? supervised_set_take(s, stored->xml, stored->size, has_record, since) : supervised_set_read(s, since);
    if (stored && SUCCEEDED(hr))
        store_note_sound(s->space, stored);
    if (hr == PLA_E_DCS_NOT_FOUND) {
        forget(v, s);
        return false;
    }
    supervised_set_look_again(s, hr, s->seen != seen);
    if (!v->scanned)
        s->cut_off = s->running;
    if (hr == S_OK)
        supervisor_plan_set(s, now);
    return true;
}

/* Reads the set of that name and returns its entry; NULL: no such set. */
static struct supervised_set *supervisor_read_set(struct supervisor *v, const char *space, const char *name,
                                                  const struct stored_set *stored, bool has_record, int64_t now)
{
    struct supervised_set *s = supervisor_find_set(v, space, name);
    if (!s)
        s = supervisor_add_set(v, space, name);
    return s && take_known(v, s, stored, has_record, now) ? s : NULL;
}

/* Reads a set from its file, which contains the name, too. */
static struct supervised_set *take_file(struct supervisor *v, const char *space, const struct stored_stamp *stamp,
                                        int64_t now)
{
    struct stored_set stored;
    struct supervised_set *s = NULL;
    if (store_read_in(space, stamp, &stored) == S_OK)
        s = supervisor_read_set(v, space, stored.name, stored.xml ? &stored : NULL, stamp->has_record, now);
    stored_set_free(&stored);
    return s;
}

static void compare_files(struct supervisor *v, const char *space, int64_t now)
{
    struct stored_stamps stamps;
    if (FAILED(store_list_stamps(space, &stamps)))
        return;
    for (size_t i = 0; i < v->count; i++)
        v->sets[i].listed = v->sets[i].space != space;
    for (size_t i = 0; i < stamps.count; i++) {
        uint64_t file = hash_text(HASH_START, stamps.items[i].file);
        struct supervised_set *s = find_file(v, space, file);
        if (!s || s->stamp != stamps.items[i].stamp)
            s = take_file(v, space, &stamps.items[i], now);
        if (s) {
            s->file = file;
            s->stamp = stamps.items[i].stamp;
            s->listed = true;
        }
    }
    stored_stamps_free(&stamps);
    for (size_t i = v->count; i-- > 0;)
        if (!v->sets[i].listed)
            forget(v, &v->sets[i]);
}

/* Reports the definitions that are ignored because of their owners. Otherwise users would not notice that these
   definitions are ignored. */
static void report_foreign(const char *space)
{
    struct texts foreign;
    if (FAILED(store_list_foreign(space, &foreign)))
        return;
    for (size_t i = 0; i + 1 < foreign.count; i += 2)
        journal_write(JOURNAL_SET_DAMAGED, &(struct journal_facts){.space = space,
                                                                   .name = path_name(foreign.items[i]),
                                                                   .file = foreign.items[i],
                                                                   .error = E_ACCESSDENIED,
                                                                   .reason = foreign.items[i + 1]});
    texts_free(&foreign);
}

/* Scans all sets, or only the sets in the list from store_changes. */
static void supervisor_scan(struct supervisor *v)
{
    int64_t now = clock_utc();
    uint64_t ticks = clock_monotonic_ms();
    bool all = !v->scanned || ticks - v->compared >= COMPARE_MS;
    struct store_mark *mark = v->marks;
    if (all)
        v->compared = ticks;
    for (const char *const *space = store_namespaces(); *space; space++, mark++) {
        struct texts names = {0};
        const struct category *c = category_of(*space);
        if (!c->runs)
            continue;
        struct second_look *left = &v->left[mark - v->marks];
        uint64_t before = mark->left;
        const bool none_before = !*mark->first;
        HRESULT hr = store_changes(*space, mark, &names);
        /* Shipped sets do not change, and without store.changes no run has changed a record yet. A full scan is
           therefore not needed. */
        if (hr == S_FALSE && c->source == DEFINITION_SHIPPED && none_before && !*mark->first)
            hr = S_OK;
        if (mark->left && mark->left != before)
            report_foreign(*space);
        if (mark->left)
            second_look_plan(left, ticks, mark->left != before);
        else
            *left = (struct second_look){0};
        if ((all || hr != S_OK) && c->source == DEFINITION_STORED)
            compare_files(v, *space, now);
        else if ((all || hr != S_OK) && FAILED(definition_list(&caller_self, *space, &names)))
            continue;
        for (size_t i = 0; i < names.count; i++)
            supervisor_read_set(v, *space, names.items[i], NULL, true, now);
        texts_free(&names);
    }
}

/* Reads again each unreadable set whose second look is due. Returns whether a scan must try again to move a file to its
   place. */
static bool scan_again(struct supervisor *v)
{
    uint64_t ticks = clock_monotonic_ms();
    size_t looks = 0;
    bool left = false;
    /* Begins with the last entry, because removing an entry moves the last one to its position. */
    for (size_t i = v->count; i-- > 0 && looks < LOOKS_MOST;) {
        struct supervised_set *s = &v->sets[i];
        if (!s->look.at || s->look.at > ticks)
            continue;
        looks++;
        take_known(v, s, NULL, true, clock_utc());
    }
    for (size_t i = 0; i < SPACES_MAX; i++)
        left = left || (v->left[i].at && v->left[i].at <= ticks);
    return left;
}

/* ---- host processes ---- */

static void plan_again(struct supervised_set *s, uint64_t now)
{
    bool steady = !s->died || now - s->died > STEADY_MS + s->pause_ms;
    s->pause_ms = steady ? FIRST_PAUSE : s->pause_ms * 2 > LAST_PAUSE ? LAST_PAUSE : s->pause_ms * 2;
    s->died = now;
    s->again_at = now + s->pause_ms;
}

/* Reports the lost samples of an interrupted run, because its host process can no longer report the total. */
static void supervised_set_report_losses(const struct supervised_set *s, uint64_t lost)
{
    if (lost)
        journal_write(JOURNAL_SAMPLES_LOST,
                      &(struct journal_facts){
                          .space = s->space, .name = s->name, .count = lost, .reason = "total of the interrupted run"});
}

/* Checks the host process of a set whose record names an active run. */
static void check_host(struct supervised_set *s)
{
    struct run_state state;
    uint64_t now = clock_monotonic_ms();
    if (FAILED(run_query(s->space, s->name, &state)))
        return;
    if (state.phase == PHASE_STOPPED) {
        HRESULT noted = supervised_set_note_death(s->space, s->name);
        if (FAILED(noted))
            return; /* the record cannot be written now; the next check tries again */
        if (FAILED(held_release(s->space, s->name)))
            error_clear(); /* the next host process of the set tries again */
        bool cut_off = s->cut_off;
        const uint64_t lost = s->samples_lost;
        s->running = s->cut_off = false;
        s->samples_lost = 0;
        if (noted == S_FALSE)
            return; /* the run has just ended normally */
        supervised_set_report_losses(s, lost);
        supervised_set_report(s, JOURNAL_STOPPED_BY_ERROR, OPENPLA_E_HOST_DIED,
                              "its host process died before it could close the logs");
        if (s->restart == RESTART_ALWAYS || (s->restart == RESTART_BOOT && cut_off))
            plan_again(s, now);
        if (cut_off && s->again_at)
            s->again_at = now; /* the service has just started: restart without a pause */
        return;
    }
    s->cut_off = false;
    s->samples_lost = state.samples_lost;
    uint32_t start_ms = run_wait_ms(RUN_START_WAIT_MS) + GRACE_MS, stop_ms = run_wait_ms(RUN_STOP_WAIT_MS) + GRACE_MS;
    if (phase_is_overdue(&state, now, start_ms, stop_ms) && run_end_host(s->space, s->name, &state) == S_OK)
        supervised_set_report(s, JOURNAL_STOPPED_BY_ERROR, HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                              "its host process did not answer and was terminated");
    int64_t utc = clock_utc();
    if (s->expiry <= utc && state.started_utc < s->expiry && s->reported_expiry != s->expiry) {
        s->reported_expiry = s->expiry;
        supervised_set_report(s, JOURNAL_EXPIRED, S_OK, NULL);
        run_stop_expired(s->space, s->name);
    }
}

/* ---- the loop ---- */

/* Returns whether the wall clock or the time zone was set since the last check. */
static bool clock_was_set(struct supervisor *v, int64_t now)
{
    uint64_t ticks = clock_monotonic_ms();
    int64_t passed = (now - v->utc) / 10000, meant = (int64_t)(ticks - v->ticks);
    int bias = clock_bias_minutes(now);
    bool set = passed > meant + CLOCK_SET_MS || passed < meant - CLOCK_SET_MS || bias != v->bias;
    v->utc = now;
    v->ticks = ticks;
    v->bias = bias;
    return set;
}

static void supervisor_do_due(struct supervisor *v)
{
    int64_t now = clock_utc();
    bool set = clock_was_set(v, now);
    for (size_t i = 0; i < v->count; i++) {
        struct supervised_set *s = &v->sets[i];
        if (set)
            supervisor_plan_set(s, now);
        if (s->due <= now) {
            s->done = s->due;
            begin_start(v, s, s->due);
            supervisor_plan_set(s, now);
        }
        if (s->running)
            check_host(s);
        else
            s->samples_lost = 0;
        if (s->again_at && s->again_at <= clock_monotonic_ms()) {
            s->again_at = 0;
            supervised_set_report(s, JOURNAL_STARTED_AGAIN, S_OK,
                                  "its run was interrupted, and " SETTING_KEY(Restart) " requests a restart");
            begin_start(v, s, 0);
        }
    }
    v->more_ahead = make_ahead(v, now);
}

/* Returns the milliseconds until `at`, but at most `most`. If `at` is 0, returns `most`. */
static uint32_t time_until(uint64_t at, uint64_t ticks, uint32_t most)
{
    uint64_t left = at > ticks ? at - ticks : 0;
    return at && left < most ? (uint32_t)left : most;
}

/* Returns the milliseconds until something is due, rounded up. Reports to the owner of the supervisor whether there is
   work. */
static uint32_t supervisor_wait_ms(struct supervisor *v)
{
    int64_t now = clock_utc();
    uint64_t ticks = clock_monotonic_ms();
    uint32_t ms = IDLE_MS;
    bool work = atomic_load(&v->starting) != 0, looks = false;
    for (size_t i = 0; i < v->count; i++) {
        const struct supervised_set *s = &v->sets[i];
        int64_t left = s->due <= now ? 0 : (s->due - now) / 10000 + 1;
        work = work || s->due != NEXT_START_NEVER || s->again_at;
        looks = looks || s->due != NEXT_START_NEVER || s->running;
        if (left < ms)
            ms = (uint32_t)left;
        int64_t early = s->due - AHEAD > now ? (s->due - AHEAD - now) / 10000 + 1 : ms;
        if (early < ms)
            ms = (uint32_t)early;
        ms = time_until(s->again_at, ticks, ms);
        ms = time_until(s->look.at, ticks, ms);
        work = work || second_look_is_first(&s->look);
    }
    for (size_t i = 0; i < SPACES_MAX; i++) {
        ms = time_until(v->left[i].at, ticks, ms);
        work = work || second_look_is_first(&v->left[i]);
    }
    if (v->work && work != v->has_work) {
        v->has_work = work;
        v->work(v->user, work);
    }
    return v->more_ahead ? 0 : (looks || work) && ms > LOOK_MS ? LOOK_MS : ms;
}

static void supervisor_run(struct supervisor *v)
{
    uint64_t next_scan = 0;
    bool changed = true;
    while (!atomic_load(&v->end)) {
        uint64_t now = clock_monotonic_ms();
        changed = scan_again(v) || changed || now - v->compared >= COMPARE_MS;
        if (changed && now >= next_scan) {
            supervisor_scan(v);
            changed = false;
            next_scan = clock_monotonic_ms() + SCAN_PAUSE_MS;
        }
        supervisor_do_due(v);
        v->scanned = true;
        uint32_t rest = supervisor_wait_ms(v);
        now = clock_monotonic_ms();
        if (changed && rest > (next_scan > now ? next_scan - now : 0))
            rest = next_scan > now ? (uint32_t)(next_scan - now) : 0;
        HRESULT hr = folder_watch_wait(v->watch, rest);
        if (hr == S_OK || rest == IDLE_MS)
            changed = true;
        if (FAILED(hr))
            return; /* a folder was removed; the caller replaces the watch */
    }
}

static HRESULT watch_store(struct folder_watch **watch)
{
    HRESULT hr = S_OK;
    *watch = NULL;
    for (const char *const *space = store_namespaces(); SUCCEEDED(hr) && *space; space++) {
        if (!category_of(*space)->runs)
            continue;
        char *folder = store_folder(*space);
        hr = folder ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = *watch ? folder_watch_add(*watch, folder) : folder_watch_open(folder, watch);
        memory_free(folder);
    }
    if (FAILED(hr)) {
        folder_watch_close(*watch);
        *watch = NULL;
    }
    return hr;
}

/* Replaces a watch that failed, or creates the first one. */
static HRESULT renew_watch(struct supervisor *v)
{
    struct folder_watch *fresh, *old;
    HRESULT hr = watch_store(&fresh);
    lock_enter(&v->lock);
    old = v->watch;
    v->watch = fresh;
    lock_leave(&v->lock);
    folder_watch_close(old);
    return hr;
}

static void run_supervisor(void *user)
{
    struct supervisor *v = user;
    struct supervisor_lock lock = {0};
    bool ours = false;
    char *data = os_data_folder();
    while (data && !atomic_load(&v->end)) {
        ours = ours || supervisor_lock_try(&lock, data);
        if (ours && SUCCEEDED(renew_watch(v)))
            supervisor_run(v);
        if (!atomic_load(&v->end))
            supervisor_pause(WATCH_PAUSE_MS);
    }
    if (data)
        supervisor_lock_release(&lock, data);
    memory_free(data);
}

HRESULT supervisor_start(void (*work)(void *user, bool any), void *user, struct supervisor **out)
{
    struct supervisor *v = memory_zero(1, sizeof *v);
    *out = NULL;
    if (!v)
        return E_OUTOFMEMORY;
    v->work = work;
    v->user = user;
    HRESULT hr = thread_start(run_supervisor, v, &v->thread);
    if (FAILED(hr)) {
        memory_free(v);
        return hr;
    }
    *out = v;
    return S_OK;
}

void supervisor_stop(struct supervisor *v)
{
    if (!v)
        return;
    atomic_store(&v->end, true);
    lock_enter(&v->lock);
    if (v->watch)
        folder_watch_wake(v->watch);
    lock_leave(&v->lock);
    thread_wait(v->thread, UINT32_MAX);
    thread_close(v->thread);
    while (atomic_load(&v->starting))
        supervisor_pause(20);
    if (v->has_work && v->work)
        v->work(v->user, false);
    for (size_t i = 0; i < v->count; i++)
        supervised_set_free(&v->sets[i]);
    memory_free(v->sets);
    folder_watch_close(v->watch);
    memory_free(v);
}

/* ---- locks, and the file that names the process ---- */

#define PATIENCE_MS 5000 /* a new supervisor registers within milliseconds */
#define RECORD      "supervisor.process"

static const char *const names[2] = {"supervisor.lock", "supervisor-2.lock"};

static bool supervisor_lock_take(struct supervisor_lock *l, const char *data, int which)
{
    char *path = path_join(data, names[which]);
    if (!path || FAILED(file_lock_take(path, 0, &l->locks[which])))
        l->locks[which] = NULL;
    memory_free(path);
    return l->locks[which] != NULL;
}

static void supervisor_lock_drop(struct supervisor_lock *l)
{
    for (int i = 0; i < 2; i++) {
        file_lock_release(l->locks[i]);
        l->locks[i] = NULL;
    }
}

/* Returns whether a registered supervisor is running. */
static bool supervisor_is_registered(const char *data)
{
    char *path = path_join(data, RECORD), *text = NULL, *blank;
    size_t size;
    uint64_t id = 0, start = 0;
    HRESULT hr = path ? file_load(path, 100, &text, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (blank = strchr(text, ' '))) {
        *blank = 0;
        if (!text_to_u64(text, &id) || !text_to_u64(blank + 1, &start) || id > UINT32_MAX)
            id = 0;
    }
    memory_free(text);
    memory_free(path);
    return id && process_alive((uint32_t)id, start);
}

static void supervisor_register(const char *data)
{
    uint32_t id = process_own_id();
    char *path = path_join(data, RECORD);
    char *text = text_format("%u %" PRIu64, (unsigned)id, process_start_time(id));
    struct file *f;
    if (path && text && SUCCEEDED(file_open(path, FILE_REPLACE, &f))) {
        file_write(f, text, strlen(text));
        file_close(f);
    }
    memory_free(text);
    memory_free(path);
}

static void supervisor_lock_report(struct supervisor_lock *l, const char *data)
{
    int which = l->locks[0] != NULL;
    char *path = path_join(data, names[which]);
    const char *reason = l->locks[0] || l->locks[1]
                             ? "a program that does not supervise sets has this file open (OpenPLA continues without "
                               "the file; close that program)"
                             : "programs that do not supervise sets have both this file and supervisor.lock open "
                               "(schedules start no set until these programs are closed)";
    if (!l->reported && path)
        journal_write(JOURNAL_SUPERVISOR_KEPT_OUT, &(struct journal_facts){.file = path, .reason = reason});
    l->reported = true;
    memory_free(path);
}

bool supervisor_lock_try(struct supervisor_lock *l, const char *data)
{
    uint64_t now = clock_monotonic_ms();
    bool late = l->waiting_since && now - l->waiting_since >= PATIENCE_MS;
    bool first = SUCCEEDED(folder_create_protected(data, PROTECTION_DATA)) && supervisor_lock_take(l, data, 0),
         second = (first || late) && supervisor_lock_take(l, data, 1);
    if (first && second) {
        supervisor_register(data);
        return true;
    }
    if (supervisor_is_registered(data)) {
        l->waiting_since = 0;
        supervisor_lock_drop(l);
        return false;
    }
    if (!l->waiting_since)
        l->waiting_since = now ? now : 1;
    if (late)
        supervisor_lock_report(l, data);
    if (late && (first || second)) {
        supervisor_register(data);
        return true;
    }
    supervisor_lock_drop(l);
    return false;
}

void supervisor_lock_release(struct supervisor_lock *l, const char *data)
{
    char *path = l->locks[0] || l->locks[1] ? path_join(data, RECORD) : NULL;
    if (path)
        file_delete(path);
    memory_free(path);
    supervisor_lock_drop(l);
}
