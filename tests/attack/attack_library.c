/* SPDX-License-Identifier: MIT */
/* An attacker who controls the folder in which one of our programs starts, or who plants a library there before an
   administrator starts a program, must not get his code executed. */
#include "engine/base/os.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#include <windows.h>

static char *folder, *bin;

/* Library names of the system, of OpenPLA, of a C library and of a driver, and one name that does not exist. */
static const char *const names[] = {"version.dll", "pdh.dll",     "xmllite.dll", "tdh.dll",     "odbc32.dll",
                                    "wevtapi.dll", "openpdh.dll", "openetw.dll", "openpla.dll", "rsaenh.dll",
                                    "bcrypt.dll",  "dbghelp.dll", "nobodys.dll"};
enum { NAMES = sizeof names / sizeof *names };

static char *marker(const char *name)
{
    return text_format("%s\\%s.ran", folder, name);
}

static unsigned count_ran(void)
{
    unsigned ran = 0;
    for (size_t i = 0; i < NAMES; i++) {
        char *path = marker(names[i]);
        if (file_exists(path)) {
            ran++;
            print_message("%s ran\n", names[i]);
            assert_int_equal(file_delete(path), S_OK);
        }
        memory_free(path);
    }
    return ran;
}

static int plant(void **state)
{
    char *library, *code;
    size_t size;
    (void)state;
    bin = os_module_folder();
    char *scratch = scratch_create("attack_library");
    folder = os_full_path(scratch);
    memory_free(scratch);
    library = path_join(bin, "planted_library.dll");
    assert_int_equal(file_load(library, 16 << 20, &code, &size), S_OK);
    for (size_t i = 0; i < NAMES; i++) {
        char *path = path_join(folder, names[i]);
        assert_int_equal(file_store(path, code, size), S_OK);
        memory_free(path);
    }
    memory_free(code);
    memory_free(library);
    return 0;
}

static int remove_planted(void **state)
{
    (void)state;
    scratch_remove(folder);
    memory_free(folder);
    memory_free(bin);
    return 0;
}

/* Runs a program of bin in the attacker's folder and returns its exit code. */
static uint32_t run_in_attacker_folder(const char *program, const char *const *arguments, size_t count)
{
    struct process *p;
    uint32_t code = 0;
    char *path = path_join(bin, program);
    assert_int_equal(
        process_start(
            &(struct program){.path = path, .arguments = arguments, .argument_count = count, .directory = folder}, &p),
        S_OK);
    assert_int_equal(process_wait(p, PATIENCE_MS, &code), S_OK);
    process_close(p);
    memory_free(path);
    return code;
}

/* Checks that the attack works: a careless program runs the planted code. */
static void careless_program_runs_planted_library(void **state)
{
    (void)state;
    assert_int_equal(run_in_attacker_folder("attack_library.exe", (const char *const[]){"careless"}, 1), 0);
    assert_int_equal(count_ran(), 1);
}

static void our_program_does_not_run_planted_library(void **state)
{
    (void)state;
    assert_int_equal(run_in_attacker_folder("attack_library.exe", (const char *const[]){"careful"}, 1),
                     ERROR_MOD_NOT_FOUND);
    assert_int_equal(count_ran(), 0);
}

/* Runs every shipped program with the actions that make it load libraries. */
static void no_shipped_program_runs_planted_library(void **state)
{
    static const struct {
        const char *program, *arguments[6];
    } runs[] = {
        {"openpla.exe", {"typeperf", "-sc", "1", "\\Memory\\Available MBytes"}},
        {"openpla.exe", {"logstat", "SQL:nowhere!log"}},
        {"openpla.exe", {"events"}},
        {"openpla.exe", {"task", "list"}},
        {"openplasrv.exe", {"/?"}},
        {"openplahost.exe", {"Service", "nothing", "00000000000000000000000000000000"}},
        {"openetwhost.exe", {"1", "1", "00000000000000000000000000000000"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        size_t count = 0;
        while (runs[i].arguments[count])
            count++;
        run_in_attacker_folder(runs[i].program, runs[i].arguments, count);
        if (count_ran())
            fail_msg("%s %s ran what was planted", runs[i].program, runs[i].arguments[0]);
    }
}

static int load(bool careful)
{
    if (careful)
        libraries_restrict();
    return LoadLibraryW(L"nobodys.dll") ? 0 : (int)GetLastError();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(careless_program_runs_planted_library),
                                              cmocka_unit_test(our_program_does_not_run_planted_library),
                                              cmocka_unit_test(no_shipped_program_runs_planted_library)};
    if (argc == 2)
        return load(!strcmp(argv[1], "careful"));
    scratch_environment("OPENPLA_DATA", "attack_library.data");
    return cmocka_run_group_tests(tests, plant, remove_planted);
}
