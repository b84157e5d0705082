/* SPDX-License-Identifier: MIT */
/* Reads and writes SPNEGO's messages (RFC 4178) in DER, and implements authentication contexts, which use NTLM either
   alone or inside SPNEGO.

       NegTokenInit  { mechTypes [0], mechToken [2] }                   initiator: mechanisms, NEGOTIATE
       NegTokenResp  { negState [0], supportedMech [1], responseToken [2] }            acceptor: CHALLENGE
       NegTokenResp  { responseToken [2], mechListMIC [3] }             initiator: AUTHENTICATE, signature of mechTypes
       NegTokenResp  { negState [0], mechListMIC [3] }                  acceptor: its signature of mechTypes

   The MICs prove that nobody removed a better mechanism from the list. The initiator always sends its MIC, and requires
   the acceptor's. The acceptor requires the initiator's MIC if NTLM is not the initiator's first choice. Otherwise it
   checks a MIC that the initiator sends. It answers each MIC with its own. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/auth/ntlm.h"

#include <string.h>

enum { DER_OCTETS = 0x04, DER_OID = 0x06, DER_ENUMERATED = 0x0A, DER_SEQUENCE = 0x30, DER_GSS = 0x60 };
#define DER_CONTEXT(n) ((uint8_t)(0xA0 + (n)))
static const uint8_t ntlm_oid[10] = {0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0A};
static const uint8_t spnego_oid[6] = {0x2B, 0x06, 0x01, 0x05, 0x05, 0x02};
const uint8_t spnego_ntlm_alone[14] = {DER_SEQUENCE, 12,   DER_OID, 10,   0x2B, 0x06, 0x01,
                                       0x04,         0x01, 0x82,    0x37, 0x02, 0x02, 0x0A};

/* ---- DER ---- */

struct der {
    const uint8_t *bytes;
    size_t size, at;
};

/* Reads the next element: its tag and its contents. */
static bool der_next(struct der *d, uint8_t *tag, struct der *content)
{
    if (d->size - d->at < 2)
        return false;
    *tag = d->bytes[d->at];
    size_t at = d->at + 2, length = d->bytes[d->at + 1];
    if (length & 0x80) {
        size_t count = length & 0x7F;
        if (!count || count > 3 || d->size - at < count)
            return false;
        for (length = 0; count; count--)
            length = length << 8 | d->bytes[at++];
    }
    if (length > d->size - at)
        return false;
    *content = (struct der){.bytes = d->bytes + at, .size = length};
    d->at = at + length;
    return true;
}

static bool der_enter(struct der *d, uint8_t tag, struct der *content)
{
    uint8_t found;
    return der_next(d, &found, content) && found == tag;
}

static void der_write(struct ndr_writer *w, uint8_t tag, const void *bytes, size_t size)
{
    ndr_write_u8(w, tag);
    if (size > 0xFF) {
        ndr_write_u8(w, 0x82);
        ndr_write_u8(w, (uint8_t)(size >> 8));
    } else if (size > 0x7F)
        ndr_write_u8(w, 0x81);
    ndr_write_u8(w, (uint8_t)size);
    ndr_write_bytes(w, bytes, size);
}

/* Encloses the contents of `w` in an element. */
static void der_wrap(struct ndr_writer *w, uint8_t tag)
{
    struct ndr_writer whole = {0};
    der_write(&whole, tag, w->bytes, w->size);
    whole.failed = whole.failed || w->failed;
    ndr_writer_free(w);
    *w = whole;
}

/* Writes an element within an element: [tag] { inner }. */
static void der_write_part(struct ndr_writer *w, uint8_t tag, uint8_t inner, const void *bytes, size_t size)
{
    struct ndr_writer part = {0};
    der_write(&part, inner, bytes, size);
    der_write(w, tag, part.bytes, part.size);
    w->failed = w->failed || part.failed;
    ndr_writer_free(&part);
}

/* ---- messages ---- */

static bool spnego_read_mechanisms(struct der part, struct spnego_message *out)
{
    struct der list, oid;
    uint8_t tag;
    out->mechanisms = part.bytes;
    out->mechanisms_size = part.size;
    if (!der_enter(&part, DER_SEQUENCE, &list) || part.at != part.size)
        return false;
    for (bool is_first = true; der_next(&list, &tag, &oid); is_first = false) {
        const bool is_ntlm = tag == DER_OID && oid.size == sizeof ntlm_oid && !memcmp(oid.bytes, ntlm_oid, oid.size);
        out->offers_ntlm = out->offers_ntlm || is_ntlm;
        out->prefers_ntlm = out->prefers_ntlm || (is_ntlm && is_first);
    }
    return list.at == list.size;
}

bool spnego_read(const uint8_t *bytes, size_t size, struct spnego_message *out)
{
    struct der whole = {.bytes = bytes, .size = size}, message, content, parts, part;
    uint8_t tag;
    *out = (struct spnego_message){0};
    if (!der_next(&whole, &tag, &message))
        return false;
    if (tag == DER_GSS) {
        if (!der_enter(&message, DER_OID, &content) || content.size != sizeof spnego_oid ||
            memcmp(content.bytes, spnego_oid, sizeof spnego_oid) != 0 || !der_next(&message, &tag, &content))
            return false;
        message = content;
    }
    out->is_init = tag == DER_CONTEXT(0);
    if ((!out->is_init && tag != DER_CONTEXT(1)) || !der_enter(&message, DER_SEQUENCE, &parts))
        return false;
    while (der_next(&parts, &tag, &part))
        if (out->is_init && tag == DER_CONTEXT(0)) {
            if (!spnego_read_mechanisms(part, out))
                return false;
        } else if (!out->is_init && tag == DER_CONTEXT(0)) {
            if (!der_enter(&part, DER_ENUMERATED, &content) || content.size != 1)
                return false;
            out->has_state = true;
            out->state = content.bytes[0];
        } else if (tag == DER_CONTEXT(2)) {
            if (!der_enter(&part, DER_OCTETS, &content))
                return false;
            out->token = content.bytes;
            out->token_size = content.size;
        } else if (tag == DER_CONTEXT(3) && der_enter(&part, DER_OCTETS, &content)) {
            /* The hints of a NegTokenInit2 have this tag too, but contain no octets (MS-SPNG 2.2.1). */
            out->mic = content.bytes;
            out->mic_size = content.size;
        }
    return parts.at == parts.size;
}

void spnego_write_init(struct ndr_writer *w, const struct ndr_writer *token)
{
    struct ndr_writer parts = {0}, oid = {0};
    der_write(&parts, DER_CONTEXT(0), spnego_ntlm_alone, sizeof spnego_ntlm_alone);
    der_write_part(&parts, DER_CONTEXT(2), DER_OCTETS, token->bytes, token->size);
    der_wrap(&parts, DER_SEQUENCE);
    der_wrap(&parts, DER_CONTEXT(0));
    der_write(&oid, DER_OID, spnego_oid, sizeof spnego_oid);
    ndr_write_bytes(&oid, parts.bytes, parts.size);
    der_wrap(&oid, DER_GSS);
    ndr_write_bytes(w, oid.bytes, oid.size);
    w->failed = w->failed || parts.failed || oid.failed;
    ndr_writer_free(&parts);
    ndr_writer_free(&oid);
}

void spnego_write_response(struct ndr_writer *w, int state, bool names_ntlm, const struct ndr_writer *token,
                           const uint8_t *mic)
{
    struct ndr_writer parts = {0};
    const uint8_t value = (uint8_t)state;
    if (state >= 0)
        der_write_part(&parts, DER_CONTEXT(0), DER_ENUMERATED, &value, 1);
    if (names_ntlm)
        der_write_part(&parts, DER_CONTEXT(1), DER_OID, ntlm_oid, sizeof ntlm_oid);
    if (token->size)
        der_write_part(&parts, DER_CONTEXT(2), DER_OCTETS, token->bytes, token->size);
    if (mic)
        der_write_part(&parts, DER_CONTEXT(3), DER_OCTETS, mic, AUTH_SIGNATURE_BYTES);
    der_wrap(&parts, DER_SEQUENCE);
    der_wrap(&parts, DER_CONTEXT(1));
    ndr_write_bytes(w, parts.bytes, parts.size);
    w->failed = w->failed || parts.failed;
    ndr_writer_free(&parts);
}

/* ---- contexts ---- */

struct auth_context {
    enum auth_type type;
    bool is_done, has_begun;
    bool needs_mic;      /* for an acceptor: NTLM is not the initiator's first choice */
    bool has_sent_mic;   /* for an initiator */
    uint8_t *mechanisms; /* for an acceptor: the mechanisms of the NegTokenInit */
    size_t mechanisms_size;
    struct ntlm ntlm;
};

HRESULT auth_hash_password(const char *password, uint8_t hash[AUTH_HASH_BYTES])
{
    if (!text_is_utf8(password, strlen(password)))
        return error_set(E_INVALIDARG, "invalid password: it is not UTF-8");
    WCHAR *units;
    size_t count;
    HRESULT hr = text_to_utf16(password, &units, &count);
    if (FAILED(hr))
        return hr;
    uint8_t *bytes = memory_alloc(count * 2);
    for (size_t i = 0; bytes && i < count; i++)
        ndr_store_u16(bytes + 2 * i, units[i]);
    if (bytes) {
        md4_digest(bytes, count * 2, hash);
        memory_wipe(bytes, count * 2);
    }
    memory_wipe(units, count * sizeof *units);
    memory_free(units);
    memory_free(bytes);
    return bytes ? S_OK : E_OUTOFMEMORY;
}

static HRESULT auth_create(enum auth_type type, struct auth_context **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->type = type;
    return S_OK;
}

HRESULT auth_accept(enum auth_type type, const struct auth_accounts *accounts, struct auth_context **out)
{
    HRESULT hr = auth_create(type, out);
    if (SUCCEEDED(hr))
        (*out)->ntlm.accounts = accounts;
    return hr;
}

HRESULT auth_initiate(enum auth_type type, const struct auth_credentials *credentials, struct auth_context **out)
{
    HRESULT hr = auth_create(type, out);
    if (SUCCEEDED(hr))
        (*out)->ntlm.credentials = credentials;
    return hr;
}

void auth_close(struct auth_context *a)
{
    if (!a)
        return;
    ntlm_close(&a->ntlm);
    memory_free(a->mechanisms);
    memory_free(a);
}

static HRESULT auth_accept_first(struct auth_context *a, const struct spnego_message *m, struct ndr_writer *answer)
{
    struct ndr_writer token = {0};
    HRESULT hr = S_FALSE;
    if (!m->is_init || !m->mechanisms)
        return ntlm_refuse(&a->ntlm, "the SPNEGO message lists no mechanisms");
    if (!m->offers_ntlm)
        return ntlm_refuse(&a->ntlm, "the client does not offer NTLM");
    a->mechanisms = memory_copy(m->mechanisms, m->mechanisms_size);
    if (!a->mechanisms)
        return E_OUTOFMEMORY;
    a->mechanisms_size = m->mechanisms_size;
    a->has_begun = true;
    a->needs_mic = !m->prefers_ntlm;
    /* A token of another mechanism is not read: the initiator starts again with the mechanism that is named here. */
    if (m->token && m->prefers_ntlm)
        hr = ntlm_step(&a->ntlm, m->token, m->token_size, &token);
    if (SUCCEEDED(hr))
        spnego_write_response(answer, a->needs_mic ? SPNEGO_REQUEST_MIC : SPNEGO_INCOMPLETE, true, &token, NULL);
    ndr_writer_free(&token);
    return hr;
}

static HRESULT auth_accept_next(struct auth_context *a, const struct spnego_message *m, struct ndr_writer *answer)
{
    struct ndr_writer token = {0};
    uint8_t mic[AUTH_SIGNATURE_BYTES];
    if (m->is_init)
        return ntlm_refuse(&a->ntlm, "the initiator sent the first SPNEGO message twice");
    if (!m->token)
        return ntlm_refuse(&a->ntlm, "the SPNEGO message has no token");
    HRESULT hr = ntlm_step(&a->ntlm, m->token, m->token_size, &token);
    if (hr == S_FALSE)
        spnego_write_response(answer, SPNEGO_INCOMPLETE, false, &token, NULL);
    ndr_writer_free(&token);
    if (hr != S_OK)
        return hr;
    if (!m->mic && a->needs_mic)
        return ntlm_refuse(&a->ntlm, "the SPNEGO message has no mechListMIC");
    if (m->mic) {
        if (m->mic_size != AUTH_SIGNATURE_BYTES ||
            !ntlm_unseal(&a->ntlm, NULL, 0, a->mechanisms, a->mechanisms_size, m->mic))
            return ntlm_refuse(&a->ntlm, "the list of mechanisms was changed in transit (mechListMIC)");
        ntlm_seal(&a->ntlm, NULL, 0, a->mechanisms, a->mechanisms_size, mic);
        ntlm_restart_key_streams(&a->ntlm);
    }
    spnego_write_response(answer, SPNEGO_COMPLETED, false, &token, m->mic ? mic : NULL);
    a->is_done = true;
    return S_OK;
}

static HRESULT auth_initiate_first(struct auth_context *a, struct ndr_writer *answer)
{
    struct ndr_writer token = {0};
    HRESULT hr = ntlm_step(&a->ntlm, NULL, 0, &token);
    if (SUCCEEDED(hr))
        spnego_write_init(answer, &token);
    a->has_begun = true;
    ndr_writer_free(&token);
    return hr;
}

static HRESULT auth_initiate_next(struct auth_context *a, const struct spnego_message *m, struct ndr_writer *answer)
{
    struct ndr_writer token = {0};
    uint8_t mic[AUTH_SIGNATURE_BYTES];
    if (m->is_init || (m->has_state && m->state == SPNEGO_REJECT))
        return ntlm_refuse(&a->ntlm, "the server does not accept NTLM");
    if (a->has_sent_mic) {
        if (m->mic_size != AUTH_SIGNATURE_BYTES ||
            !ntlm_unseal(&a->ntlm, NULL, 0, spnego_ntlm_alone, sizeof spnego_ntlm_alone, m->mic))
            return ntlm_refuse(&a->ntlm, "the list of mechanisms was changed in transit (mechListMIC)");
        ntlm_restart_key_streams(&a->ntlm);
        a->is_done = true;
        return S_OK;
    }
    if (!m->token)
        return ntlm_refuse(&a->ntlm, "the SPNEGO message has no token");
    HRESULT hr = ntlm_step(&a->ntlm, m->token, m->token_size, &token);
    if (hr == S_OK) {
        ntlm_seal(&a->ntlm, NULL, 0, spnego_ntlm_alone, sizeof spnego_ntlm_alone, mic);
        spnego_write_response(answer, -1, false, &token, mic);
        a->has_sent_mic = true;
        hr = S_FALSE;
    }
    ndr_writer_free(&token);
    return hr;
}

HRESULT auth_step(struct auth_context *a, const uint8_t *token, size_t size, uint8_t **answer, size_t *answer_size)
{
    struct ndr_writer w = {0};
    struct spnego_message m = {0};
    HRESULT hr;
    *answer = NULL;
    *answer_size = 0;
    const bool is_initiator = a->ntlm.credentials != NULL, is_first = !a->has_begun;
    if (size > AUTH_TOKEN_BYTES)
        hr = ntlm_refuse(&a->ntlm, "the token is too long");
    else if (a->ntlm.state == NTLM_FAILED || a->is_done)
        hr = ntlm_refuse(&a->ntlm, "received a token after the end of the logon");
    else if (a->type == AUTH_NTLM) {
        hr = ntlm_step(&a->ntlm, token, size, &w);
        a->is_done = hr == S_OK;
    } else if (!(is_initiator && is_first) && !spnego_read(token, size, &m))
        hr = ntlm_refuse(&a->ntlm, "malformed SPNEGO token");
    else if (is_initiator)
        hr = is_first ? auth_initiate_first(a, &w) : auth_initiate_next(a, &m, &w);
    else
        hr = is_first ? auth_accept_first(a, &m, &w) : auth_accept_next(a, &m, &w);
    if (SUCCEEDED(hr) && w.failed)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        a->is_done = false;
        a->ntlm.state = NTLM_FAILED;
        ndr_writer_free(&w);
        return hr;
    }
    *answer = w.bytes;
    *answer_size = w.size;
    return hr;
}

bool auth_is_done(const struct auth_context *a)
{
    return a->is_done;
}

const char *auth_refusal(const struct auth_context *a)
{
    return a->ntlm.refusal ? a->ntlm.refusal : "";
}

const char *auth_account(const struct auth_context *a)
{
    return a->ntlm.account;
}

bool auth_can_seal(const struct auth_context *a)
{
    return a->ntlm.flags & NTLM_SEAL;
}

bool auth_unseal(struct auth_context *a, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
                 const uint8_t signature[AUTH_SIGNATURE_BYTES])
{
    return ntlm_unseal(&a->ntlm, data, size, whole, whole_size, signature);
}

void auth_seal(struct auth_context *a, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
               uint8_t signature[AUTH_SIGNATURE_BYTES])
{
    ntlm_seal(&a->ntlm, data, size, whole, whole_size, signature);
}
