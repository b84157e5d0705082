/* SPDX-License-Identifier: MIT */
/* Tests the security that the server requests from COM before the first call. Wine ignores it, so no other test would
   detect an error. */
#include "com/server/server.h"
#include "engine/base/wintypes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windows.h>
#include <cmocka.h>
#include <sddl.h>

static struct {
    unsigned calls;
    DWORD authentication, impersonation, capabilities;
    bool absolute, open_to_all, open_to_users;
    unsigned from_afar; /* number of accounts that may call from another machine */
} asked;

/* Returns whether the list of allowed callers names the account. */
static bool is_in(ACL *acl, WELL_KNOWN_SID_TYPE kind)
{
    BYTE sid[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof sid;
    bool found = false;
    assert_true(CreateWellKnownSid(kind, NULL, sid, &size));
    for (DWORD i = 0; i < acl->AceCount; i++) {
        void *ace;
        assert_true(GetAce(acl, i, &ace));
        found = found || EqualSid((PSID) & ((ACCESS_ALLOWED_ACE *)ace)->SidStart, sid);
    }
    return found;
}

/* Counts the list's accounts that may call from another machine (COM_RIGHTS_EXECUTE_REMOTE). */
static unsigned from_afar(ACL *acl)
{
    unsigned count = 0;
    for (DWORD i = 0; i < acl->AceCount; i++) {
        void *ace;
        assert_true(GetAce(acl, i, &ace));
        count += ((ACCESS_ALLOWED_ACE *)ace)->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
                 (((ACCESS_ALLOWED_ACE *)ace)->Mask & COM_RIGHTS_EXECUTE_REMOTE);
    }
    return count;
}

static bool may_from_afar(ACL *acl, WELL_KNOWN_SID_TYPE kind)
{
    BYTE sid[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof sid;
    assert_true(CreateWellKnownSid(kind, NULL, sid, &size));
    for (DWORD i = 0; i < acl->AceCount; i++) {
        void *ace;
        assert_true(GetAce(acl, i, &ace));
        if (EqualSid((PSID) & ((ACCESS_ALLOWED_ACE *)ace)->SidStart, sid))
            return ((ACCESS_ALLOWED_ACE *)ace)->Mask & COM_RIGHTS_EXECUTE_REMOTE;
    }
    return false;
}

static HRESULT WINAPI fake_initialize(PSECURITY_DESCRIPTOR descriptor, LONG services,
                                      SOLE_AUTHENTICATION_SERVICE *service, void *reserved, DWORD authentication,
                                      DWORD impersonation, void *list, DWORD capabilities, void *reserved_too)
{
    SECURITY_DESCRIPTOR_CONTROL control;
    DWORD revision;
    BOOL present, defaulted;
    ACL *acl;
    (void)services, (void)service, (void)reserved, (void)list, (void)reserved_too;
    assert_true(GetSecurityDescriptorControl(descriptor, &control, &revision));
    assert_true(GetSecurityDescriptorDacl(descriptor, &present, &acl, &defaulted));
    assert_true(present && acl);
    asked.calls++;
    asked.authentication = authentication;
    asked.impersonation = impersonation;
    asked.capabilities = capabilities;
    asked.absolute = !(control & SE_SELF_RELATIVE); /* COM accepts only absolute descriptors */
    asked.open_to_all = is_in(acl, WinWorldSid) || is_in(acl, WinAnonymousSid) || is_in(acl, WinBuiltinUsersSid) ||
                        is_in(acl, WinAuthenticatedUserSid);
    asked.open_to_users = is_in(acl, WinBuiltinPerfLoggingUsersSid) && is_in(acl, WinBuiltinAdministratorsSid);
    asked.from_afar = from_afar(acl);
    assert_true(may_from_afar(acl, WinBuiltinAdministratorsSid) && may_from_afar(acl, WinBuiltinPerfLoggingUsersSid));
    return S_OK;
}

static void server_does_not_trust_clients(void **state)
{
    (void)state;
    assert_int_equal(server_secure(fake_initialize), S_OK);
    assert_int_equal(asked.calls, 1);
    assert_int_equal(asked.authentication, RPC_C_AUTHN_LEVEL_PKT_PRIVACY);
    assert_int_equal(asked.impersonation, RPC_C_IMP_LEVEL_IDENTIFY);
    assert_int_equal(asked.capabilities & (EOAC_NO_CUSTOM_MARSHAL | EOAC_DISABLE_AAA),
                     EOAC_NO_CUSTOM_MARSHAL | EOAC_DISABLE_AAA);
    assert_int_equal(asked.capabilities & (EOAC_APPID | EOAC_ACCESS_CONTROL), 0); /* the argument is a security
                                                                                     descriptor */
    assert_true(asked.absolute && asked.open_to_users && !asked.open_to_all);
    assert_int_equal(asked.from_afar, 2); /* administrators and Performance Log Users */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(server_does_not_trust_clients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
