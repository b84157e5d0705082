/* SPDX-License-Identifier: MIT */
/* Who may open what is shared, and whom a process runs as. Natively there is neither: that is said, not passed over. */
#include "tests/unit/child_process.h"

#ifdef _WIN32
#include "engine/os/win32/process_handle.h"

#include <sddl.h>

/* Rights that no other test's default would have by chance: all but to delete, for SYSTEM and administrators. */
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
    char *copy = text_copy(text + strcspn(text, "(")); /* some hosts lose the flag P */
    LocalFree(text);
    return copy;
}

/* What the system says of the handle's object is what was asked for. */
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

/* A run's section can be opened by those alone whom its set's descriptor names. */
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

/* What lets everybody in, or says nothing, is not taken for a descriptor. */
static void no_descriptor_is_refused(void **state)
{
    static const char *const none[] = {"nonsense", "",
                                       "O:BA"}; /* Wine takes D:NO_ACCESS_CONTROL for a DACL that lets nobody in */
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

/* A host of a set with credentials runs under their token, and its process is not everybody's to end. */
static void process_has_its_descriptor_and_account(void **state)
{
    const char *const arguments[] = {"end"};
    struct account account = {.name = "this one"};
    struct program program = {child_program, arguments, 1, PROCESS_SDDL, &account};
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

/* Nothing runs as another account because nobody could give its token. */
static void no_token_no_process(void **state)
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
        cmocka_unit_test(section_has_its_descriptor), cmocka_unit_test(signal_has_its_descriptor),
        cmocka_unit_test(no_descriptor_is_refused),   cmocka_unit_test(process_has_its_descriptor_and_account),
#endif
        cmocka_unit_test(no_token_no_process),
    };
    child_program = argv[0];
    if (argc > 1)
        return 42;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
