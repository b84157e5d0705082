/* SPDX-License-Identifier: MIT */
/* Access checks by security descriptor. If an entry were evaluated differently than on Windows, a user could change or
   stop another user's sets. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "tests/unit/callers.h"

#include <string.h>

static const struct access_rights file_rights = {0x120089, 0x120116, 0x1200A0, 0x1F01FF};

#define ALL  0x1F01FFu
#define READ 0x120089u
#define RUN  0x1200A0u
#define OWN  0x60000u /* READ_CONTROL and WRITE_DAC */

static uint32_t granted_to(const struct caller *caller, const char *descriptor)
{
    struct access_subject *subject;
    uint32_t granted = 0;
    assert_int_equal(access_open(caller, &subject), S_OK);
    for (unsigned bit = 0; bit < 21; bit++) {
        bool allowed = true;
        if (!(ALL >> bit & 1))
            continue;
        assert_int_equal(access_allows(subject, descriptor, &file_rights, 1u << bit, &allowed), S_OK);
        granted |= (uint32_t)allowed << bit;
    }
    access_close(subject);
    return granted;
}

static void entries_are_evaluated_in_order(void **state)
{
    /* Wine ignores a group that is enabled only for deny entries. */
    const uint32_t switched_off = os_is_wine() ? READ : 0;
    const struct {
        const char *descriptor;
        uint32_t administrator, user;
    } rows[] = {
        {"D:(A;;FA;;;BA)(A;;FR;;;WD)", ALL, READ},
        {"D:(A;;0x1200a9;;;WD)", READ | RUN, READ | RUN},
        {"D:(A;;GR;;;WD)", READ, READ},
        {"D:(A;;GRGX;;;WD)(A;;GA;;;BA)", ALL, READ | RUN},
        {"D:", 0, 0},
        {"D:PAI", 0, 0},
        /* A deny entry applies to the entries after it, not to those before it. */
        {"D:(D;;FR;;;WD)(A;;FA;;;WD)", ALL & ~READ, ALL & ~READ},
        {"D:(A;;FA;;;WD)(D;;FR;;;WD)", ALL, ALL},
        {"D:(A;;FR;;;WD)(D;;FA;;;WD)(A;;FA;;;WD)", READ, READ},
        /* A disabled group grants nothing, but its deny entries still apply. */
        {"D:(D;;FA;;;BA)(A;;FR;;;WD)", 0, switched_off},
        {"D:(A;;FR;;;WD)(D;;FA;;;BA)", READ, READ},
        /* Inherit-only, object and conditional entries grant nothing. Deny entries always apply. */
        {"D:(A;IO;FA;;;WD)(A;;FR;;;WD)", READ, READ},
        {"D:(OA;;FA;bf967aba-0de6-11d0-a285-00aa003049e2;;WD)", 0, 0},
        {"D:(OA;;FR;;;WD)", READ, READ},
        {"D:(XA;;FA;;;WD;(1==1))(A;;FR;;;WD)", READ, READ},
        {"D:(XD;;FR;;;WD;(1==2))(A;;FA;;;WD)", ALL & ~READ, ALL & ~READ},
        /* SIDs of other machines and domains are valid, but match no account of this computer. */
        {"O:S-1-5-21-7-7-7-500D:(A;;FA;;;S-1-5-21-7-7-7-1001)(A;;FR;;;WD)", READ, READ},
        {"D:(D;;FA;;;S-1-5-21-7-7-7-1001)(A;;FR;;;WD)", READ, READ},
        {"D:(A;;FA;;;EA)(A;;FR;;;WD)", READ, READ},
        /* A malformed descriptor grants nothing. */
        {"D:NO_ACCESS_CONTROL", 0, 0},
        {"O:BAG:BA", 0, 0},
        {"", 0, 0},
        {"nonsense", 0, 0},
        {"D:(A;;FA;;;WD)(A;;XX;;;WD)", 0, 0},
        /* Rights that do not exist for files. */
        {"D:(A;;0xFFFFFFFF;;;WD)", ALL, ALL},
        {"D:(A;;0x01000200;;;WD)", 0, 0},
    };
    struct callers c;
    (void)state;
    callers_open(&c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t administrator = granted_to(&c.administrator, rows[i].descriptor);
        const uint32_t user = granted_to(&c.user, rows[i].descriptor);
        if (administrator != rows[i].administrator || user != rows[i].user)
            fail_msg("%s: 0x%x and 0x%x, not 0x%x and 0x%x", rows[i].descriptor, (unsigned)administrator,
                     (unsigned)user, (unsigned)rows[i].administrator, (unsigned)rows[i].user);
        assert_int_equal(granted_to(&caller_self, rows[i].descriptor), ALL);
    }
    callers_close(&c);
}

static void owners_can_always_change_the_descriptor(void **state)
{
    struct callers c;
    (void)state;
    callers_open(&c);
    assert_int_equal(granted_to(&c.administrator, "O:BAD:(A;;0x1;;;WD)") & (OWN | 1), OWN | 1);
    assert_int_equal(granted_to(&c.user, "O:BAD:(A;;0x1;;;WD)"), 1);
    assert_int_equal(granted_to(&c.user, "O:S-1-5-21-7-7-7-500D:(A;;0x1;;;WD)"), 1);
    if (!os_is_wine()) /* Wine does not support the account OW (owner rights) */
        assert_int_equal(granted_to(&c.administrator, "O:BAD:(A;;0x1;;;WD)(A;;0x2;;;OW)"), 3);
    callers_close(&c);
}

static void accounts_are_distinguished(void **state)
{
    struct callers c;
    (void)state;
    callers_open(&c);
    assert_true(access_is_administrator(&c.administrator));
    assert_false(access_is_administrator(&c.user));
    assert_true(access_is_administrator(&caller_self));
    assert_true(access_is_account(&c.user, "S-1-1-0"));
    assert_false(access_is_account(&c.administrator, "S-1-5-21-7-7-7-1001"));
    assert_false(access_is_account(&c.administrator, "S-1-1-0)(A;;1;;;XX"));
    assert_true(access_is_account(&caller_self, "S-1-5-21-7-7-7-1001"));
    callers_close(&c);
}

static void unknown_caller_has_no_rights(void **state)
{
    struct access_subject *subject = (void *)1;
    const struct caller other = {.process = 0};
    (void)state;
    assert_int_equal(access_open(&other, &subject), E_ACCESSDENIED);
    assert_null(subject);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "the account of the caller cannot be determined"));
    assert_false(access_is_administrator(&other));
    assert_false(access_is_account(&other, "S-1-1-0"));
}

/* If the check runs out of memory, it returns an error and never allows access. */
static void out_of_memory_denies_access(void **state)
{
    struct callers c;
    (void)state;
    callers_open(&c);
    for (uint64_t n = 1;; n++) {
        struct access_subject *subject;
        bool allowed = false;
        memory_fail_at(n);
        HRESULT hr = access_open(&c.user, &subject);
        if (SUCCEEDED(hr))
            hr = access_allows(subject, "D:(A;;FA;;;WD)(A;;FA;;;BA)", &file_rights, ALL, &allowed);
        const bool all = memory_count() < n;
        memory_fail_at(0);
        access_close(subject);
        if (all) {
            assert_true(allowed);
            break;
        }
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_false(allowed);
    }
    callers_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_evaluated_in_order), cmocka_unit_test(owners_can_always_change_the_descriptor),
        cmocka_unit_test(accounts_are_distinguished),     cmocka_unit_test(unknown_caller_has_no_rights),
        cmocka_unit_test(out_of_memory_denies_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
