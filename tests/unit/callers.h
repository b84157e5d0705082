/* SPDX-License-Identifier: MIT */
/* Callers for tests. In native builds they are descriptions of accounts. On Windows and Wine they are copies of this
   process's token (an administrator's): one unchanged, one with the administrators' group enabled for deny entries
   only. */
#ifndef OPENPLA_CALLERS_H
#define OPENPLA_CALLERS_H

#include "engine/base/security.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct callers {
    struct caller administrator, user, nobody; /* nobody: a caller that cannot be identified */
    bool described;                            /* whether the following callers exist as well */
    struct caller logger, owner;               /* a Performance Log User, and a further ordinary account */
};
#define CALLERS_LOGGER "S-1-5-21-7-7-7-1002"
#define CALLERS_OWNER  "S-1-5-21-7-7-7-1001"

#ifdef _WIN32
#include <windows.h>

static HANDLE callers_tokens[2];

static HRESULT callers_duplicate_token(int i, void **out)
{
    HANDLE copy = NULL;
    if (!DuplicateTokenEx(callers_tokens[i], TOKEN_QUERY | TOKEN_DUPLICATE, NULL, SecurityIdentification,
                          TokenImpersonation, &copy))
        return E_FAIL;
    *out = copy;
    return S_OK;
}

static HRESULT callers_administrator(void **out)
{
    return callers_duplicate_token(0, out);
}

static HRESULT callers_user(void **out)
{
    return callers_duplicate_token(1, out);
}

static void callers_open(struct callers *c)
{
    BYTE room[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof room;
    SID_AND_ATTRIBUTES administrators = {.Sid = room};
    assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &callers_tokens[0]));
    assert_true(CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, room, &size));
    assert_true(CreateRestrictedToken(callers_tokens[0], 0, 1, &administrators, 0, NULL, 0, NULL, &callers_tokens[1]));
    *c = (struct callers){.administrator = {.token = callers_administrator}, .user = {.token = callers_user}};
}

static void callers_close(struct callers *c)
{
    (void)c;
    CloseHandle(callers_tokens[0]);
    CloseHandle(callers_tokens[1]);
}
#else
#define CALLERS_USER "S-1-5-21-0-0-0-1000"

static const char *const callers_groups[] = {"S-1-1-0", "S-1-5-11", "S-1-5-32-544", NULL};
static const char *const callers_ordinary[] = {"S-1-1-0", "S-1-5-11", NULL};
static const char *const callers_loggers[] = {"S-1-1-0", "S-1-5-11", "S-1-5-32-559", NULL};
static const char *const callers_switched_off[] = {"S-1-5-32-544", NULL};
static const struct account_sids callers_accounts[] = {
    {"MACHINE\\boss", CALLERS_USER, callers_groups, NULL},
    {"MACHINE\\user", CALLERS_USER, callers_ordinary, callers_switched_off},
    {"MACHINE\\logger", CALLERS_LOGGER, callers_loggers, NULL},
    {"MACHINE\\owner", CALLERS_OWNER, callers_ordinary, NULL},
};

static void callers_open(struct callers *c)
{
    *c = (struct callers){.administrator = {.account = &callers_accounts[0]},
                          .user = {.account = &callers_accounts[1]},
                          .described = true,
                          .logger = {.account = &callers_accounts[2]},
                          .owner = {.account = &callers_accounts[3]}};
}

static void callers_close(struct callers *c)
{
    (void)c;
}
#endif

#endif
