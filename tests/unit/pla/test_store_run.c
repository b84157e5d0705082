/* SPDX-License-Identifier: MIT */
/* Several processes write the run record of one set at the same time. */
#include "engine/pla/store.h"
#include "tests/unit/scratch_folder.h"

static char *folder;

static void forget(const char *name)
{
    static const char xml[] = "<DataCollectorSet/>";
    assert_int_equal(store_save(&caller_self, "Service", name, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL),
                     S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", name), S_OK);
}

static HRESULT count_on(struct run_record *record, const void *by)
{
    record->serial_number += *(const uint32_t *)by;
    return S_OK;
}

static HRESULT do_nothing(struct run_record *record, const void *hr)
{
    record->serial_number = 0;
    return *(const HRESULT *)hr;
}

/* A set host process and a client may change the record of one set. No change may be lost, and no serial number may be
   used twice. */
static void run_records_are_updated(void **state)
{
    struct run_record back;
    uint32_t by = 3;
    HRESULT nothing = S_FALSE, fails = E_OUTOFMEMORY;
    (void)state;
    assert_int_equal(store_update_run("Service", "Updated", &(struct run_change){count_on, &by}), S_OK);
    assert_int_equal(store_update_run("Service", "updated", &(struct run_change){count_on, &by}), S_OK);
    assert_int_equal(store_update_run("Service", "Updated", &(struct run_change){do_nothing, &nothing}), S_OK);
    assert_int_equal(store_update_run("Service", "Updated", &(struct run_change){do_nothing, &fails}), E_OUTOFMEMORY);
    assert_int_equal(store_load_run("Service", "Updated", &back), S_OK);
    assert_true(back.known);
    assert_int_equal(back.serial_number, 6);
    run_record_free(&back);
    forget("Updated");
}

/* While a change is in progress, the first `times` calls also change the record as another process would. */
struct meddling {
    uint32_t times, calls;
};

static HRESULT change_concurrently(struct run_record *record, const void *user)
{
    struct meddling *m = *(struct meddling *const *)user;
    uint32_t by = 10;
    if (m->calls++ < m->times)
        assert_int_equal(store_update_run("Service", "Beside", &(struct run_change){count_on, &by}), S_OK);
    record->serial_number += 1;
    return S_OK;
}

/* Set host processes that start in the same second must not wait until the others have flushed their files. No change
   that is made during that time may be lost. */
static void change_in_progress_does_not_block_others(void **state)
{
    (void)state;
    for (uint32_t times = 0; times <= 3; times++) {
        struct meddling m = {times, 0}, *user = &m;
        struct run_record back;
        assert_int_equal(store_update_run("Service", "Beside", &(struct run_change){change_concurrently, &user}), S_OK);
        assert_int_equal(m.calls, times + 1);
        assert_int_equal(store_load_run("Service", "Beside", &back), S_OK);
        assert_int_equal(back.serial_number, 10 * times + 1);
        run_record_free(&back);
        forget("Beside");
    }
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("store-run");
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_records_are_updated),
        cmocka_unit_test(change_in_progress_does_not_block_others),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}
