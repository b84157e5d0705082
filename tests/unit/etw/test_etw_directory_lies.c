/* SPDX-License-Identifier: MIT */
/* Another process writes arbitrary data into the directory. The directory's users access no memory outside it, finish,
   and return only checked data. Arguments: rounds, seed. */
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/directory/directory_layout.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct directory *d;
static struct directory_shared *shared, *planted;
static unsigned rounds = 300;
static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A number near a limit. */
static uint64_t odd_number(void)
{
    static const uint64_t numbers[] = {0,         1,          2,     64,         65,       0xFFF,
                                       0x1000,    0x2000,     16384, 0x7FFFFFFF, 1u << 31, UINT32_MAX,
                                       INT64_MAX, UINT64_MAX, 1025,  3072,       3073,     (uint64_t)1 << 63};
    const uint64_t r = random_number();
    return r % 3 == 0 ? r : numbers[r / 3 % (sizeof numbers / sizeof *numbers)] + (r >> 60) % 3 - 1;
}

static void scribble(void *at, size_t bytes, unsigned words)
{
    _Atomic uint64_t *word = at;
    for (unsigned i = 0; i < words; i++)
        atomic_store(&word[random_number() % (bytes / 8)], odd_number());
}

static void scribble_anywhere(void)
{
    scribble(&shared->revision, 384, 2);
    scribble(shared->generation, sizeof shared->generation, 4);
    scribble(shared->reaped, sizeof shared->reaped, 4);
    scribble(shared->mailbox, sizeof shared->mailbox, 2000);
    scribble(shared->slot, 16 * sizeof *shared->slot, 20);
    scribble(shared->registration, 64 * sizeof *shared->registration, 60);
    scribble(shared->session, 8 * sizeof *shared->session, 500);
    scribble(shared->enable, 64 * sizeof *shared->enable, 200);
    scribble(shared->arena, 4096, 100);
    scribble(shared->name, 8 * sizeof *shared->name, 100);
    atomic_store(&shared->names_given, odd_number());
    /* Records that look valid, with strings and filters of any length. */
    for (uint32_t i = 0; i < 4; i++) {
        struct session_record *s = &shared->session[i][random_number() % 2];
        struct session_payload *p = (void *)s->words;
        atomic_store(&s->span.from, 2);
        atomic_store(&s->span.until, 0);
        p->logger = i + 1;
        p->generation = 1;
        p->state = 1 + (uint32_t)random_number() % 4;
        p->name_bytes = (uint32_t)odd_number();
        p->file_bytes = (uint32_t)odd_number();
        memset(p->name, (int)(random_number() % 3) * 70, random_number() % sizeof p->name);
        memset(p->signal, (int)(random_number() % 128), sizeof p->signal);
        memset(p->section, "/.\\x"[random_number() % 4], sizeof p->section);
        struct enable_record *e = &shared->enable[i];
        struct enable_payload *q = (void *)e->words;
        atomic_store(&e->span.from, 2);
        atomic_store(&e->span.until, 0);
        q->logger = i + 1;
        q->generation = 1;
        q->filter_count = (uint16_t)odd_number();
        q->filter_at = (uint32_t)odd_number();
        q->filter_bytes = (uint32_t)odd_number();
    }
    atomic_store(&shared->enables_used, 64 + odd_number() % 5000);
    atomic_store(&shared->registrations_used, 64 + odd_number() % 500);
    atomic_store(&shared->slots_used, odd_number() % 5000);
}

static void use(uint8_t *sum, size_t bytes, const void *data)
{
    for (size_t i = 0; i < bytes; i++)
        *sum ^= ((const uint8_t *)data)[i];
}

static void read_all(void)
{
    struct directory_session *sessions, one;
    struct directory_enable *enables;
    struct directory_registration *registrations;
    struct directory_provider_name *names;
    struct directory_request request;
    struct directory_process process;
    uint64_t revision;
    uint8_t sum = 0;
    size_t count;
    if (SUCCEEDED(directory_sessions(d, &sessions, &count))) {
        assert_in_range(count, 0, DIRECTORY_SESSIONS);
        for (size_t i = 0; i < count; i++) {
            const struct directory_session *s = &sessions[i];
            const char *name = s->name ? s->name : "";
            assert_true(s->logger >= 1 && s->logger <= DIRECTORY_SESSIONS && *name);
            assert_true(text_is_utf8(name, strlen(name)));
            assert_null(strpbrk(s->signal, "/\\"));
            assert_null(strpbrk(s->section, "/\\"));
        }
        directory_sessions_free(sessions, count);
    }
    for (uint32_t logger = 0; logger < 6; logger++) {
        if (directory_session_at(d, logger, 1, &one) == S_OK)
            directory_session_free(&one);
        if (logger != 0 && directory_asked(d, logger, &request) == S_OK) {
            assert_in_range(request.verb, DIRECTORY_STOP, DIRECTORY_DISCONNECT);
            use(&sum, request.file ? strlen(request.file) : 0, request.file);
            directory_request_free(&request);
            directory_answer(d, logger, 0);
        }
    }
    if (SUCCEEDED(directory_enables(d, NULL, &enables, &count, &revision))) {
        for (size_t i = 0; i < count; i++) {
            assert_in_range(enables[i].filter_count, 0, DIRECTORY_FILTERS);
            for (uint32_t k = 0; k < enables[i].filter_count; k++)
                use(&sum, enables[i].filter[k].size, enables[i].filter[k].data);
        }
        directory_enables_free(enables, count);
    }
    if (SUCCEEDED(directory_registrations(d, &registrations, &count)))
        memory_free(registrations);
    if (SUCCEEDED(directory_provider_names(d, &names, &count))) {
        assert_in_range(count, 0, DIRECTORY_PROVIDER_NAMES);
        for (size_t i = 0; i < count; i++)
            assert_true(text_is_utf8(names[i].name, strlen(names[i].name)));
        memory_free(names);
    }
    directory_name_provider(d, &(GUID){(uint32_t)random_number() % 5, 0, 0, {0}}, "some provider");
    for (uint32_t slot = 0; slot < 20; slot++)
        if (directory_process_of(d, slot, &process))
            (void)directory_alive(d, slot, slot);
}

static void change_all(void)
{
    const GUID provider = {7, 7, 7, {7}};
    struct directory_session s = {
        .state = DIRECTORY_RUNNING, .guid = provider, .name = (char *)"new", .file = (char *)"new.etl"};
    uint8_t bytes[100] = {0};
    GUID *providers;
    size_t count;
    uint32_t registration, answer;
    directory_session_reaped(d, (uint32_t)odd_number(), odd_number());
    assert_int_equal(directory_begin(d), S_OK);
    (void)directory_session_add(d, &s);
    struct directory_enable e = {
        .provider = provider, .logger = s.logger, .generation = s.generation, .filter_count = 1};
    e.filter[0] = (struct directory_filter){1, sizeof bytes, bytes};
    (void)directory_enable_set(d, &e);
    (void)directory_enable_capture(d, s.logger, s.generation, &provider, &provider);
    (void)directory_session_set(d, &s);
    for (uint32_t logger = 1; logger < 5; logger++)
        if (SUCCEEDED(directory_session_remove(d, logger, 0, &providers, &count)))
            memory_free(providers);
    directory_end(d, &provider, 1);
    if (SUCCEEDED(directory_register(d, &provider, DIRECTORY_CLASSIC, &registration)))
        directory_unregister(d, registration);
    (void)directory_wait_applied(d, &provider, odd_number(), 0);
    const struct directory_request r = {.verb = DIRECTORY_STOP, .file = (char *)"file"};
    (void)directory_ask(d, 1 + (uint32_t)random_number() % 4, 0, &r, 0, &answer);
}

static void all_accesses_stay_inside_the_section(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds; i++) {
        scribble_anywhere();
        read_all();
        scribble_anywhere();
        change_all();
        read_all();
    }
}

static atomic_bool over;

static void scribble_on(void *user)
{
    uint64_t x = 77;
    (void)user;
    while (!over) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const size_t from = offsetof(struct directory_shared, revision) / 8,
                     words = offsetof(struct directory_shared, tail) / 8 - from;
        _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)shared;
        /* Usually a word where the directory has data. */
        atomic_store(&word[from + (x >> 33) % (x >> 20 & 1 ? words : 4096)], x >> 7 & 1 ? x : x >> 40);
    }
}

/* Readers use the same copies of values that they checked. */
static void readers_stay_inside_during_changes(void **state)
{
    struct thread *t;
    (void)state;
    assert_int_equal(thread_start(scribble_on, NULL, &t), S_OK);
    for (unsigned i = 0; i < rounds / 3; i++) {
        scribble_anywhere();
        read_all();
    }
    over = true;
    assert_true(thread_wait(t, PATIENCE_MS));
    thread_close(t);
}

_Static_assert(sizeof(struct directory_shared) < 17u << 19, "it takes so much memory of each account that traces");

static void begin_and_cancel(void)
{
    assert_int_equal(directory_begin(d), S_OK);
    directory_cancel(d);
}

static size_t sessions(void)
{
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    directory_sessions_free(list, count);
    return count;
}

static void add_session(struct directory_session *out)
{
    *out = (struct directory_session){
        .state = DIRECTORY_RUNNING, .name = (char *)"guarded", .file = (char *)"guarded.etl"};
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, out), S_OK);
    (void)directory_end(d, NULL, 0);
    assert_int_equal(sessions(), 1);
}

/* A file of another type has the directory's name: tracing works nevertheless, and doctor can report why the directory
   is empty. */
static void foreign_file_is_reset(void **state)
{
    const HRESULT corrupt = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    uint32_t slot;
    (void)state;
    memset(planted, 77, sizeof *planted);
    assert_int_equal(directory_check(), corrupt);
    assert_non_null(strstr(error_text(corrupt), "openetw"));
    assert_int_equal(directory_get(&d), S_OK);
    assert_int_equal(directory_check(), S_OK);
    shared = d->shared;
    assert_int_equal(sessions(), 0);
    assert_int_equal(directory_join(d, &slot), S_OK);
}

/* An overwritten word ends no session. A truncated file ends all sessions; each ETW session host reports that. */
static void corrupt_directory_is_repaired_in_use(void **state)
{
    struct directory_session before, after;
    const uint64_t born = directory_born(d);
    const uint32_t generation = d->slot_generation;
    uint32_t slot, registration;
    (void)state;
    add_session(&before);
    atomic_store(&shared->magic, 77);
    begin_and_cancel();
    atomic_store(&shared->size, 4096);
    begin_and_cancel();
    assert_int_equal(directory_check(), S_OK);
    assert_int_equal(sessions(), 1);
    assert_true(directory_born(d) == born);

    const uint64_t revision = directory_revision(d);
    struct directory *same;
    memset((char *)shared + 4096, 0, sizeof *shared - 4096);
    assert_int_equal(directory_check(), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(directory_get(&same), S_OK); /* listing sessions is not a change */
    assert_true(same == d);
    assert_int_equal(directory_check(), S_OK);
    assert_int_equal(sessions(), 0);
    assert_true(directory_born(d) > born && directory_revision(d) > revision);
    add_session(&after);
    assert_true(after.logger == before.logger && after.generation != before.generation);
    assert_int_equal(directory_register(d, &before.guid, DIRECTORY_PROVIDER, &registration), S_OK);
    struct directory_registration *list;
    size_t count;
    assert_int_equal(directory_registrations(d, &list, &count), S_OK);
    assert_int_equal(count, 1);
    memory_free(list);
    assert_int_equal(directory_join(d, &slot), S_OK);
    assert_true(d->slot_born == directory_born(d) && d->slot_generation != generation);
    assert_true(directory_alive(d, slot, 0));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_file_is_reset),
        cmocka_unit_test(corrupt_directory_is_repaired_in_use),
        cmocka_unit_test(all_accesses_stay_inside_the_section),
        cmocka_unit_test(readers_stay_inside_during_changes),
    };
    if (count > 1)
        rounds = (unsigned)strtoul(arguments[1], NULL, 10);
    random_state = count > 2 ? strtoull(arguments[2], NULL, 10) | 1 : 88172645463325252u;
    own_directory_name();
    char *name = text_format("openetw%u-%s", (unsigned)DIRECTORY_LAYOUT, getenv("OPENPLA_ETW"));
    struct section *section;
    if (FAILED(
            section_open(&(struct shared){.name = name, .create = true, .lasting = true}, sizeof *planted, &section)))
        return 1;
    planted = section_memory(section);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)section_delete(name);
    if (d)
        directory_delete(d);
    section_close(section);
    memory_free(name);
    return failed;
}
