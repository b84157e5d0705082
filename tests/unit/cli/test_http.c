/* SPDX-License-Identifier: MIT */
/* The HTTP server's content encoding and password hashes: compression if the client accepts it, and bcrypt. An error
   would send report pages that no client can read, or lock users out. */
#include "cli/http/http.h"
#include "cli/http/security.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <zlib.h>

static void client_chooses_the_content_encoding(void **state)
{
    (void)state;
    static const struct {
        const char *encodings;
        bool gzip;
    } rows[] = {
        {"", false},
        {"gzip", true},
        {"GZip", true},
        {"x-gzip", true},
        {"deflate, br", false},
        {"deflate , gzip", true},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0.001", true},
        {"gzip; q=0.5 , identity", false},
        {"gzip; q=0.5 , identity;q=0.5", true},
        {"identity;q=0, gzip;q=0.1", true},
        {"*", true},
        {"*;q=0", false},
        {"gzip;q=0, *", false},
        {"gzip;q=0, x-gzip", true},
        {"gzip;q=1.001", false},
        {"gzip;level=9", true},
        {"gzip;q=0.5;q=0", false},
        {"gzi", false},
        {",,;;==,", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_span encodings = {rows[i].encodings, strlen(rows[i].encodings)};
        if (http_accepts_gzip(encodings) != rows[i].gzip)
            fail_msg("Accept-Encoding: %s", rows[i].encodings);
    }
}

static void expect_unpacked(const char *packed, size_t packed_size, const char *bytes, size_t size)
{
    z_stream z = {.next_in = (Bytef *)packed, .avail_in = (uInt)packed_size};
    char *out = memory_alloc(size + 1);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, size);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(out, bytes, size);
    inflateEnd(&z);
    memory_free(out);
}

static void compressed_body_unpacks_unchanged(void **state)
{
    (void)state;
    enum { MOST = 300000 };
    char *bytes = memory_alloc(MOST), *packed;
    uint32_t chance = 1;
    size_t size;
    for (size_t i = 0; i < MOST; i++) /* the second half cannot be compressed */
        bytes[i] = (char)(i < MOST / 2 ? 'a' + i % 7 : (chance = chance * 1664525 + 1013904223) >> 24);
    for (size_t length = 0; length <= MOST; length = length ? length * 7 : 1) {
        assert_int_equal(http_gzip(bytes, length, &packed, &size), S_OK);
        expect_unpacked(packed, size, bytes, length);
        memory_free(packed);
    }
    assert_int_equal(http_gzip(bytes, MOST, &packed, &size), S_OK);
    expect_unpacked(packed, size, bytes, MOST);
    memory_free(packed);
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        const HRESULT hr = http_gzip(bytes, MOST, &packed, &size);
        memory_fail_at(0);
        if (hr == S_OK)
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_null(packed);
    }
    memory_free(packed);
    memory_free(bytes);
}

static void request_encodings_are_read(void **state)
{
    (void)state;
    static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\naccept-encoding:  gzip, br \r\n"
                               "Accept-Encoding: identity\r\n\r\n";
    struct http_request request;
    assert_int_equal(http_request_read(text, strlen(text), "X", &request), 200);
    assert_true(http_span_is(request.encodings, "gzip, br"));
    assert_int_equal(http_request_read("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27, NULL, &request), 200);
    assert_int_equal(request.encodings.size, 0);
}

/* The hashes were generated with Debian's crypt(3). */
static void passwords_have_bcrypt_hashes(void **state)
{
    (void)state;
    static char long_password[81];
    memset(long_password, 'x', 80);
    static const struct {
        const char *password, *hash;
    } rows[] = {
        {"U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},
        {"", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"},
        {"U*U", "$2y$04$/OK.fbVrR/bpIqNJ5ianF.yg92IimqtRvWXY77Z3zUi.N8IwzphZO"},
        {"\xA3", "$2a$05$/OK.fbVrR/bpIqNJ5ianF.Sa7shbm4.OzKpvFnX1pQLmQW96oUlCq"},
        {"\xFF\xFF\xA3"
         "345",
         "$2a$05$/OK.fbVrR/bpIqNJ5ianF.U5RG93m3exTrhTpBZ7uzzuA10XOD49O"},
        {long_password, "$2b$05$CCCCCCCCCCCCCCCCCCCCC.D7RDOYXakZhsFmh/LdqQNx0kQ424AFS"},
    };
    char hash[PASSWORD_HASH_BYTES];
    if (FAILED(password_library_load()))
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(password_hash(rows[i].password, rows[i].hash, hash));
        assert_string_equal(hash, rows[i].hash);
        assert_true(password_hash("another", rows[i].hash, hash));
        assert_string_not_equal(hash, rows[i].hash);
    }
    /* Costs and characters that are invalid in bcrypt. */
    assert_false(password_hash("x", "$2b$32$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", hash));
    assert_false(password_hash("x", "$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", hash));
    assert_false(password_hash("x", "$2b$05$CCCCC,CCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_chooses_the_content_encoding),
        cmocka_unit_test(compressed_body_unpacks_unchanged),
        cmocka_unit_test(request_encodings_are_read),
        cmocka_unit_test(passwords_have_bcrypt_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
