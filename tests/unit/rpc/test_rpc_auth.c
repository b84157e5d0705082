/* SPDX-License-Identifier: MIT */
/* Tests digests with the vectors from their RFCs. Tests NTLMv2 and SPNEGO with exchanges between our initiator and our
   acceptor. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/auth/ntlm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static void assert_hex(const uint8_t *bytes, size_t size, const char *hex)
{
    char text[128] = "";
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, hex);
}

static void md4_has_the_vectors_of_rfc_1320(void **state)
{
    static const char *const rows[][2] = {
        {"", "31d6cfe0d16ae931b73c59d7e0c089c0"},
        {"a", "bde52cb31de33e46245e05fbdbd6fb24"},
        {"abc", "a448017aaf21d8525fc10ae87aa6729d"},
        {"message digest", "d9130a8164549fe818874806e1c7014b"},
        {"abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "e33b4ddc9c38f2199c3e7b164fcc0536"}};
    uint8_t out[16];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        md4_digest(rows[i][0], strlen(rows[i][0]), out);
        assert_hex(out, 16, rows[i][1]);
    }
}

static void md5_has_the_vectors_of_rfc_1321(void **state)
{
    static const char *const rows[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"}};
    uint8_t out[16];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t cut = 0; cut <= strlen(rows[i][0]); cut += 7) { /* the input is added in two parts */
            struct md5 m;
            md5_begin(&m);
            md5_add(&m, rows[i][0], cut);
            md5_add(&m, rows[i][0] + cut, strlen(rows[i][0]) - cut);
            md5_end(&m, out);
            assert_hex(out, 16, rows[i][1]);
        }
}

static void hmac_md5_has_the_vectors_of_rfc_2202(void **state)
{
    struct hmac_md5 h;
    uint8_t out[16], key[16], data[50];
    (void)state;
    memset(key, 0x0B, sizeof key);
    hmac_md5_begin(&h, key, sizeof key);
    hmac_md5_add(&h, "Hi There", 8);
    hmac_md5_end(&h, out);
    assert_hex(out, 16, "9294727a3638bb1c13f48ef8158bfc9d");
    hmac_md5_begin(&h, (const uint8_t *)"Jefe", 4);
    hmac_md5_add(&h, "what do ya want ", 16);
    hmac_md5_add(&h, "for nothing?", 12);
    hmac_md5_end(&h, out);
    assert_hex(out, 16, "750c783e6ab0b503eaa86e310a5db738");
    memset(key, 0xAA, sizeof key);
    memset(data, 0xDD, sizeof data);
    hmac_md5_begin(&h, key, sizeof key);
    hmac_md5_add(&h, data, sizeof data);
    hmac_md5_end(&h, out);
    assert_hex(out, 16, "56be34521d144c88dbb8c733f0e8b3f6");
}

static void rc4_has_the_vectors_of_rfc_6229(void **state)
{
    static const uint8_t key[5] = {1, 2, 3, 4, 5},
                         key_128[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    uint8_t stream[16] = {0};
    struct rc4 r;
    (void)state;
    rc4_begin(&r, key, sizeof key);
    rc4_apply(&r, stream, sizeof stream);
    assert_hex(stream, 16, "b2396305f03dc027ccc3524a0a1118a8");
    memset(stream, 0, sizeof stream);
    rc4_begin(&r, key_128, sizeof key_128);
    rc4_apply(&r, stream, sizeof stream);
    assert_hex(stream, 16, "9ac7cc9a609d1ef7b2932899cde41b97");
}

/* The example in MS-NLMP 4.2.1 and 4.2.4: user "User", password "Password". */
static void password_hash_is_that_of_ms_nlmp(void **state)
{
    uint8_t hash[16];
    (void)state;
    assert_int_equal(auth_hash_password("Password", hash), S_OK);
    assert_hex(hash, 16, "a4f49c406510bdcab6824ee7c30fd852");
    assert_int_equal(auth_hash_password("\xFF", hash), E_INVALIDARG);
}

static bool find_user_of_ms_nlmp(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                                 char account[AUTH_NAME_BYTES])
{
    (void)user;
    text_fit(account, AUTH_NAME_BYTES, name);
    return strcmp(name, "User") == 0 && strcmp(domain, "Domain") == 0 &&
           SUCCEEDED(auth_hash_password("Password", hash));
}

/* The example in MS-NLMP 4.2.4 has the server challenge 01..ef, the client challenge aa.., time 0 and the session key
   55.. . The proof, the encrypted key and the client's first encrypted message must be those of the specification. */
static void session_of_ms_nlmp_is_accepted(void **state)
{
    static const uint8_t response[] = {
        0x68, 0xcd, 0x0a, 0xb8, 0x51, 0xe5, 0x1c, 0x96, 0xaa, 0xbc, 0x92, 0x7b, 0xeb, 0xef, 0x6a, 0x1c, /* proof */
        1,    1,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0xaa,
        0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0,    0,    0,    0,    2,    0,    12,   0,    'D',  0,
        'o',  0,    'm',  0,    'a',  0,    'i',  0,    'n',  0,    1,    0,    12,   0,    'S',  0,    'e',
        0,    'r',  0,    'v',  0,    'e',  0,    'r',  0,    0,    0,    0,    0,    0,    0,    0,    0};
    static const uint8_t key[16] = {0xc5, 0xda, 0xd2, 0x54, 0x4f, 0xc9, 0x79, 0x90,
                                    0x94, 0xce, 0x1c, 0xe9, 0x0b, 0xc9, 0xd0, 0x3e};
    static const uint8_t challenge[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    static const uint8_t signature[16] = {1, 0, 0, 0, 0x7f, 0xb3, 0x8e, 0xc5, 0xc5, 0x5d, 0x49, 0x76, 0, 0, 0, 0};
    uint8_t sealed[18] = {0x54, 0xe5, 0x01, 0x65, 0xbf, 0x19, 0x36, 0xdc, 0x99,
                          0x60, 0x20, 0xc1, 0x81, 0x1b, 0x0f, 0x06, 0xfb, 0x5f};
    uint8_t message[300] = "NTLMSSP", plain[18];
    const struct auth_accounts one = {.computer_name = "SERVER", .find = find_user_of_ms_nlmp};
    struct ntlm n = {.state = NTLM_NEGOTIATED, .accounts = &one};
    struct ndr_writer answer = {0};
    const struct {
        size_t field, at, size;
        const void *bytes;
    } fields[] = {{20, 88, sizeof response, response},
                  {28, 200, 12, "D\0o\0m\0a\0i\0n\0"},
                  {36, 220, 8, "U\0s\0e\0r\0"},
                  {52, 240, 16, key}};
    (void)state;
    memcpy(n.challenge, challenge, sizeof challenge);
    message[8] = 3;
    for (size_t i = 0; i < 4; i++) {
        ndr_store_u16(message + fields[i].field, (uint16_t)fields[i].size);
        ndr_store_u32(message + fields[i].field + 4, (uint32_t)fields[i].at);
        memcpy(message + fields[i].at, fields[i].bytes, fields[i].size);
    }
    ndr_store_u32(message + 60, 0xE2088233);
    assert_int_equal(ntlm_step(&n, message, sizeof message, &answer), S_OK);
    assert_hex(n.in.seal_key, 16, "59f600973cc4960a25480a7c196e4c58");
    assert_hex(n.in.sign_key, 16, "4788dc861b4782f35d43fd98fe1a2d39");
    /* The signature covers the plain text; decryption replaces the data in place. */
    memcpy(plain, sealed, sizeof plain);
    assert_true(ntlm_unseal(&n, plain, sizeof plain, plain, sizeof plain, signature));
    assert_memory_equal(plain, "P\0l\0a\0i\0n\0t\0e\0x\0t\0", 18);
    ntlm_close(&n);
}

static void all_bytes_are_compared(void **state)
{
    static const uint8_t a[3] = {1, 2, 3}, b[3] = {1, 2, 4}, c[3] = {0, 2, 3};
    (void)state;
    assert_true(secret_bytes_equal(a, a, 3));
    assert_false(secret_bytes_equal(a, b, 3));
    assert_false(secret_bytes_equal(a, c, 3));
}

/* ---- acceptor and initiator ---- */

static bool find(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                 char account[AUTH_NAME_BYTES])
{
    (void)domain;
    if (!text_equal_nocase(name, "tester"))
        return false;
    text_fit(account, AUTH_NAME_BYTES, "tester");
    return SUCCEEDED(auth_hash_password(user, hash));
}

static char password[] = "secret of tests";
static const struct auth_accounts accounts = {.computer_name = "MACHINE", .user = password, .find = find};

struct pair {
    struct auth_context *acceptor, *initiator;
    struct auth_credentials credentials;
    int change; /* in this message, the byte `change_at` is changed; -1: no message */
    size_t change_at;
    bool is_changed;
};

static void pair_open(struct pair *p, enum auth_type type, const char *user, const char *secret)
{
    *p = (struct pair){.change = -1};
    p->credentials.user = user;
    p->credentials.domain = "";
    assert_int_equal(auth_hash_password(secret, p->credentials.hash), S_OK);
    assert_int_equal(auth_accept(type, &accounts, &p->acceptor), S_OK);
    assert_int_equal(auth_initiate(type, &p->credentials, &p->initiator), S_OK);
}

static void pair_close(struct pair *p)
{
    auth_close(p->acceptor);
    auth_close(p->initiator);
}

/* Exchanges messages. Returns S_OK if both sides finish, or the error of the side that rejects a message. */
static HRESULT pair_run(struct pair *p)
{
    uint8_t *token = NULL;
    size_t size = 0;
    HRESULT hr = S_OK;
    for (int message = 0; message < 8; message++) {
        uint8_t *answer;
        size_t answer_size;
        struct auth_context *side = message % 2 ? p->acceptor : p->initiator;
        hr = auth_step(side, token, size, &answer, &answer_size);
        memory_free(token);
        token = answer;
        size = answer_size;
        if (FAILED(hr))
            break;
        if (message == p->change && p->change_at < size) {
            token[p->change_at] ^= 0x10;
            p->is_changed = true;
        }
        if (!token)
            break;
    }
    memory_free(token);
    return hr;
}

static void check_messages(struct pair *p)
{
    for (int i = 0; i < 5; i++) {
        struct auth_context *from = i % 2 ? p->acceptor : p->initiator, *to = i % 2 ? p->initiator : p->acceptor;
        uint8_t whole[40] = "header..the secret part....trailer", signature[16];
        auth_seal(from, whole + 8, 19, whole, sizeof whole, signature);
        assert_memory_not_equal(whole + 8, "the secret", 10);
        if (i == 4)
            whole[3] ^= 1;
        assert_int_equal(auth_unseal(to, whole + 8, 19, whole, sizeof whole, signature), i < 4);
        assert_memory_equal(whole + 8, "the secret", 10);
    }
}

static void client_and_server_agree_on_keys(void **state)
{
    (void)state;
    for (enum auth_type type = AUTH_SPNEGO; type <= AUTH_NTLM; type++) {
        struct pair p;
        pair_open(&p, type, "TESTER", password);
        assert_int_equal(pair_run(&p), S_OK);
        assert_true(auth_is_done(p.acceptor) && auth_is_done(p.initiator) && auth_can_seal(p.acceptor));
        assert_string_equal(auth_account(p.acceptor), "tester");
        check_messages(&p);
        pair_close(&p);
    }
}

static void wrong_logons_are_rejected(void **state)
{
    static const char *const rows[][3] = {{"tester", "wrong password", "wrong password"},
                                          {"nobody", "secret of tests", "unknown account"},
                                          {"", "", "anonymous logon"}};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (enum auth_type type = AUTH_SPNEGO; type <= AUTH_NTLM; type++) {
            struct pair p;
            pair_open(&p, type, rows[i][0], rows[i][1]);
            assert_int_equal(pair_run(&p), E_ACCESSDENIED);
            assert_string_equal(auth_refusal(p.acceptor), rows[i][2]);
            assert_false(auth_is_done(p.acceptor));
            pair_close(&p);
        }
}

/* The MIC covers each byte of NTLM's messages. A change in the bytes that SPNEGO adds is harmless if both sides still
   choose the same mechanism. */
static void changed_messages_are_rejected(void **state)
{
    (void)state;
    for (enum auth_type type = AUTH_SPNEGO; type <= AUTH_NTLM; type++)
        for (int message = 0; message < 3; message++) {
            bool is_inside = true;
            for (size_t at = 0; is_inside; at++) {
                struct pair p;
                pair_open(&p, type, "tester", password);
                p.change = message;
                p.change_at = at;
                const HRESULT hr = pair_run(&p);
                is_inside = p.is_changed;
                const bool is_taken = hr == S_OK && auth_is_done(p.acceptor) && auth_is_done(p.initiator);
                if (type == AUTH_NTLM && is_taken == is_inside)
                    fail_msg("message %d, byte %zu: %s", message, at, is_taken ? "accepted" : "rejected");
                if (is_taken) {
                    uint8_t whole[4] = "abc", signature[16];
                    auth_seal(p.initiator, whole, 4, whole, 4, signature);
                    assert_true(auth_unseal(p.acceptor, whole, 4, whole, 4, signature));
                }
                pair_close(&p);
            }
        }
}

static void weak_and_old_logons_are_rejected(void **state)
{
    static const struct {
        uint32_t flags;
        size_t response, key;
        const char *why;
    } rows[] = {
        {0xE2088235, 24, 16, "LM or NTLMv1 response (NTLMv2 is required)"},
        {0xE2088235 & ~0x40000000u, 60, 16,
         "weak session: a session requires Unicode, 128-bit keys, key exchange, extended session security and "
         "signatures"},
        {0xE2088235 & ~0x20000000u, 60, 16,
         "weak session: a session requires Unicode, 128-bit keys, key exchange, extended session security and "
         "signatures"},
        {0xE2088235 & ~0x80000u, 60, 16,
         "weak session: a session requires Unicode, 128-bit keys, key exchange, extended session security and "
         "signatures"},
        {0xE2088235 | 0x800, 60, 16, "anonymous logon"},
        {0xE2088235, 60, 0, "no session key"},
    };
    uint8_t negotiate[40] = "NTLMSSP", authenticate[256] = "NTLMSSP";
    (void)state;
    negotiate[8] = 1;
    ndr_store_u32(negotiate + 12, 0xE2088297);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct auth_context *a;
        uint8_t *answer;
        size_t size;
        assert_int_equal(auth_accept(AUTH_NTLM, &accounts, &a), S_OK);
        assert_int_equal(auth_step(a, negotiate, sizeof negotiate, &answer, &size), S_FALSE);
        memory_free(answer);
        authenticate[8] = 3;
        ndr_store_u16(authenticate + 20, (uint16_t)rows[i].response);
        ndr_store_u32(authenticate + 24, 88);
        ndr_store_u16(authenticate + 36, 12);
        ndr_store_u32(authenticate + 40, 160);
        memcpy(authenticate + 160, "t\0e\0s\0t\0e\0r\0", 12);
        ndr_store_u16(authenticate + 52, (uint16_t)rows[i].key);
        ndr_store_u32(authenticate + 56, 180);
        ndr_store_u32(authenticate + 60, rows[i].flags);
        authenticate[88 + 16] = authenticate[88 + 17] = 1;
        assert_int_equal(auth_step(a, authenticate, sizeof authenticate, &answer, &size), E_ACCESSDENIED);
        assert_string_equal(auth_refusal(a), rows[i].why);
        assert_int_equal(auth_step(a, authenticate, sizeof authenticate, &answer, &size), E_ACCESSDENIED);
        auth_close(a);
    }
}

/* Windows may offer Kerberos first, with a token. If both sides then use NTLM, the MIC is required. */
static void another_first_choice_needs_the_mic(void **state)
{
    static const uint8_t init[] = {0x60, 0x33, 6,    6,    0x2B, 6, 1,    5,    5,    2,    0xA0, 0x29, 0x30, 0x27,
                                   0xA0, 0x19, 0x30, 0x17, 6,    9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 1,    2,
                                   2,    6,    10,   0x2B, 6,    1, 4,    1,    0x82, 0x37, 2,    2,    10,   0xA2,
                                   0x0A, 4,    8,    1,    2,    3, 4,    5,    6,    7,    8};
    struct pair p;
    uint8_t *answer, *inner;
    size_t size, inner_size;
    struct spnego_message m;
    struct ndr_writer token = {0}, w = {0};
    (void)state;
    pair_open(&p, AUTH_SPNEGO, "tester", password);
    auth_close(p.initiator);
    assert_int_equal(auth_initiate(AUTH_NTLM, &p.credentials, &p.initiator), S_OK);
    assert_int_equal(auth_step(p.acceptor, init, sizeof init, &answer, &size), S_FALSE);
    assert_true(spnego_read(answer, size, &m));
    assert_int_equal(m.state, SPNEGO_REQUEST_MIC);
    assert_null(m.token);
    memory_free(answer);
    for (int i = 0; i < 2; i++) {
        const uint8_t *from = i ? m.token : NULL;
        assert_int_equal(auth_step(p.initiator, from, i ? m.token_size : 0, &inner, &inner_size), i ? S_OK : S_FALSE);
        if (i)
            memory_free(answer);
        ndr_write_bytes(&token, inner, inner_size);
        memory_free(inner);
        spnego_write_response(&w, -1, false, &token, NULL);
        ndr_writer_free(&token);
        assert_int_equal(auth_step(p.acceptor, w.bytes, w.size, &answer, &size), i ? E_ACCESSDENIED : S_FALSE);
        ndr_writer_free(&w);
        assert_true(i || spnego_read(answer, size, &m));
    }
    assert_string_equal(auth_refusal(p.acceptor), "the SPNEGO message has no mechListMIC");
    pair_close(&p);
}

static void memory_failures_refuse_the_logon(void **state)
{
    (void)state;
    for (enum auth_type type = AUTH_SPNEGO; type <= AUTH_NTLM; type++)
        for (uint64_t n = 1;; n++) {
            struct pair p;
            pair_open(&p, type, "tester", password);
            memory_fail_at(n);
            const HRESULT hr = pair_run(&p);
            const bool is_past = memory_count() < n;
            memory_fail_at(0);
            if (is_past)
                assert_int_equal(hr, S_OK);
            else
                assert_true(FAILED(hr) || (auth_is_done(p.acceptor) && auth_is_done(p.initiator)));
            pair_close(&p);
            if (is_past)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md4_has_the_vectors_of_rfc_1320),
        cmocka_unit_test(md5_has_the_vectors_of_rfc_1321),
        cmocka_unit_test(hmac_md5_has_the_vectors_of_rfc_2202),
        cmocka_unit_test(rc4_has_the_vectors_of_rfc_6229),
        cmocka_unit_test(password_hash_is_that_of_ms_nlmp),
        cmocka_unit_test(session_of_ms_nlmp_is_accepted),
        cmocka_unit_test(all_bytes_are_compared),
        cmocka_unit_test(client_and_server_agree_on_keys),
        cmocka_unit_test(wrong_logons_are_rejected),
        cmocka_unit_test(changed_messages_are_rejected),
        cmocka_unit_test(weak_and_old_logons_are_rejected),
        cmocka_unit_test(another_first_choice_needs_the_mic),
        cmocka_unit_test(memory_failures_refuse_the_logon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
