/* SPDX-License-Identifier: MIT */
/* The PDUs of connection-oriented RPC (C706 12.6) and their signatures (MS-RPCE 2.2.2.11):

       header 16 | body: alloc_hint 4, context 2, opnum 2, [object 16], stub | padding | trailer 8 | signature

   frag_length is the length of the whole PDU, and auth_length is the length of only the signature (or token). With
   AUTH_LEVEL_PRIVACY the stub and its padding are encrypted. The signature covers everything before it, in plain text.
   */
#ifndef OPENPLA_RPC_PDU_H
#define OPENPLA_RPC_PDU_H

#include "engine/rpc/auth.h"
#include "engine/rpc/ndr.h"

enum pdu_type {
    PDU_REQUEST = 0,
    PDU_RESPONSE = 2,
    PDU_FAULT = 3,
    PDU_BIND = 11,
    PDU_BIND_ACK = 12,
    PDU_BIND_NAK = 13,
    PDU_ALTER_CONTEXT = 14,
    PDU_ALTER_CONTEXT_ACK = 15,
    PDU_AUTH3 = 16,
    PDU_CANCEL = 18,
    PDU_ORPHANED = 19
};
enum {
    PDU_FIRST = 1,
    PDU_LAST = 2,
    PDU_HEADER_SIGNING = 4,
    PDU_OBJECT = 0x80,
    PDU_HEADER = 16,
    PDU_CALL_HEADER = 24,      /* size of the header of a request or response, including PDU_HEADER */
    PDU_TRAILER = 8,           /* size of the trailer, which precedes the token or signature */
    PDU_FRAGMENT = 5840,       /* the longest PDU that OpenPLA's client and server accept */
    PDU_LEAST_FRAGMENT = 1432, /* every implementation must accept this length (C706 12.6.3.1) */
    PDU_CONTEXTS = 64
};
#define PDU_SYNTAX_BYTES 20
extern const uint8_t pdu_ndr_syntax[PDU_SYNTAX_BYTES];

/* One PDU, borrowed. */
struct pdu {
    uint8_t type, flags;
    uint32_t call;
    uint8_t *bytes;
    size_t size;            /* frag_length */
    size_t body_end;        /* end of the body with its padding: the trailer, or the end of the PDU */
    const uint8_t *trailer; /* NULL: not authenticated */
    size_t token_size;
    uint8_t auth_type, auth_level, padding;
    uint32_t auth_id;
};
/* Returns the length of the PDU with this header. 0: the length is invalid, or the PDU is not a PDU of RPC 5.x in
   little endian. */
size_t pdu_length(const uint8_t header[PDU_HEADER]);
/* Parses a PDU; `bytes` has the length that pdu_length returned. False: the lengths of the PDU's parts are
   inconsistent. */
bool pdu_read(uint8_t *bytes, size_t size, struct pdu *out);

/* Collects the bytes of one PDU after another. */
struct pdu_input {
    uint8_t bytes[PDU_FRAGMENT];
    size_t size;
};
enum pdu_progress { PDU_INCOMPLETE, PDU_COMPLETE, PDU_MALFORMED };
/* Consumes bytes up to the end of a PDU; *taken is their number. *out is valid until the next call. */
enum pdu_progress pdu_collect(struct pdu_input *in, const uint8_t *bytes, size_t size, size_t *taken, struct pdu *out);

/* Begins a PDU at the end of `w` and returns its position; pdu_finish sets its lengths. */
size_t pdu_start(struct ndr_writer *w, enum pdu_type type, uint8_t flags, uint32_t call);
void pdu_finish(struct ndr_writer *w, size_t start, size_t token_size);
/* Adds the trailer and a token; adds nothing if the token is empty. */
void pdu_write_token(struct ndr_writer *w, size_t start, uint8_t auth_type, uint8_t auth_level, uint32_t auth_id,
                     const uint8_t *token, size_t size);

/* How the PDUs of a call are signed. */
struct pdu_security {
    struct auth_context *auth; /* NULL: the PDUs are not signed */
    uint8_t type, level;
    uint32_t id;
};
/* Writes the fragments of a request or response, none longer than `fragment`. `object` may be NULL. */
void pdu_write_call(struct ndr_writer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t opnum,
                    const GUID *object, const uint8_t *stub, size_t size, size_t fragment,
                    const struct pdu_security *security);
void pdu_write_fault(struct ndr_writer *w, uint32_t call, uint16_t context, uint32_t status);
/* Decrypts the stub of a request or response in place and checks its signature. */
bool pdu_unseal(struct pdu *p, const struct pdu_security *security);
/* Returns the stub of a request or response that pdu_read has read, and its length. */
const uint8_t *pdu_stub(const struct pdu *p, size_t *size);

#endif
