/* SPDX-License-Identifier: MIT */
/* A remote computer hangs in a call. Its counters then have no values, but all others do, and no sample waits for it
   twice. The next sample uses a late reply. As in real programs, a separate thread calls the computer. */
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/remote/remote_computer.h"
#include "pcq_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static DWORD status_of(PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    return raw.CStatus;
}

/* Samples until the counter has a value. On a busy machine, this may need several samples. */
static void collect_until_valid(PDH_HQUERY query, PDH_HCOUNTER counter)
{
    do {
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    } while (status_of(counter) != PDH_CSTATUS_VALID_DATA);
}

/* Adds a remote counter, if necessary with several attempts: on a busy machine, the reply may take longer than PDH
   waits. */
static PDH_HCOUNTER add_of_host(PDH_HQUERY query)
{
    PDH_HCOUNTER counter;
    while (PdhAddCounterW(query, u"\\\\other\\Memory\\Available Bytes", 0, &counter) != ERROR_SUCCESS)
        ;
    return counter;
}

static void hanging_computer_loses_only_its_counters(void **state)
{
    (void)state;
    PDH_HQUERY query, other;
    PDH_HCOUNTER here;
    struct wakeup *go;
    assert_int_equal(wakeup_create(&go), S_OK);
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER there = add_of_host(query);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Available Bytes", 0, &here), ERROR_SUCCESS);
    collect_until_valid(query, there);
    loopback.hangs = go;
    for (int i = 0; i < 20; i++)
        collect_until_valid(query, here);
    assert_int_equal(status_of(there), PDH_CSTATUS_NO_MACHINE);
    loopback.hangs = NULL;
    wakeup_set(go);
    collect_until_valid(query, there);
    /* Closing a query does not wait for its hung call. The query on the remote computer is closed later. */
    loopback.hangs = go;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &other), ERROR_SUCCESS);
    PdhCollectQueryData(query);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    loopback.hangs = NULL;
    wakeup_set(go);
    assert_int_equal(PdhCloseQuery(other), ERROR_SUCCESS);
    /* The thread that calls the computer may still be busy with the closed query. */
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    collect_until_valid(query, add_of_host(query));
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    wakeup_free(go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hanging_computer_loses_only_its_counters)};
    remote_computer_links(&loopback_links);
    catalogue_set_remote(&remote_catalogue_functions);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
