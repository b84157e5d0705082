/* SPDX-License-Identifier: MIT */
/* Access rights of shared objects, and the account of a process. Native builds have neither, and the calls report
   that. */
#include "tests/unit/child_process.h"

#ifdef _WIN32
#include "engine/base/file.h"
#include "engine/base/win32/win32_call.h"

#include <sddl.h>

/* No default descriptor grants exactly these rights: SYSTEM and administrators have every right except delete. */
#define EVENT_SDDL   "D:P(A;;0x1e0003;;;SY)(A;;0x1e0003;;;BA)"
#define SECTION_SDDL "D:P(A;;0xe001f;;;SY)(A;;0xe001f;;;BA)"
#define PROCESS_SDDL "D:P(A;;0x1effff;;;SY)(A;;0x1effff;;;BA)"

static char *shared_name(const char *what)
{
    return text_format("openpla-test-%u-%s", (unsigned)process_own_id(), what);
}

static char *dacl_text(PSECURITY_DESCRIPTOR descriptor)
{
    char *text;
    assert_true(ConvertSecurityDescriptorToStringSecurityDescriptorA(descriptor, SDDL_REVISION_1,
                                                                     DACL_SECURITY_INFORMATION, &text, NULL));
    char *copy = text_copy(text + strcspn(text, "(")); /* some host OSes lose the flag P */
    LocalFree(text);
    return copy;
}

/* Asserts that the handle's object has the requested descriptor. */
static void assert_dacl(HANDLE handle, const char *sddl)
{
    PSECURITY_DESCRIPTOR asked;
    char room[4096];
    DWORD size;
    assert_non_null(handle);
    assert_true(GetKernelObjectSecurity(handle, DACL_SECURITY_INFORMATION, room, sizeof room, &size));
    assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorA(sddl, SDDL_REVISION_1, &asked, NULL));
    char *expected = dacl_text(asked);
    char *got = dacl_text(room);
    assert_string_equal(got, expected);
    LocalFree(asked);
    memory_free(expected);
    memory_free(got);
}

static HANDLE open_name(bool event, const char *name)
{
    for (int i = 0; i < 2; i++) {
        char *path = text_format("%s\\%s%s", i ? "Local" : "Global", name, event ? ".event" : "");
        HANDLE handle = event ? OpenEventA(READ_CONTROL, FALSE, path) : OpenFileMappingA(READ_CONTROL, FALSE, path);
        memory_free(path);
        if (handle)
            return handle;
    }
    return NULL;
}

/* Only the accounts in a set's descriptor can open its run's section. */
static void section_has_its_descriptor(void **state)
{
    char *name = shared_name("described-section");
    struct section *s;
    (void)state;
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true, .security = SECTION_SDDL}, 4096, &s),
                     S_OK);
    HANDLE handle = open_name(false, name);
    assert_dacl(handle, SECTION_SDDL);
    CloseHandle(handle);
    section_close(s);
    memory_free(name);
}

/* Most objects are created without an explicit descriptor. They are accessible to this account, SYSTEM and
   administrators. */
static void default_descriptor_is_for_own_account(void **state)
{
    char *name = shared_name("own"), *sddl = protection_sddl(PROTECTION_OBJECT);
    struct section *s;
    struct signal *e;
    (void)state;
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, 4096, &s), S_OK);
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &e), S_OK);
    for (int event = 0; event < 2; event++) {
        char room[4096];
        DWORD size;
        HANDLE handle = open_name(event, name);
        assert_non_null(handle);
        assert_true(GetKernelObjectSecurity(handle, DACL_SECURITY_INFORMATION, room, sizeof room, &size));
        char *dacl = dacl_text(room), *own = process_own_sid();
        unsigned entries = 0;
        for (const char *c = dacl; *c; c++)
            entries += *c == '(';
        if (entries != 3 || !strstr(dacl, ";SY)") || !strstr(dacl, ";BA)") || !strstr(dacl, own))
            fail_msg("%s, not %s", dacl, sddl);
        memory_free(own);
        memory_free(dacl);
        CloseHandle(handle);
    }
    section_close(s);
    signal_close(e);
    memory_free(sddl);
    memory_free(name);
}

static void signal_has_its_descriptor(void **state)
{
    char *name = shared_name("described-signal");
    struct signal *e;
    (void)state;
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true, .security = EVENT_SDDL}, &e), S_OK);
    HANDLE handle = open_name(true, name);
    assert_dacl(handle, EVENT_SDDL);
    CloseHandle(handle);
    signal_close(e);
    memory_free(name);
}

/* An object that another account created under the name of our section or signal is rejected. */
static void object_of_another_account_is_rejected(void **state)
{
    char *name = shared_name("owned");
    struct section *s, *second;
    struct signal *e, *other;
    char *owner;
    (void)state;
    assert_int_equal(
        section_open(&(struct shared){.name = name, .create = true, .security = "O:BAG:BA" SECTION_SDDL}, 4096, &s),
        S_OK);
    assert_int_equal(section_owner(s, &owner), S_OK);
    assert_string_equal(owner, "S-1-5-32-544");
    assert_int_equal(section_open(&(struct shared){.name = name, .owner = owner}, 4096, &second), S_OK);
    section_close(second);
    assert_int_equal(section_open(&(struct shared){.name = name, .owner = "S-1-5-18"}, 4096, &second), E_ACCESSDENIED);
    assert_null(second);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "S-1-5-32-544"));
    section_close(s);
    memory_free(owner);
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true, .security = "O:BAG:BA" EVENT_SDDL}, &e),
                     S_OK);
    assert_int_equal(signal_open(&(struct shared){.name = name, .owner = "S-1-5-18"}, &other), E_ACCESSDENIED);
    assert_null(other);
    signal_close(e);
    memory_free(name);
}

/* The start time is compared even if we cannot open the process. If it were not, such a process would be taken for a
   host process that exited long ago and had the same id. */
static void inaccessible_process_is_known_by_start_time(void **state)
{
    const char *const arguments[] = {"stay"};
    struct process *p;
    FILETIME created, other[3];
    (void)state;
    assert_int_equal(process_start(&(struct program){.path = child_program,
                                                     .arguments = arguments,
                                                     .argument_count = 1,
                                                     .security = "D:P(A;;0x100000;;;BA)"},
                                   &p),
                     S_OK);
    uint32_t id = process_id(p);
    assert_int_equal(process_start_time(id), 0); /* we cannot query it */
    assert_true(GetProcessTimes(process_handle(p), &created, &other[0], &other[1], &other[2]));
    uint64_t start = (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
    assert_true(process_alive(id, start));
    assert_false(process_alive(id, start + 1));
    assert_false(process_alive(id, 0));
    TerminateProcess(process_handle(p), 0);
    process_wait(p, CHILD_PATIENCE, NULL);
    process_close(p);
}

/* A descriptor that grants everyone access, or grants nothing, is rejected. */
static void empty_descriptors_are_rejected(void **state)
{
    static const char *const none[] = {"nonsense", "", "O:BA"}; /* Wine reads D:NO_ACCESS_CONTROL as a DACL that grants
                                                                   access to nobody */
    char *name = shared_name("refused");
    struct section *s;
    struct signal *e;
    struct process *p;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(section_open(&(struct shared){.name = name, .create = true, .security = none[i]}, 4096, &s),
                         E_INVALIDARG);
        assert_null(s);
        assert_non_null(strstr(error_text(E_INVALIDARG), none[i]));
        assert_int_equal(signal_open(&(struct shared){.name = name, .create = true, .security = none[i]}, &e),
                         E_INVALIDARG);
        assert_null(e);
        assert_int_equal(process_start(&(struct program){.path = child_program, .security = none[i]}, &p),
                         E_INVALIDARG);
        assert_null(p);
    }
    assert_null(open_name(false, name));
    memory_free(name);
}

/* The host process of a set with credentials runs under their token, and not every account can end it. */
static void process_has_its_descriptor_and_account(void **state)
{
    const char *const arguments[] = {"end"};
    struct account account = {.name = "this one"};
    struct program program = {.path = child_program,
                              .arguments = arguments,
                              .argument_count = 1,
                              .security = PROCESS_SDDL,
                              .account = &account};
    struct process *p;
    HANDLE token;
    uint32_t code = 0;
    (void)state;
    assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &token));
    assert_true(DuplicateTokenEx(token, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenPrimary, &account.token));
    assert_int_equal(process_start(&program, &p), S_OK);
    assert_dacl(process_handle(p), PROCESS_SDDL);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 42);
    process_close(p);
    CloseHandle(account.token);
    CloseHandle(token);
}
#endif

/* Without a token for the other account, no process is started. */
static void process_is_not_started_without_token(void **state)
{
    const struct account other = {.name = "domain\\other"};
    struct process *p;
    (void)state;
    assert_int_equal(process_start(&(struct program){.path = child_program, .account = &other}, &p),
                     PLA_E_CREDENTIALS_REQUIRED);
    assert_null(p);
    assert_non_null(strstr(error_text(PLA_E_CREDENTIALS_REQUIRED), "domain\\other"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#ifdef _WIN32
        cmocka_unit_test(default_descriptor_is_for_own_account),
        cmocka_unit_test(section_has_its_descriptor),
        cmocka_unit_test(signal_has_its_descriptor),
        cmocka_unit_test(object_of_another_account_is_rejected),
        cmocka_unit_test(inaccessible_process_is_known_by_start_time),
        cmocka_unit_test(empty_descriptors_are_rejected),
        cmocka_unit_test(process_has_its_descriptor_and_account),
#endif
        cmocka_unit_test(process_is_not_started_without_token),
    };
    child_program = argv[0];
    if (argc > 1 && !strcmp(argv[1], "stay"))
        child_sleep(CHILD_PATIENCE);
    if (argc > 1)
        return 42;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
