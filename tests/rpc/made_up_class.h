/* SPDX-License-Identifier: MIT */
/* A made-up class for tests of engine/rpc, its accounts, and the handler that serves it. */
#ifndef OPENPLA_TESTS_MADE_UP_CLASS_H
#define OPENPLA_TESTS_MADE_UP_CLASS_H

#include "engine/rpc/orpc.h"

/* {C0FFEE00-...-01}; its interfaces are {C0FFEE01-...-01} and {C0FFEE02-...-01}. */
extern const GUID made_up_class, made_up_iid, made_up_other_iid;

/* Methods of made_up_iid. Through IDispatch, "Add" has the id 1, adds its arguments, and increases each by-reference
   argument by 1000; "Fail" has the id 2. IEnumVARIANT enumerates the numbers 1 to 3. */
enum {
    MADE_UP_ADD = 3,     /* u32, u32 -> u32 */
    MADE_UP_ECHO = 4,    /* BSTR -> BSTR */
    MADE_UP_CHILD = 5,   /* -> a new object */
    MADE_UP_VARIANT = 6, /* SAFEARRAY -> SAFEARRAY, in the received representation */
    MADE_UP_ARRAY = 7,   /* object -> u32, 1 if it is the called object */
    MADE_UP_IS_SELF = 8, /* object -> u32, 1 if it is this one */
    MADE_UP_FAIL = 9     /* -> E_FAIL, with error information "why" */
};

extern const struct orpc_handler made_up_handler;
/* The accounts "tester" with the password "secret of tests", and "other" with "other secret". */
extern const struct auth_accounts made_up_accounts;
/* Returns the number of live objects. */
unsigned made_up_objects(void);

#endif
