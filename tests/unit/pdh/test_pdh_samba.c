/* SPDX-License-Identifier: MIT */
/* Files and clients of a Samba server. The test writes the server's databases: clients connect and disconnect, a server
   was killed, files have another format, and files are half-written. */
#include "engine/pdh/objects/parsers.h"

#define ROOT_NAME "test_pdh_samba"
#include "tests/unit/pdh/root_query.h"
#include "tests/unit/pdh/samba_root.h"

static void collect(void)
{
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
}

/* A file server monitor must neither show clients that have disconnected nor miss connected ones. */
static void clients_connect_and_disconnect(void **state)
{
    (void)state;
    samba_write(&root, 3, 5);
    PDH_HCOUNTER sessions = add("\\Server\\Server Sessions"), files = add("\\Server\\Files Open");
    PDH_HCOUNTER share = add("\\SMB Server Shares(data)\\Tree Connect Count");
    PDH_HCOUNTER other = add("\\SMB Server Shares(two words)\\Tree Connect Count");
    PDH_HCOUNTER all = add("\\SMB Server Shares(_Total)\\Tree Connect Count");
    PDH_HCOUNTER first = add("\\SMB Server Sessions(4026531841)\\Tree Connect Count");
    PDH_HCOUNTER third = add("\\SMB Server Sessions(4026531843)\\Tree Connect Count");
    collect();
    assert_int_equal(raw_of(sessions).FirstValue, 3);
    assert_int_equal(raw_of(files).FirstValue, 5);
    assert_int_equal(raw_of(share).FirstValue, 2);
    assert_int_equal(raw_of(other).FirstValue, 3);
    assert_int_equal(raw_of(all).FirstValue, 5);
    assert_int_equal(raw_of(first).FirstValue, 1);
    assert_int_equal(raw_of(third).FirstValue, 2);
    samba_write(&root, 1, 0);
    collect();
    assert_int_equal(raw_of(sessions).FirstValue, 1);
    assert_true(is_valid(files) && raw_of(files).FirstValue == 0);
    assert_int_equal(raw_of(share).CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(raw_of(all).FirstValue, 1);
    assert_int_equal(raw_of(third).CStatus, PDH_CSTATUS_NO_INSTANCE);
    samba_write(&root, 0, 0);
    collect();
    assert_true(is_valid(sessions) && raw_of(sessions).FirstValue == 0);
    assert_true(is_valid(all) && raw_of(all).FirstValue == 0);
    assert_int_equal(raw_of(first).CStatus, PDH_CSTATUS_NO_INSTANCE);
}

/* When a server is killed, its databases still contain its clients, and another program may get its process id. */
static void killed_server_has_no_clients(void **state)
{
    (void)state;
    samba_write(&root, 2, 2);
    PDH_HCOUNTER sessions = add("\\Server\\Server Sessions");
    PDH_HCOUNTER share = add("\\SMB Server Shares(data)\\Tree Connect Count");
    collect();
    assert_true(is_valid(sessions) && is_valid(share));
    kernel_root_write(&root, "/proc/9/comm", "smbdlike\n");
    collect();
    assert_false(is_valid(sessions) || is_valid(share));
    samba_write(&root, 2, 2);
    collect();
    assert_true(is_valid(sessions));
    kernel_root_delete(&root, "/run/samba/smbd.pid");
    collect();
    assert_false(is_valid(sessions));
}

/* The objects do not exist if there is no server or its databases cannot be read. They must not show 0 instead. */
static void objects_need_a_server(void **state)
{
    (void)state;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddEnglishCounterW(query, u"\\Server\\Server Sessions", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    samba_write(&root, 2, 2);
    kernel_root_delete(&root, "/run/samba/smbXsrv_tcon_global.tdb");
    assert_int_equal(PdhAddEnglishCounterW(query, u"\\SMB Server Shares(*)\\Tree Connect Count", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
}

/* A newer Samba version may store connections in another format. A wrong share name would be worse than no name. */
static void unknown_format_has_no_values(void **state)
{
    (void)state;
    struct samba_bytes b;
    uint8_t data[256];
    const size_t size = samba_connection(data, 77, "data", 5);
    samba_write(&root, 2, 2);
    PDH_HCOUNTER all = add("\\SMB Server Shares(_Total)\\Tree Connect Count");
    collect();
    assert_true(is_valid(all));
    static const struct {
        size_t place;
        uint8_t value;
    } changes[] = {{0, 1}, {20, 78}, {64, 6}, {68, 1}, {72, 200}, {80, 'x'}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t changed[256];
        memcpy(changed, data, size);
        changed[changes[i].place] = changes[i].value;
        samba_begin(&b);
        samba_add(&b, SAMBA_USED, 77, changed, size);
        samba_store(&root, "tcon", &b);
        collect();
        print_message("change %u\n", (unsigned)i);
        assert_false(is_valid(all));
    }
    samba_begin(&b);
    samba_add(&b, SAMBA_USED, 77, data, size);
    samba_store(&root, "tcon", &b);
    collect();
    assert_true(is_valid(all) && raw_of(all).FirstValue == 1);
}

static bool count(const void *bytes, size_t size, size_t *found, bool *corrupt)
{
    struct samba_file f;
    struct samba_record record;
    uint8_t *copy = memory_alloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const bool is_one = samba_file_begin(&f, copy, size);
    for (*found = 0; is_one && samba_file_next(&f, &record); ++*found) {
        struct samba_connection c;
        assert_true(record.data >= copy && record.size <= (size_t)(copy + size - record.data));
        if (samba_connection_read(&record, &c))
            assert_true((const uint8_t *)c.share >= copy && c.length < record.size);
    }
    *corrupt = is_one && f.corrupt;
    memory_free(copy);
    return is_one;
}

/* A file may be read while the server writes it. If it is incomplete or invalid, the part that was read must not be
   used as if it was everything. */
static void half_written_files_have_no_values(void **state)
{
    (void)state;
    struct samba_bytes b;
    uint8_t data[256] = {0};
    size_t found;
    bool corrupt;
    samba_begin(&b);
    assert_true(count(b.bytes, b.size, &found, &corrupt) && !found && !corrupt);
    samba_add(&b, SAMBA_USED, 1, data, samba_connection(data, 1, "a", 5));
    const size_t one = b.size;
    samba_add(&b, SAMBA_USED, 2, data, samba_connection(data, 2, "b", 5));
    for (size_t size = 0; size <= b.size; size++) {
        const bool is_one = count(b.bytes, size, &found, &corrupt);
        assert_int_equal(is_one, size >= SAMBA_FIRST);
        assert_int_equal(found, size == b.size ? 2 : size >= one ? 1 : 0);
        assert_int_equal(corrupt, is_one && size != SAMBA_FIRST && size != one && size != b.size);
    }
    /* Whichever bit changes, parsing must neither crash nor loop forever (the sanitizers check the rest). */
    for (size_t i = 0; i < b.size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            b.bytes[i] ^= (uint8_t)(1u << bit);
            count(b.bytes, b.size, &found, &corrupt);
            assert_true(found <= 2);
            b.bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(clients_connect_and_disconnect),
        WITH_QUERY(killed_server_has_no_clients),
        WITH_QUERY(objects_need_a_server),
        WITH_QUERY(unknown_format_has_no_values),
        cmocka_unit_test(half_written_files_have_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
