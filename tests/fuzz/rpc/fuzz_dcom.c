/* SPDX-License-Identifier: MIT */
/* Bodies of calls on the 18 interfaces, and messages of the DCOM front process. The first two bytes select an interface
   and a method; a body that was read is written as a response. The input is also read as a message. */
#include "com/remote/slots.h"
#include "com/server/dcom_link.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_body(const struct remote_method *method, const uint8_t *data, size_t size)
{
    struct remote_value values[REMOTE_PARAMETERS_MOST];
    struct ndr_reader in = ndr_reader_over(data, size);
    struct ndr_arena arena = {0};
    struct ndr_writer out = {0};
    unsigned form = 2;
    remote_read_request(method, &in, &arena, &form, values);
    if (!in.fault) {
        struct remote_method all = *method;
        for (size_t i = 0; i < all.count; i++)
            all.parameters[i].is_out = true;
        if (form != 1 && form != 2)
            abort();
        for (size_t i = 0; i < all.count; i++)
            if (method->parameters[i].is_out)
                values[i] = (struct remote_value){.string = {.is_null = true}};
        remote_write_answer(&all, &out, form, values, S_OK);
        if (!out.failed && out.size < 4)
            abort();
    }
    ndr_writer_free(&out);
    ndr_arena_free(&arena);
}

static void read_message(const uint8_t *data, size_t size)
{
    struct link_header header;
    struct dual_strings bindings;
    struct rpc_call call;
    char text[AUTH_NAME_BYTES];
    const uint8_t *stub;
    size_t stub_size;
    uint32_t fault;
    if (size < LINK_HEADER || !link_header_read(data, &header))
        return;
    data += LINK_HEADER;
    size -= LINK_HEADER;
    if (header.kind == LINK_OPEN && link_read_open(data, size, text, &bindings) && bindings.count > BINDINGS_MOST)
        abort();
    if (header.kind == LINK_CALL && link_read_call(data, size, &call, text) && call.stub + call.size != data + size)
        abort();
    if (header.kind == LINK_ANSWER && link_read_answer(data, size, &fault, &stub, &stub_size) &&
        stub + stub_size != data + size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_message(data, size);
    if (size < 2)
        return 0;
    const struct remote_type *type = remote_type_at(data[0] % remote_type_count());
    read_body(remote_method_of(type, (uint16_t)(REMOTE_FIRST_OPNUM + data[1] % type->count)), data + 2, size - 2);
    return 0;
}
