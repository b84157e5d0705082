/* SPDX-License-Identifier: MIT */
/* Any parameters for the methods of the port that serves counters, with and without an account. To reach deeper code,
   the input selects a valid beginning before its bytes. fuzz_rpc_connection covers the packets. */
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/pcq_internal.h"
#include "engine/pdh/remote/pcq_session.h"
#include "tests/unit/pcq_fixture.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HAS_PREFIX = 0x80, HAS_SET = 0x40, IS_PARTS = 0x20 };
enum { NO_ACCOUNT = 4, WEAK = 8, FROM_ELSEWHERE = 2 };

/* The bytes before the interesting parameters, which no input would contain by chance. */
static void put_prefix(struct ndr_writer *w, uint8_t how, uint16_t method, const uint8_t handle[NDR_HANDLE_BYTES])
{
    static const uint8_t machine[] = {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0};
    GUID set;
    if (how & HAS_PREFIX && method > PCQ_OPEN_QUERY)
        ndr_write_bytes(w, handle, NDR_HANDLE_BYTES);
    else if (how & HAS_PREFIX)
        ndr_write_bytes(w, machine, sizeof machine);
    if (!(how & HAS_SET) || method > PCQ_ENUMERATE_INSTANCES)
        return;
    pcq_guid(how & IS_PARTS ? &parts_provider : &whole_provider, &set);
    ndr_write_bytes(w, &set, sizeof set);
}

/* Each call in the input is a method, the kind of prefix of its parameters, and their length in units of 4 bytes. */
static void make_calls(struct pcq_session *session, const uint8_t *data, size_t size, uint8_t mode)
{
    uint8_t handle[NDR_HANDLE_BYTES] = {0};
    while (size >= 3) {
        const uint16_t method = data[0] % 9;
        const size_t length = (size_t)data[2] * 4 < size - 3 ? (size_t)data[2] * 4 : size - 3;
        struct ndr_writer in = {0}, out = {0};
        put_prefix(&in, data[1], method, handle);
        ndr_write_bytes(&in, data + 3, length);
        const struct rpc_call call = {.iid = pcq_interface,
                                      .opnum = method,
                                      .stub = in.bytes,
                                      .size = in.size,
                                      .account = mode & NO_ACCOUNT ? NULL : "tester",
                                      .level = mode & NO_ACCOUNT ? AUTH_LEVEL_NONE
                                               : mode & WEAK     ? AUTH_LEVEL_INTEGRITY
                                                                 : AUTH_LEVEL_PRIVACY};
        const uint32_t fault = pcq_session_call(session, &call, &out);
        const bool may = !(mode & (NO_ACCOUNT | WEAK | FROM_ELSEWHERE));
        if (!fault && !may && (out.size < 4 || ndr_load_u32(out.bytes + out.size - 4) != ERROR_ACCESS_DENIED))
            abort(); /* the server served a caller without permission */
        if (!fault && method == PCQ_OPEN_QUERY && out.size == NDR_HANDLE_BYTES + 4)
            memcpy(handle, out.bytes, NDR_HANDLE_BYTES);
        ndr_writer_free(&in);
        ndr_writer_free(&out);
        data += 3 + length;
        size -= 3 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pcq_settings settings = {.from = (char *)PCQ_FROM_HERE};
    struct pcq_service service = {.settings = &settings};
    struct pcq_session *session;
    if (!size)
        return 0;
    service.server = pcq_fixture();
    if (!service.server ||
        FAILED(pcq_session_open(&service, data[0] & FROM_ELSEWHERE ? "10.0.0.1" : "127.0.0.1", &session)))
        abort();
    parts_count = data[0] >> 4 & 3;
    make_calls(session, data + 1, size - 1, data[0]);
    pcq_session_close(session);
    pcq_server_close(service.server);
    if (service.holds)
        abort();
    return 0;
}
