/* SPDX-License-Identifier: MIT */
/* NTLMv2 (MS-NLMP) in both roles, and SPNEGO's messages around its tokens. */
#ifndef OPENPLA_RPC_NTLM_H
#define OPENPLA_RPC_NTLM_H

#include "engine/rpc/auth.h"
#include "engine/rpc/auth/digests.h"
#include "engine/rpc/ndr.h"

#define NTLM_SEAL 0x00000020u /* MS-NLMP 2.2.2.5: the flag that offers encryption */

enum ntlm_state { NTLM_NEW, NTLM_NEGOTIATED, NTLM_DONE, NTLM_FAILED };

/* The keys of one direction, for signing and encryption. */
struct ntlm_direction {
    uint8_t sign_key[16], seal_key[16];
    struct rc4 rc4;
    uint32_t sequence;
};

struct ntlm {
    enum ntlm_state state;
    const struct auth_accounts *accounts;       /* for an acceptor */
    const struct auth_credentials *credentials; /* for an initiator */
    uint32_t flags;
    uint8_t challenge[8];
    struct ndr_writer transcript; /* NEGOTIATE and CHALLENGE: the messages that the MIC covers besides
                                     AUTHENTICATE */
    struct ntlm_direction in, out;
    char account[AUTH_NAME_BYTES];
    const char *refusal;
};

/* Like auth_step; the answer is appended to `answer`. */
HRESULT ntlm_step(struct ntlm *n, const uint8_t *token, size_t size, struct ndr_writer *answer);
HRESULT ntlm_refuse(struct ntlm *n, const char *why);
void ntlm_close(struct ntlm *n);
void ntlm_seal(struct ntlm *n, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size, uint8_t *signature);
bool ntlm_unseal(struct ntlm *n, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
                 const uint8_t *signature);
/* Called after mechListMICs. Restarts the key streams, but not the sequence numbers (MS-SPNG 3.3.5.1). */
void ntlm_restart_key_streams(struct ntlm *n);

/* ---- SPNEGO ---- */

/* A NegTokenInit or a NegTokenResp. Pointers refer to the token's bytes. */
struct spnego_message {
    bool is_init;
    const uint8_t *mechanisms; /* of a NegTokenInit: the SEQUENCE that the MIC covers */
    size_t mechanisms_size;
    bool offers_ntlm, prefers_ntlm; /* NTLM is in the list; NTLM is first */
    bool has_state;
    uint8_t state; /* of a NegTokenResp */
    const uint8_t *token, *mic;
    size_t token_size, mic_size;
};
enum { SPNEGO_COMPLETED = 0, SPNEGO_INCOMPLETE = 1, SPNEGO_REJECT = 2, SPNEGO_REQUEST_MIC = 3 };

bool spnego_read(const uint8_t *bytes, size_t size, struct spnego_message *out);
/* Writes a NegTokenInit that offers only NTLM. */
void spnego_write_init(struct ndr_writer *w, const struct ndr_writer *token);
/* Writes a NegTokenResp. If `state` is negative, the message contains no state; an initiator sends such messages. An
   empty `token` and a NULL `mic` are omitted. */
void spnego_write_response(struct ndr_writer *w, int state, bool names_ntlm, const struct ndr_writer *token,
                           const uint8_t *mic);
extern const uint8_t spnego_ntlm_alone[14]; /* the SEQUENCE of an initiator's mechanisms */

#endif
