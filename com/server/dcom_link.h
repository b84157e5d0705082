/* SPDX-License-Identifier: MIT */
/* Messages between the front process, which accepts remote clients, and the service, which performs their calls. The
   service trusts the account names that the front process sends, but nothing else: all messages are checked and
   limited. The code is portable. */
#ifndef OPENPLA_DCOM_LINK_H
#define OPENPLA_DCOM_LINK_H

#include "engine/rpc/automation.h"
#include "engine/rpc/connection.h"

enum link_kind {
    LINK_OPEN = 1, /* a new connection; sent by the front process */
    LINK_CALL,     /* sent by the front process: at most one at a time per connection */
    LINK_CLOSE,    /* sent by the front process */
    LINK_ANSWER    /* sent to the front process, for each call */
};
enum { LINK_HEADER = 12, LINK_ADDRESS_BYTES = 64, LINK_SESSIONS = 4096 };
#define LINK_MESSAGE_MOST ((size_t)65 << 20)

struct link_header {
    uint32_t size; /* size of the body, which follows the header */
    uint32_t kind, session;
};
/* False: no message has such a size or kind. */
bool link_header_read(const uint8_t bytes[LINK_HEADER], struct link_header *out);

/* Each of these functions writes one complete message. Check the writer's `failed` afterwards. */
void link_write_open(struct ndr_writer *w, uint32_t session, const char *address, const struct dual_strings *bindings);
void link_write_call(struct ndr_writer *w, uint32_t session, const struct rpc_call *call);
void link_write_close(struct ndr_writer *w, uint32_t session);
void link_write_answer(struct ndr_writer *w, uint32_t session, uint32_t fault, const uint8_t *stub, size_t size);

/* Each of these functions reads one body. False: the body is malformed. */
bool link_read_open(const uint8_t *body, size_t size, char address[LINK_ADDRESS_BYTES], struct dual_strings *bindings);
/* `out` borrows the stub from `body`, and the account from `account`. */
bool link_read_call(const uint8_t *body, size_t size, struct rpc_call *out, char account[AUTH_NAME_BYTES]);
/* *stub is borrowed. */
bool link_read_answer(const uint8_t *body, size_t size, uint32_t *fault, const uint8_t **stub, size_t *stub_size);

#endif
