/* SPDX-License-Identifier: MIT */
/* test_etw_directory_kills [KILLS [SEED]]: kills processes at random: during changes of the directory, between changes,
   while they register, and while they send requests. Readers must see each change completely or not at all, the last
   committed change must survive, and living processes must be able to reuse everything that dead processes had. Without
   arguments, there are so few kills that the test takes only seconds. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/directory/directory_layout.h"
#include "tests/unit/own_directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LANES = 3, FILTER = 700, HOST_ANSWERS = 77 };

/* A victim's progress, in memory that survives it. A lane has a pair of sessions; change n creates the pair (n % 4 is
   0), changes it, or removes it (n % 4 is 3). Everything that a change writes contains n. */
struct lane {
    _Atomic uint64_t trying, done;
    _Atomic uint64_t in_change, registered, asked;
};
static struct lane *lanes;
static struct directory *d;
static unsigned kills = 60;
static uint64_t random_state;

static uint64_t random_below(uint64_t most)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % most;
}

static GUID guid_of(uint32_t a, uint32_t b)
{
    return (GUID){a, (uint16_t)b, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
}

static void must(bool so)
{
    if (!so)
        abort();
}

/* Starts a child that ends when this process ends. */
static pid_t start_child(void)
{
    const pid_t pid = fork();
    if (pid == 0)
        must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    return pid;
}

static struct directory_process self(void)
{
    return (struct directory_process){process_own_id(), process_start_time(process_own_id())};
}

/* ---- the victims ---- */

static bool entry_exists(uint64_t n)
{
    return n % 4 != 3;
}

static void change_one(uint32_t lane, uint32_t half, uint64_t n, struct directory_session *s)
{
    uint8_t bytes[FILTER];
    char name[32];
    memset(bytes, (int)(n & 0xFF), sizeof bytes);
    snprintf(name, sizeof name, "lane %u half %u", (unsigned)lane, (unsigned)half);
    s->name = name;
    s->mode = (uint32_t)n;
    s->state = DIRECTORY_RUNNING;
    s->guid = guid_of(lane, half);
    if (n % 4 == 0)
        must(directory_session_add(d, s) == S_OK);
    else
        must(directory_session_set(d, s) == S_OK);
    struct directory_enable e = {
        .provider = guid_of(lane, 10), .logger = s->logger, .generation = s->generation, .any = n};
    e.filter_count = 2;
    e.filter[0] = (struct directory_filter){1, FILTER - half, bytes};
    e.filter[1] = (struct directory_filter){2, (uint32_t)(n % 50), bytes};
    must(directory_enable_set(d, &e) == S_OK);
    if (n % 4 == 2)
        must(directory_enable_capture(d, s->logger, s->generation, &e.provider, &e.provider) == S_OK);
    s->name = NULL;
}

static void change(uint32_t lane, uint64_t n, struct directory_session pair[2])
{
    const GUID provider = guid_of(lane, 10);
    struct lane *l = &lanes[lane];
    l->trying = n;
    must(directory_begin(d) == S_OK);
    l->in_change = 1;
    for (uint32_t half = 0; half < 2; half++) {
        GUID *providers = NULL;
        size_t count;
        if (entry_exists(n))
            change_one(lane, half, n, &pair[half]);
        else
            must(directory_session_remove(d, pair[half].logger, pair[half].generation, &providers, &count) == S_OK &&
                 count == 1);
        memory_free(providers);
    }
    l->in_change = 0; /* may be killed before or after its commit */
    (void)directory_end(d, &provider, 1);
    l->done = n;
}

static _Noreturn void victim(uint32_t lane, uint32_t host_logger, uint32_t host_generation)
{
    struct directory_session pair[2] = {{.logger = 0}, {.logger = 0}};
    const GUID provider = guid_of(lane, 10);
    const struct directory_request flush = {.verb = DIRECTORY_FLUSH, .process = self(), .file = (char *)"file"};
    struct signal *wake;
    must(directory_own_signal(d, &wake) == S_OK);
    for (uint64_t n = 4;; n++) {
        uint32_t registration[5], answer;
        change(lane, n, pair);
        for (int i = 0; i < 5; i++)
            must(directory_register(d, &provider, DIRECTORY_PROVIDER, &registration[i]) == S_OK);
        lanes[lane].registered++;
        for (int i = 1; i < 5; i++)
            directory_unregister(d, registration[i]);
        if (n % 8 == 0) { /* a requester that was killed earlier blocks others only briefly */
            must(directory_ask(d, host_logger, host_generation, &flush, 20000, &answer) == S_OK &&
                 answer == HOST_ANSWERS);
            lanes[lane].asked++;
        }
        directory_unregister(d, registration[0]);
    }
}

static _Noreturn void host(uint32_t logger, const char *signal_name)
{
    struct signal *wake;
    must(signal_open(&(struct shared){.name = signal_name, .create = true}, &wake) == S_OK);
    for (;;) {
        struct directory_request r;
        HRESULT hr = directory_asked(d, logger, &r);
        must(SUCCEEDED(hr));
        if (hr == S_OK) {
            must(r.verb == DIRECTORY_FLUSH && !strcmp(r.file, "file"));
            directory_request_free(&r);
            directory_answer(d, logger, HOST_ANSWERS);
        } else {
            (void)signal_wait(wake, 100);
        }
    }
}

/* ---- the observers ---- */

/* Returns the number of the change that the whole lane shows; 0 if the lane has no sessions. */
static uint64_t check_sessions(uint32_t lane)
{
    struct directory_session *list;
    uint64_t n[2] = {0};
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        unsigned number, half;
        if (sscanf(list[i].name, "lane %u half %u", &number, &half) != 2 || number != lane)
            continue;
        assert_true(half < 2 && n[half] == 0);
        n[half] = list[i].mode;
    }
    directory_sessions_free(list, count);
    assert_true(n[0] == n[1]);
    return n[0];
}

static uint64_t check_enables(uint32_t lane)
{
    const GUID provider = guid_of(lane, 10);
    struct directory_enable *list;
    uint64_t revision, n = 0;
    size_t count;
    assert_int_equal(directory_enables(d, &provider, &list, &count, &revision), S_OK);
    assert_true(count == 0 || count == 2);
    for (size_t i = 0; i < count; i++) {
        const struct directory_enable *e = &list[i];
        n = e->any;
        assert_true(n == list[0].any && e->captures == (n % 4 == 2) && e->filter_count == 2);
        assert_true(e->filter[0].size >= FILTER - 1 && e->filter[1].size == n % 50);
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t at = 0; at < e->filter[k].size; at++)
                assert_int_equal(e->filter[k].data[at], n & 0xFF);
    }
    assert_true(count == 0 || list[0].logger != list[1].logger);
    directory_enables_free(list, count);
    return n;
}

/* Checks that the lane is in an allowed state after its victim's end. */
static void check_lane(uint32_t lane, uint64_t *cut)
{
    const uint64_t trying = lanes[lane].trying, done = lanes[lane].done, n = check_sessions(lane);
    const bool as_done = n == (done && entry_exists(done) ? done : 0),
               as_tried = n == (entry_exists(trying) ? trying : 0);
    assert_int_equal(check_enables(lane), n);
    if (!as_done && !(as_tried && trying == done + 1) && !(as_tried && done == 0))
        fail_msg("lane %u: change %llu is seen, %llu was done, %llu was tried", (unsigned)lane, (unsigned long long)n,
                 (unsigned long long)done, (unsigned long long)trying);
    if (lanes[lane].in_change) { /* the victim was killed before the commit */
        assert_true(as_done);
        ++*cut;
    }
}

static void clear_lane(uint32_t lane)
{
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    assert_int_equal(directory_begin(d), S_OK);
    for (size_t i = 0; i < count; i++) {
        unsigned number, half;
        GUID *providers;
        size_t gone;
        if (sscanf(list[i].name, "lane %u half %u", &number, &half) != 2 || number != lane)
            continue;
        assert_int_equal(directory_session_remove(d, list[i].logger, list[i].generation, &providers, &gone), S_OK);
        assert_int_equal(gone, 1);
        memory_free(providers);
    }
    directory_end(d, NULL, 0);
    directory_sessions_free(list, count);
    memset(&lanes[lane], 0, sizeof lanes[lane]);
}

static struct directory_session start_host(pid_t *pid)
{
    char signal_name[64];
    snprintf(signal_name, sizeof signal_name, "directory-kills-%u", (unsigned)getpid());
    struct directory_session s = {.state = DIRECTORY_RUNNING, .guid = guid_of(1000, 0), .name = (char *)"host"};
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    *pid = start_child();
    if (*pid == 0)
        host(s.logger, signal_name);
    s.host = (struct directory_process){(uint32_t)*pid, process_start_time((uint32_t)*pid)};
    snprintf(s.signal, sizeof s.signal, "%s", signal_name);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_set(d, &s), S_OK);
    directory_end(d, NULL, 0);
    return s;
}

static void kills_during_changes_lose_nothing(void **state)
{
    pid_t pids[LANES] = {0}, host_pid;
    uint64_t ends[LANES], cut = 0, changes = 0, looks = 0, asked = 0, registered = 0;
    const struct directory_session s = start_host(&host_pid);
    unsigned started = 0, running = 0;
    (void)state;
    while (started < kills || running != 0) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (!pids[lane] && started < kills) {
                pids[lane] = start_child();
                if (pids[lane] == 0)
                    victim(lane, s.logger, s.generation);
                ends[lane] = 0;
                started++;
                running++;
            } else if (pids[lane]) {
                (void)check_sessions(lane);
                (void)check_enables(lane);
                looks++;
                if (ends[lane] == 0 && lanes[lane].asked != 0) /* the victim did each action at least once */
                    ends[lane] = clock_monotonic_ms() + random_below(20);
                if (ends[lane] == 0 || clock_monotonic_ms() < ends[lane])
                    continue;
                int status;
                kill(pids[lane], SIGKILL);
                waitpid(pids[lane], &status, 0);
                assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* killed, not aborted */
                check_lane(lane, &cut);
                changes += lanes[lane].done ? lanes[lane].done - 3 : 0;
                asked += lanes[lane].asked;
                registered += lanes[lane].registered;
                clear_lane(lane);
                pids[lane] = 0;
                running--;
            }
        }
        directory_session_reaped(d, s.logger, clock_monotonic_ms());
    }
    print_message("%u killed, %llu of them inside a change, after %llu changes, %llu times 5 registrations and %llu "
                  "requests; checked %llu times\n",
                  kills, (unsigned long long)cut, (unsigned long long)changes, (unsigned long long)registered,
                  (unsigned long long)asked, (unsigned long long)looks);
    assert_true(cut > 0 && asked > 0 && registered > 0);
    struct directory_registration *list;
    size_t count;
    assert_int_equal(directory_registrations(d, &list, &count), S_OK);
    assert_int_equal(count, 0);
    memory_free(list);
    const struct directory_request flush = {.verb = DIRECTORY_FLUSH, .process = self(), .file = (char *)"file"};
    uint32_t answer;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(directory_ask(d, s.logger, s.generation, &flush, 20000, &answer), S_OK);
        assert_int_equal(answer, HOST_ANSWERS);
    }
    kill(host_pid, SIGKILL);
    waitpid(host_pid, NULL, 0);
    assert_int_equal(directory_ask(d, s.logger, s.generation, &flush, 20000, &answer), E_ABORT);
}

/* A living process can register as much as if the dead processes had registered nothing. */
static void everything_of_dead_processes_is_freed(void **state)
{
    const GUID provider = guid_of(5, 5);
    int status;
    (void)state;
    const pid_t pid = start_child();
    if (pid == 0) {
        uint32_t registration;
        for (uint32_t i = 0; i < DIRECTORY_REGISTRATIONS; i++)
            must(directory_register(d, &provider, DIRECTORY_PROVIDER, &registration) == S_OK);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

/* Removes the names of the signals that killed processes left. */
static void remove_signals(const char *name)
{
    char *path = NULL;
    DIR *folder = section_folder(&path) == S_OK ? opendir(path) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (!strncmp(e->d_name, name, strlen(name)))
            unlinkat(dirfd(folder), e->d_name, 0);
    if (folder)
        closedir(folder);
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_during_changes_lose_nothing),
        cmocka_unit_test(everything_of_dead_processes_is_freed),
    };
    if (count > 1)
        kills = (unsigned)strtoul(arguments[1], NULL, 10);
    random_state = count > 2 ? strtoull(arguments[2], NULL, 10) | 1 : 88172645463325252u;
    lanes = mmap(NULL, LANES * sizeof *lanes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lanes == MAP_FAILED)
        return 1;
    own_directory_name();
    d = own_directory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    remove_signals(d->name);
    return failed;
}
