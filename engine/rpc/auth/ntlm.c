/* SPDX-License-Identifier: MIT */
/* NTLMv2 (MS-NLMP). Three messages:

       initiator                                   acceptor
       NEGOTIATE flags                        -->
                                              <--  CHALLENGE flags, 8 random bytes, target info with the time
       AUTHENTICATE names, proof + blob, key  -->

       v2     = HMAC-MD5(NT hash, UTF-16 of UPPER(user) + domain)
       proof  = HMAC-MD5(v2, challenge + blob)
       base   = HMAC-MD5(v2, proof)
       key    = RC4(base, EncryptedRandomSessionKey)
       MIC    = HMAC-MD5(key, the three messages)

   The blob contains the client's time, its random bytes and the target info. `key` is the session key, which the
   initiator chooses. The MIC is present if MsvAvFlags in the blob has bit 2. The proof covers the blob, so an attacker
   on the network cannot remove this bit.

   Each direction has its own signing and sealing keys: MD5 of the session key and a fixed text. A signature consists of
   the version 1, RC4(first 8 bytes of HMAC-MD5(signing key, sequence number + message)), and the sequence number. The
   key stream continues through all messages: first the data of a message, then its checksum. */
#include "engine/rpc/auth/ntlm.h"

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

/* MS-NLMP 2.2.2.5. */
#define NTLM_UNICODE        0x00000001u
#define NTLM_REQUEST_TARGET 0x00000004u
#define NTLM_SIGN           0x00000010u

#define NTLM_NTLM           0x00000200u
#define NTLM_ANONYMOUS      0x00000800u
#define NTLM_ALWAYS_SIGN    0x00008000u
#define NTLM_TARGET_SERVER  0x00020000u
#define NTLM_EXTENDED       0x00080000u /* extended session security */
#define NTLM_TARGET_INFO    0x00800000u
#define NTLM_VERSION        0x02000000u
#define NTLM_128            0x20000000u
#define NTLM_KEY_EXCHANGE   0x40000000u
#define NTLM_56             0x80000000u
#define NTLM_REQUIRED       (NTLM_UNICODE | NTLM_EXTENDED | NTLM_128 | NTLM_KEY_EXCHANGE | NTLM_SIGN)
#define NTLM_TAKEN          (NTLM_REQUIRED | NTLM_SEAL | NTLM_NTLM | NTLM_ALWAYS_SIGN | NTLM_56 | NTLM_VERSION)

enum {
    NEGOTIATE = 1,
    CHALLENGE = 2,
    AUTHENTICATE = 3,
    NAME_UNITS = 63,    /* maximum length of a user name */
    DOMAIN_UNITS = 255, /* maximum length of a domain name */
    BLOB_START = 16,    /* offset of the blob in the NT response, after the proof */
    BLOB_INFO = 28,     /* offset of the target info in the blob */
    MIC_AT = 72,        /* offset of the MIC in AUTHENTICATE, after the version */
    PAYLOAD_AT = 88,    /* after the MIC */
    AV_END = 0,
    AV_FLAGS = 6,
    AV_TIMESTAMP = 7,
    AV_FLAG_MIC = 2
};

HRESULT ntlm_refuse(struct ntlm *n, const char *why)
{
    n->state = NTLM_FAILED;
    n->refusal = why;
    return E_ACCESSDENIED;
}

/* ---- messages ---- */

static bool ntlm_message_is(const uint8_t *token, size_t size, uint32_t type, size_t least)
{
    return size >= least && memcmp(token, "NTLMSSP", 8) == 0 && ndr_load_u32(token + 8) == type;
}

/* Reads a field {length, room, offset} of a message. */
static bool ntlm_read_field(const uint8_t *token, size_t size, size_t at, const uint8_t **bytes, size_t *length)
{
    const size_t offset = ndr_load_u32(token + at + 4);
    *length = ndr_load_u16(token + at);
    if (offset > size || size - offset < *length)
        return false;
    *bytes = token + offset;
    return true;
}

/* Appends bytes to the message that starts at `start`, and sets the field that refers to them. */
static void ntlm_write_field(struct ndr_writer *w, size_t start, size_t at, const void *bytes, size_t size)
{
    assert(size <= UINT16_MAX);
    const size_t offset = w->size - start;
    ndr_write_bytes(w, bytes, size);
    ndr_set_u16(w, start + at, (uint16_t)size);
    ndr_set_u16(w, start + at + 2, (uint16_t)size);
    ndr_set_u32(w, start + at + 4, (uint32_t)offset);
}

static size_t ntlm_begin_message(struct ndr_writer *w, uint32_t type, size_t fixed)
{
    const size_t start = w->size;
    uint8_t *head = ndr_add(w, 1, fixed);
    if (head) {
        memcpy(head, "NTLMSSP", 8);
        ndr_store_u32(head + 8, type);
    }
    return start;
}

static void ntlm_write_version(struct ndr_writer *w, size_t at)
{
    static const uint8_t version[8] = {10, 0, 0x61, 0x4A, 0, 0, 0, 15}; /* the last byte is NTLMSSP_REVISION_W2K3 */
    if (!w->failed)
        memcpy(w->bytes + at, version, sizeof version);
}

static void ntlm_write_av(struct ndr_writer *w, uint16_t id, const void *bytes, size_t size)
{
    uint8_t head[4];
    ndr_store_u16(head, id);
    ndr_store_u16(head + 2, (uint16_t)size);
    ndr_write_bytes(w, head, sizeof head);
    ndr_write_bytes(w, bytes, size);
}

/* Finds the value of an id in a target info; NULL: the id does not exist, or the info is truncated. */
static const uint8_t *ntlm_find_av(const uint8_t *info, size_t size, uint16_t id, size_t *length)
{
    for (size_t at = 0; size - at >= 4;) {
        const uint16_t found = ndr_load_u16(info + at), bytes = ndr_load_u16(info + at + 2);
        if (found == AV_END || size - at - 4 < bytes)
            return NULL;
        *length = bytes;
        if (found == id)
            return info + at + 4;
        at += 4 + (size_t)bytes;
    }
    return NULL;
}

/* ---- keys ---- */

static void ntlm_derive_key(const uint8_t session[16], const char *purpose, uint8_t out[16])
{
    struct md5 m;
    md5_begin(&m);
    md5_add(&m, session, 16);
    md5_add(&m, purpose, strlen(purpose) + 1);
    md5_end(&m, out);
}

void ntlm_restart_key_streams(struct ntlm *n)
{
    rc4_begin(&n->in.rc4, n->in.seal_key, sizeof n->in.seal_key);
    rc4_begin(&n->out.rc4, n->out.seal_key, sizeof n->out.seal_key);
}

static void ntlm_set_keys(struct ntlm *n, const uint8_t session[16])
{
    struct ntlm_direction *client = n->credentials ? &n->out : &n->in, *server = n->credentials ? &n->in : &n->out;
    ntlm_derive_key(session, "session key to client-to-server signing key magic constant", client->sign_key);
    ntlm_derive_key(session, "session key to client-to-server sealing key magic constant", client->seal_key);
    ntlm_derive_key(session, "session key to server-to-client signing key magic constant", server->sign_key);
    ntlm_derive_key(session, "session key to server-to-client sealing key magic constant", server->seal_key);
    n->in.sequence = n->out.sequence = 0;
    ntlm_restart_key_streams(n);
}

/* Converts the user name to upper case unit by unit, as Windows does: characters outside the BMP are unchanged. */
static void ntlm_derive_v2(const uint8_t hash[16], const uint8_t *user, size_t user_size, const uint8_t *domain,
                           size_t domain_size, uint8_t v2[16])
{
    struct hmac_md5 h;
    hmac_md5_begin(&h, hash, AUTH_HASH_BYTES);
    for (size_t i = 0; i + 1 < user_size; i += 2) {
        uint8_t unit[2];
        ndr_store_u16(unit, (uint16_t)unicode_upper(ndr_load_u16(user + i)));
        hmac_md5_add(&h, unit, sizeof unit);
    }
    hmac_md5_add(&h, domain, domain_size);
    hmac_md5_end(&h, v2);
}

static void ntlm_derive_proof(const uint8_t v2[16], const uint8_t challenge[8], const uint8_t *blob, size_t size,
                              uint8_t proof[16], uint8_t base[16])
{
    struct hmac_md5 h;
    hmac_md5_begin(&h, v2, 16);
    hmac_md5_add(&h, challenge, 8);
    hmac_md5_add(&h, blob, size);
    hmac_md5_end(&h, proof);
    hmac_md5_begin(&h, v2, 16);
    hmac_md5_add(&h, proof, 16);
    hmac_md5_end(&h, base);
}

static void ntlm_derive_mic(const struct ntlm *n, const uint8_t session[16], const uint8_t *authenticate, size_t size,
                            uint8_t mic[16])
{
    static const uint8_t zeros[16];
    struct hmac_md5 h;
    hmac_md5_begin(&h, session, 16);
    hmac_md5_add(&h, n->transcript.bytes, n->transcript.size);
    hmac_md5_add(&h, authenticate, MIC_AT);
    hmac_md5_add(&h, zeros, sizeof zeros);
    hmac_md5_add(&h, authenticate + PAYLOAD_AT, size - PAYLOAD_AT);
    hmac_md5_end(&h, mic);
}

/* ---- acceptor ---- */

static HRESULT ntlm_challenge(struct ntlm *n, const uint8_t *token, size_t size, struct ndr_writer *w)
{
    if (!ntlm_message_is(token, size, NEGOTIATE, 16))
        return ntlm_refuse(n, "not an NTLM NEGOTIATE message");
    ndr_write_bytes(&n->transcript, token, size);
    n->flags = ndr_load_u32(token + 12) & NTLM_TAKEN;
    n->flags |= NTLM_NTLM | NTLM_TARGET_INFO | NTLM_TARGET_SERVER | NTLM_REQUEST_TARGET;
    HRESULT hr = os_random(n->challenge, sizeof n->challenge);
    if (FAILED(hr))
        return hr;
    WCHAR *units;
    size_t count;
    hr = text_to_utf16(n->accounts->computer_name, &units, &count);
    if (FAILED(hr))
        return hr;
    const size_t start = ntlm_begin_message(w, CHALLENGE, 56), name_size = (count < 63 ? count : 63) * 2;
    uint8_t name[126], now[8];
    for (size_t i = 0; i < name_size; i += 2)
        ndr_store_u16(name + i, units[i / 2]);
    memory_free(units);
    ntlm_write_field(w, start, 12, name, name_size);
    ndr_set_u32(w, start + 20, n->flags);
    if (!w->failed)
        memcpy(w->bytes + start + 24, n->challenge, sizeof n->challenge);
    struct ndr_writer info = {0};
    for (uint16_t id = 1; id <= 4; id++) /* computer and domain, each as a NetBIOS and a DNS name */
        ntlm_write_av(&info, id, name, name_size);
    ndr_store_u64(now, (uint64_t)clock_utc());
    ntlm_write_av(&info, AV_TIMESTAMP, now, sizeof now);
    ntlm_write_av(&info, AV_END, NULL, 0);
    ntlm_write_field(w, start, 40, info.bytes, info.size);
    w->failed = w->failed || info.failed;
    ndr_writer_free(&info);
    if (n->flags & NTLM_VERSION)
        ntlm_write_version(w, start + 48);
    if (w->failed || n->transcript.failed)
        return E_OUTOFMEMORY;
    ndr_write_bytes(&n->transcript, w->bytes + start, w->size - start);
    n->state = NTLM_NEGOTIATED;
    return S_FALSE;
}

struct ntlm_authenticate {
    const uint8_t *response, *domain, *user, *key;
    size_t response_size, domain_size, user_size, key_size;
    uint32_t flags;
};

static const char *ntlm_read_authenticate(const uint8_t *token, size_t size, struct ntlm_authenticate *out)
{
    if (!ntlm_message_is(token, size, AUTHENTICATE, 64))
        return "not an NTLM AUTHENTICATE message";
    if (!ntlm_read_field(token, size, 20, &out->response, &out->response_size) ||
        !ntlm_read_field(token, size, 28, &out->domain, &out->domain_size) ||
        !ntlm_read_field(token, size, 36, &out->user, &out->user_size) ||
        !ntlm_read_field(token, size, 52, &out->key, &out->key_size))
        return "a field lies outside the message";
    out->flags = ndr_load_u32(token + 60);
    if (!out->user_size || !out->response_size || out->flags & NTLM_ANONYMOUS)
        return "anonymous logon";
    if ((out->flags & NTLM_REQUIRED) != NTLM_REQUIRED)
        return "weak session: a session requires Unicode, 128-bit keys, key exchange, extended session security and "
               "signatures";
    if (out->user_size % 2 || out->user_size > NAME_UNITS * 2 || out->domain_size % 2 ||
        out->domain_size > DOMAIN_UNITS * 2)
        return "invalid name";
    if (out->response_size < BLOB_START + BLOB_INFO || out->response[BLOB_START] != 1 ||
        out->response[BLOB_START + 1] != 1)
        return "LM or NTLMv1 response (NTLMv2 is required)";
    return out->key_size == 16 ? NULL : "no session key";
}

static HRESULT ntlm_find_account(struct ntlm *n, const struct ntlm_authenticate *m, uint8_t hash[16], bool *exists)
{
    WCHAR units[DOMAIN_UNITS];
    char *user = NULL, *domain = NULL, tried[AUTH_NAME_BYTES];
    for (size_t i = 0; i < m->user_size / 2; i++)
        units[i] = ndr_load_u16(m->user + 2 * i);
    HRESULT hr = text_from_utf16(units, m->user_size / 2, true, &user);
    for (size_t i = 0; i < m->domain_size / 2; i++)
        units[i] = ndr_load_u16(m->domain + 2 * i);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(units, m->domain_size / 2, true, &domain);
    /* Starts with a random hash, so that an unknown account costs the same amount of work. */
    if (SUCCEEDED(hr))
        hr = os_random(hash, AUTH_HASH_BYTES);
    if (SUCCEEDED(hr)) {
        text_fit(tried, sizeof tried, user);
        memcpy(n->account, tried, sizeof tried);
        *exists = n->accounts->find(n->accounts->user, user, domain, hash, n->account);
        if (!*exists)
            memcpy(n->account, tried, sizeof tried);
    }
    memory_free(user);
    memory_free(domain);
    return hr;
}

static HRESULT ntlm_check_authenticate(struct ntlm *n, const uint8_t *token, size_t size)
{
    struct ntlm_authenticate m;
    const char *fault = ntlm_read_authenticate(token, size, &m);
    if (fault)
        return ntlm_refuse(n, fault);
    uint8_t hash[16] = {0}, v2[16], proof[16], base[16], session[16], mic[16];
    bool exists = false;
    HRESULT hr = ntlm_find_account(n, &m, hash, &exists);
    if (FAILED(hr))
        return hr;
    const uint8_t *blob = m.response + BLOB_START;
    const size_t blob_size = m.response_size - BLOB_START;
    ntlm_derive_v2(hash, m.user, m.user_size, m.domain, m.domain_size, v2);
    ntlm_derive_proof(v2, n->challenge, blob, blob_size, proof, base);
    const bool right = secret_bytes_equal(proof, m.response, sizeof proof);
    struct rc4 unwrap;
    memcpy(session, m.key, sizeof session);
    rc4_begin(&unwrap, base, sizeof base);
    rc4_apply(&unwrap, session, sizeof session);
    size_t length;
    const uint8_t *av = ntlm_find_av(blob + BLOB_INFO, blob_size - BLOB_INFO, AV_FLAGS, &length);
    const bool has_mic = av && length == 4 && ndr_load_u32(av) & AV_FLAG_MIC;
    bool whole = true;
    if (has_mic) {
        whole = size >= PAYLOAD_AT;
        if (whole)
            ntlm_derive_mic(n, session, token, size, mic);
        whole = whole && secret_bytes_equal(mic, token + MIC_AT, sizeof mic);
    }
    if (!exists)
        hr = ntlm_refuse(n, "unknown account");
    else if (!right)
        hr = ntlm_refuse(n, "wrong password");
    else if (!whole)
        hr = ntlm_refuse(n, "the messages were changed in transit (MIC)");
    else {
        n->flags = m.flags;
        ntlm_set_keys(n, session);
        n->state = NTLM_DONE;
        hr = S_OK;
    }
    memory_wipe(hash, sizeof hash);
    memory_wipe(v2, sizeof v2);
    memory_wipe(base, sizeof base);
    memory_wipe(session, sizeof session);
    memory_wipe(&unwrap, sizeof unwrap);
    return hr;
}

/* ---- initiator ---- */

static HRESULT ntlm_negotiate(struct ntlm *n, struct ndr_writer *w)
{
    const size_t start = ntlm_begin_message(w, NEGOTIATE, 40);
    ndr_set_u32(w, start + 12,
                NTLM_REQUIRED | NTLM_SEAL | NTLM_NTLM | NTLM_ALWAYS_SIGN | NTLM_REQUEST_TARGET | NTLM_VERSION);
    if (w->failed)
        return E_OUTOFMEMORY;
    ntlm_write_version(w, start + 32);
    ndr_write_bytes(&n->transcript, w->bytes + start, w->size - start);
    n->state = NTLM_NEGOTIATED;
    return n->transcript.failed ? E_OUTOFMEMORY : S_FALSE;
}

/* Writes the NT response: proof and blob. The blob repeats the challenge's target info and announces a MIC. */
static HRESULT ntlm_respond(struct ntlm *n, const uint8_t *info, size_t info_size, const uint8_t v2[16],
                            struct ndr_writer *response, uint8_t base[16])
{
    uint8_t head[BLOB_INFO] = {1, 1}, proof[16];
    static const uint8_t flags[4] = {AV_FLAG_MIC}, zeros[4];
    size_t length;
    const uint8_t *time = ntlm_find_av(info, info_size, AV_TIMESTAMP, &length);
    if (time && length == 8)
        memcpy(head + 8, time, 8);
    else
        ndr_store_u64(head + 8, (uint64_t)clock_utc());
    HRESULT hr = os_random(head + 16, 8);
    if (FAILED(hr))
        return hr;
    ndr_add(response, 1, BLOB_START);
    ndr_write_bytes(response, head, sizeof head);
    for (size_t at = 0; info_size - at >= 4;) {
        const uint16_t id = ndr_load_u16(info + at), bytes = ndr_load_u16(info + at + 2);
        if (id == AV_END || info_size - at - 4 < bytes)
            break;
        if (id != AV_FLAGS)
            ntlm_write_av(response, id, info + at + 4, bytes);
        at += 4 + (size_t)bytes;
    }
    ntlm_write_av(response, AV_FLAGS, flags, sizeof flags);
    ntlm_write_av(response, AV_END, NULL, 0);
    ndr_write_bytes(response, zeros, sizeof zeros);
    if (response->failed)
        return E_OUTOFMEMORY;
    ntlm_derive_proof(v2, n->challenge, response->bytes + BLOB_START, response->size - BLOB_START, proof, base);
    memcpy(response->bytes, proof, sizeof proof);
    return S_OK;
}

static HRESULT ntlm_utf16_bytes(const char *text, size_t most, uint8_t *out, size_t *size)
{
    WCHAR *units;
    size_t count;
    HRESULT hr = text_to_utf16(text, &units, &count);
    if (FAILED(hr))
        return hr;
    if (count > most)
        hr = error_set(E_INVALIDARG, "cannot log on: '%s': the name is too long", text);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        ndr_store_u16(out + 2 * i, units[i]);
    *size = count * 2;
    memory_free(units);
    return hr;
}

static HRESULT ntlm_authenticate(struct ntlm *n, const uint8_t *token, size_t size, struct ndr_writer *w)
{
    const uint8_t *info = NULL;
    size_t info_size = 0, user_size, domain_size;
    uint8_t user[NAME_UNITS * 2], domain[DOMAIN_UNITS * 2], v2[16], base[16], session[16], wrapped[16], mic[16];
    static const uint8_t no_lm_response[24];
    if (!ntlm_message_is(token, size, CHALLENGE, 48) || !ntlm_read_field(token, size, 40, &info, &info_size))
        return ntlm_refuse(n, "not an NTLM CHALLENGE message");
    n->flags = ndr_load_u32(token + 20);
    if ((n->flags & NTLM_REQUIRED) != NTLM_REQUIRED || !(n->flags & NTLM_TARGET_INFO))
        return ntlm_refuse(n, "the server offers no NTLMv2 session with 128-bit keys, key exchange and signatures");
    n->flags &= NTLM_TAKEN | NTLM_TARGET_INFO | NTLM_REQUEST_TARGET;
    memcpy(n->challenge, token + 24, sizeof n->challenge);
    ndr_write_bytes(&n->transcript, token, size);
    HRESULT hr = ntlm_utf16_bytes(n->credentials->user, NAME_UNITS, user, &user_size);
    if (SUCCEEDED(hr))
        hr = ntlm_utf16_bytes(n->credentials->domain, DOMAIN_UNITS, domain, &domain_size);
    if (FAILED(hr))
        return hr;
    struct ndr_writer response = {0};
    struct rc4 wrap;
    ntlm_derive_v2(n->credentials->hash, user, user_size, domain, domain_size, v2);
    hr = ntlm_respond(n, info, info_size, v2, &response, base);
    if (SUCCEEDED(hr))
        hr = os_random(session, sizeof session);
    if (SUCCEEDED(hr)) {
        memcpy(wrapped, session, sizeof wrapped);
        rc4_begin(&wrap, base, sizeof base);
        rc4_apply(&wrap, wrapped, sizeof wrapped);
        const size_t start = ntlm_begin_message(w, AUTHENTICATE, PAYLOAD_AT);
        ntlm_write_version(w, start + 64);
        ndr_set_u32(w, start + 60, n->flags);
        ntlm_write_field(w, start, 28, domain, domain_size);
        ntlm_write_field(w, start, 36, user, user_size);
        ntlm_write_field(w, start, 44, NULL, 0); /* workstation */
        ntlm_write_field(w, start, 12, no_lm_response, sizeof no_lm_response);
        ntlm_write_field(w, start, 20, response.bytes, response.size);
        ntlm_write_field(w, start, 52, wrapped, sizeof wrapped);
        if (w->failed || n->transcript.failed)
            hr = E_OUTOFMEMORY;
        else {
            ntlm_derive_mic(n, session, w->bytes + start, w->size - start, mic);
            memcpy(w->bytes + start + MIC_AT, mic, sizeof mic);
        }
    }
    if (SUCCEEDED(hr)) {
        ntlm_set_keys(n, session);
        text_fit(n->account, sizeof n->account, n->credentials->user);
        n->state = NTLM_DONE;
        hr = S_OK;
    }
    ndr_writer_free(&response);
    memory_wipe(v2, sizeof v2);
    memory_wipe(base, sizeof base);
    memory_wipe(session, sizeof session);
    memory_wipe(&wrap, sizeof wrap);
    return hr;
}

HRESULT ntlm_step(struct ntlm *n, const uint8_t *token, size_t size, struct ndr_writer *answer)
{
    HRESULT hr;
    if (n->state == NTLM_NEW)
        hr = n->credentials ? ntlm_negotiate(n, answer) : ntlm_challenge(n, token, size, answer);
    else if (n->state == NTLM_NEGOTIATED)
        hr = n->credentials ? ntlm_authenticate(n, token, size, answer) : ntlm_check_authenticate(n, token, size);
    else
        hr = ntlm_refuse(n, "received an NTLM message after the end of the logon");
    if (FAILED(hr))
        n->state = NTLM_FAILED;
    if (n->state == NTLM_DONE || n->state == NTLM_FAILED)
        ndr_writer_free(&n->transcript);
    return hr;
}

void ntlm_close(struct ntlm *n)
{
    ndr_writer_free(&n->transcript);
    memory_wipe(n, sizeof *n);
}

/* ---- messages of a session ---- */

static void ntlm_checksum(const struct ntlm_direction *d, const uint8_t *whole, size_t size, uint8_t out[16])
{
    struct hmac_md5 h;
    uint8_t sequence[4];
    ndr_store_u32(sequence, d->sequence);
    hmac_md5_begin(&h, d->sign_key, sizeof d->sign_key);
    hmac_md5_add(&h, sequence, sizeof sequence);
    hmac_md5_add(&h, whole, size);
    hmac_md5_end(&h, out);
}

static void ntlm_finish_signature(struct ntlm_direction *d, uint8_t checksum[16], uint8_t *signature)
{
    rc4_apply(&d->rc4, checksum, 8);
    ndr_store_u32(signature, 1);
    memcpy(signature + 4, checksum, 8);
    ndr_store_u32(signature + 12, d->sequence++);
}

void ntlm_seal(struct ntlm *n, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size, uint8_t *signature)
{
    uint8_t checksum[16];
    assert(n->state == NTLM_DONE);
    ntlm_checksum(&n->out, whole, whole_size, checksum);
    rc4_apply(&n->out.rc4, data, size);
    ntlm_finish_signature(&n->out, checksum, signature);
}

bool ntlm_unseal(struct ntlm *n, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
                 const uint8_t *signature)
{
    uint8_t checksum[16], expected[AUTH_SIGNATURE_BYTES];
    assert(n->state == NTLM_DONE);
    rc4_apply(&n->in.rc4, data, size);
    ntlm_checksum(&n->in, whole, whole_size, checksum);
    ntlm_finish_signature(&n->in, checksum, expected);
    return secret_bytes_equal(expected, signature, sizeof expected);
}
