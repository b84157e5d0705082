/* SPDX-License-Identifier: MIT */
/* Every member over the wire, byte by byte compared with an independent encoder: with one wrong byte OpenPLA and
   Windows' PLA could not talk over DCOM, or would read wrong values. Three things cannot be compared. The OBJREF of an
   interface pointer holds identities, and Wine writes `size, OBJREF` where NDR has referent, max_count, size, OBJREF;
   so of a non-null pointer only its OBJREF's signature and interface are checked. Wine omits the referents of the
   strings in a BSTR array; these are only checked end to end. Under Wine, what a BSTR, VARIANT or SAFEARRAY pointer
   points to has Wine's alignment (tests/wire/values.c). */
#include "com/proxy/proxy_stub.h"
#include "tests/wire/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static struct recording_server other; /* the object to which interface pointers point */
static DWORD registration;

/* Runs `check` for every member with every set of values. Prints the failing members and fails the test if there are
   any. */
static void for_every_member(bool (*check)(struct wire_link *, const struct member *, union value *, unsigned set))
{
    unsigned wrong = 0, tried = 0;
    for (size_t m = 0; m < MEMBERS; m++) {
        struct wire_link link;
        wire_link_open(&link, members[m].iid);
        for (unsigned set = 0; set < VALUE_SETS; set++) {
            union value values[MAX_PARAMETERS] = {{0}};
            for (unsigned i = 0; i < members[m].count; i++)
                value_make(members[m].parameters[i].type, set, &other.object, &values[i]);
            recording_server_expect(&link.server, &members[m]);
            tried++;
            if (!check(&link, &members[m], values, set)) {
                print_error("%s::%s, opnum %u, values %u\n", members[m].interface_name, members[m].name,
                            members[m].opnum, set);
                wrong++;
            }
            for (unsigned i = 0; i < members[m].count; i++)
                value_free(members[m].parameters[i].type, &values[i]);
        }
        wire_link_close(&link);
    }
    assert_int_equal(tried, MEMBERS * VALUE_SETS);
    assert_int_equal(wrong, 0);
}

static void show(const char *what, const struct wire *wire)
{
    char text[512] = "";
    for (size_t i = 0; i < wire->size && i < 120; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x", i % 4 ? "" : " ", wire->bytes[i]);
    print_error("%s %u:%s\n", what, (unsigned)wire->size, text);
}

static bool same(const struct wire *is, const struct wire *want)
{
    if (is->size == want->size && !memcmp(is->bytes, want->bytes, is->size))
        return true;
    show("is  ", is);
    show("want", want);
    return false;
}

/* Finds the OBJREF of an interface pointer in the bytes: its signature MEOW and, after its flags, the interface. */
static bool has_objref(const struct wire *wire, const IID *iid)
{
    for (size_t i = 0; i + 24 <= wire->size; i += 4)
        if (!memcmp(wire->bytes + i, "MEOW", 4))
            return !memcmp(wire->bytes + i + 8, iid, sizeof *iid);
    return false;
}

/* True if all comparable bytes match, and the rest is an OBJREF of the right interface. */
static bool begins_with(const struct wire *is, const struct wire *want, const struct parameter *pointer)
{
    if (is->size > want->size && !memcmp(is->bytes, want->bytes, want->size) &&
        (!pointer || has_objref(is, interface_id(pointer->interface_name))))
        return true;
    show("is    ", is);
    show("begins", want);
    return false;
}

static const struct parameter *pointer_parameter(const struct member *member, bool in)
{
    for (unsigned i = 0; i < member->count; i++)
        if (member->parameters[i].in == in && member->parameters[i].type == WIRE_INTERFACE)
            return &member->parameters[i];
    return NULL;
}

/* Our requests end at a multiple of 4. If Commit's mode is at an offset of 2 bytes, it is repeated with 4 bytes. */
static void pad_request(struct wire *wire, const struct member *member)
{
    if (!strcmp(member->name, "METHOD Commit") && wire->size % 4 == 0)
        wire_put_number(wire, 4, wire->bytes[wire->size - 2] | (ULONG)wire->bytes[wire->size - 1] << 8);
    while (wire->size % 4)
        wire->bytes[wire->size++] = 0;
}

static bool request_is_right(struct wire_link *link, const struct member *member, union value *values, unsigned set)
{
    struct wire want = {.size = 0};
    bool known = wire_put_parameters(&want, member, true, values, 2);
    union value arguments[MAX_PARAMETERS] = {{0}};
    (void)set;
    for (unsigned i = 0; i < member->count; i++)
        if (member->parameters[i].in)
            arguments[i] = values[i];
    HRESULT hr = wire_link_call(link, member, arguments);
    bool right = hr == S_OK && link->channel.opnum == member->opnum && link->channel.request.size % 4 == 0;
    if (!known)
        return begins_with(&link->channel.request, &want, pointer_parameter(member, true)) && right;
    pad_request(&want, member);
    return same(&link->channel.request, &want) && right;
}

/* A Windows client sends requests as specified, whatever our proxies send. */
static bool stub_reads_a_request(struct wire_link *link, const struct member *member, union value *values, unsigned set)
{
    struct wire request = {.size = 0};
    if (!wire_put_parameters(&request, member, true, values, 2))
        return set != VALUES_LEAST; /* with the least values, every request can be compared */
    HRESULT hr = wire_channel_invoke(&link->channel, member->opnum, request.bytes, request.size);
    bool right = hr == S_OK && link->server.calls == 1 && link->server.slot == member->opnum;
    for (unsigned i = 0; i < member->count; i++)
        if (member->parameters[i].in)
            right = value_equal(member->parameters[i].type, &link->server.taken[i], &values[i]) && right;
    if (!right)
        print_error("hr %#lx, %u calls\n", hr, link->server.calls);
    return right;
}

static bool reply_is_right(struct wire_link *link, const struct member *member, union value *values, unsigned set)
{
    struct wire request = {.size = 0}, want = {.size = 0};
    union value least[MAX_PARAMETERS] = {{0}};
    for (unsigned i = 0; i < member->count; i++)
        if (!member->parameters[i].in)
            value_return(member->parameters[i].type, &values[i], &link->server.give[i]);
    /* A result other than S_OK must arrive unchanged: PLA_S_PROPERTY_IGNORED. */
    link->server.result = set ? S_OK : 0x00300100;
    wire_put_parameters(&request, member, true, least, 2);
    bool known = wire_put_parameters(&want, member, false, values, 2);
    if (known)
        wire_put_number(&want, 4, (ULONG)link->server.result);
    HRESULT hr = wire_channel_invoke(&link->channel, member->opnum, request.bytes, request.size);
    bool right = hr == S_OK && link->server.calls == 1;
    if (known)
        right = same(&link->channel.reply, &want) && right;
    else
        right = begins_with(&link->channel.reply, &want, pointer_parameter(member, false)) && right;
    for (unsigned i = 0; i < member->count; i++)
        if (!member->parameters[i].in)
            value_free(member->parameters[i].type, &link->server.give[i]);
    return right;
}

/* A Windows server sends replies as specified. */
static bool proxy_reads_a_reply(struct wire_link *link, const struct member *member, union value *values, unsigned set)
{
    struct wire *reply = &link->channel.canned_reply;
    union value arguments[MAX_PARAMETERS] = {{0}};
    (void)set;
    link->channel.stub = NULL;
    reply->size = 0;
    bool known = wire_put_parameters(reply, member, false, values, 2);
    wire_put_number(reply, 4, 0x00300100);
    bool right = !known || wire_link_call(link, member, arguments) == 0x00300100;
    for (unsigned i = 0; known && i < member->count; i++) {
        if (!member->parameters[i].in)
            right = value_equal(member->parameters[i].type, &arguments[i], &values[i]) && right;
        value_free(member->parameters[i].type, &arguments[i]);
    }
    link->channel.stub = link->stub;
    return right;
}

static bool call_goes_through(struct wire_link *link, const struct member *member, union value *values, unsigned set)
{
    union value arguments[MAX_PARAMETERS] = {{0}};
    for (unsigned i = 0; i < member->count; i++)
        if (member->parameters[i].in)
            arguments[i] = values[i];
        else
            value_return(member->parameters[i].type, &values[i], &link->server.give[i]);
    link->server.result = set ? S_OK : 0x00300100;
    HRESULT hr = wire_link_call(link, member, arguments);
    bool right = hr == link->server.result && link->server.calls == 1 && link->server.slot == member->opnum;
    for (unsigned i = 0; i < member->count; i++) {
        bool in = member->parameters[i].in;
        right =
            value_equal(member->parameters[i].type, in ? &link->server.taken[i] : &arguments[i], &values[i]) && right;
        if (!in) {
            value_free(member->parameters[i].type, &arguments[i]);
            value_free(member->parameters[i].type, &link->server.give[i]);
        }
    }
    if (!right)
        print_error("hr %#lx, %u calls\n", hr, link->server.calls);
    return right;
}

static void proxies_write_requests(void **state)
{
    (void)state;
    for_every_member(request_is_right);
}

static void stubs_read_foreign_requests(void **state)
{
    (void)state;
    for_every_member(stub_reads_a_request);
}

static void stubs_write_replies(void **state)
{
    (void)state;
    for_every_member(reply_is_right);
}

static void proxies_read_foreign_replies(void **state)
{
    (void)state;
    for_every_member(proxy_reads_a_reply);
}

static void calls_work_end_to_end(void **state)
{
    (void)state;
    for_every_member(call_goes_through);
}

/* True if a server that expects `want` finds its parameters in `is`. It ignores what follows them, and the 2 bytes that
   align Commit's mode. */
static bool reads_as(const struct wire *is, const struct wire *want, const struct member *member)
{
    bool commit = !strcmp(member->name, "METHOD Commit");
    size_t gap = commit ? want->size - 6 : want->size;
    size_t behind = commit ? want->size - 4 : want->size;
    if (is->size >= want->size && !memcmp(is->bytes, want->bytes, gap) &&
        !memcmp(is->bytes + behind, want->bytes + behind, want->size - behind))
        return true;
    return same(is, want);
}

/* Peers built with v1_enum or type library marshalling send enumerations with 4 bytes. */
static void peers_with_4_byte_enumerations_work(void **state)
{
    (void)state;
    unsigned requests = 0, replies = 0;
    for (size_t m = 0; m < MEMBERS; m++) {
        const struct member *member = &members[m];
        struct wire_link link;
        bool in = false, out = false;
        union value values[MAX_PARAMETERS] = {{0}};
        for (unsigned i = 0; i < member->count; i++) {
            in |= member->parameters[i].in && member->parameters[i].type == WIRE_ENUM;
            out |= !member->parameters[i].in && member->parameters[i].type == WIRE_ENUM;
        }
        if (!in && !out)
            continue;
        wire_link_open(&link, member->iid);
        recording_server_expect(&link.server, member);
        for (unsigned i = 0; i < member->count; i++)
            value_make(member->parameters[i].type, member->parameters[i].type == WIRE_INTERFACE ? VALUES_LEAST : 0,
                       NULL, &values[i]);
        if (in) {
            struct wire request = {.size = 0};
            assert_true(wire_put_parameters(&request, member, true, values, 4));
            assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, request.bytes, request.size), S_OK);
            for (unsigned i = 0; i < member->count; i++)
                if (member->parameters[i].in)
                    assert_true(value_equal(member->parameters[i].type, &link.server.taken[i], &values[i]));
            /* Our request, as that peer reads it. */
            struct wire four = {.size = 0};
            union value arguments[MAX_PARAMETERS];
            memcpy(arguments, values, sizeof arguments);
            assert_int_equal(wire_link_call(&link, member, arguments), S_OK);
            wire_put_parameters(&four, member, true, values, 4);
            assert_true(reads_as(&link.channel.request, &four, member));
            requests++;
        }
        if (out) {
            struct wire four = {.size = 0};
            link.server.give[0] = values[0];
            assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, NULL, 0), S_OK);
            wire_put_parameters(&four, member, false, values, 4);
            wire_put_number(&four, 4, S_OK);
            assert_true(same(&link.channel.reply, &four));
            /* That peer's reply, as our proxy reads it. */
            union value argument = {0};
            link.channel.stub = NULL;
            link.channel.canned_reply = four;
            assert_int_equal(wire_link_call(&link, member, &argument), S_OK);
            assert_int_equal(argument.enumeration, values[0].enumeration);
            replies++;
        }
        for (unsigned i = 0; i < member->count; i++)
            value_free(member->parameters[i].type, &values[i]);
        wire_link_close(&link);
    }
    assert_int_equal(requests, 13);
    assert_int_equal(replies, 12);
}

/* The mode follows a string, so its offset depends on the string's length. */
static void commit_mode_is_found_after_any_name(void **state)
{
    (void)state;
    static const OLECHAR *const servers[] = {NULL, L"", L"a", L"ab", L"abc"};
    const struct member *commit = members;
    while (strcmp(commit->name, "METHOD Commit") != 0)
        commit++;
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        for (size_t enum_size = 2; enum_size <= 4; enum_size += 2) {
            struct wire_link link;
            struct wire request = {.size = 0};
            union value values[MAX_PARAMETERS] = {{0}};
            wire_link_open(&link, commit->iid);
            recording_server_expect(&link.server, commit);
            values[0].text = SysAllocString(L"name");
            values[1].text = SysAllocString(servers[i]);
            values[2].enumeration = plaValidateOnly | plaModify;
            wire_put_parameters(&request, commit, true, values, enum_size);
            assert_int_equal(wire_channel_invoke(&link.channel, commit->opnum, request.bytes, request.size), S_OK);
            assert_int_equal(link.server.taken[2].enumeration, plaValidateOnly | plaModify);
            assert_true(value_equal(WIRE_BSTR, &link.server.taken[1], &values[1]));
            assert_int_equal(wire_link_call(&link, commit, values), S_OK);
            assert_true(enum_size == 2 ? !memcmp(link.channel.request.bytes, request.bytes, request.size)
                                       : reads_as(&link.channel.request, &request, commit));
            SysFreeString(values[0].text);
            SysFreeString(values[1].text);
            wire_link_close(&link);
        }
    }
}

static int open_apartment(void **state)
{
    if (wire_link_open_apartment(state))
        return -1;
    recording_server_init(&other);
    return wire_link_register(&registration) == S_OK ? 0 : -1;
}

static int close_apartment(void **state)
{
    HRESULT hr = CoRevokeClassObject(registration);
    return wire_link_close_apartment(state) || hr != S_OK ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proxies_write_requests),
        cmocka_unit_test(stubs_read_foreign_requests),
        cmocka_unit_test(stubs_write_replies),
        cmocka_unit_test(proxies_read_foreign_replies),
        cmocka_unit_test(calls_work_end_to_end),
        cmocka_unit_test(peers_with_4_byte_enumerations_work),
        cmocka_unit_test(commit_mode_is_found_after_any_name),
    };
    return cmocka_run_group_tests(tests, open_apartment, close_apartment);
}
