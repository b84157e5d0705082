/* SPDX-License-Identifier: MIT */
/* QueryNetworkAdapters of a configuration collector: the document describes this host OS's adapters. */
#include "engine/base/network.h"
#include "engine/base/registry.h"
#include "tests/unit/collect/configuration_fixture.h"

static HRESULT failure;

HRESULT __real_network_adapters(HRESULT (*each)(void *, const struct network_adapter *), void *user);
HRESULT __wrap_network_adapters(HRESULT (*each)(void *, const struct network_adapter *), void *user);

HRESULT __wrap_network_adapters(HRESULT (*each)(void *, const struct network_adapter *), void *user)
{
    HRESULT hr = __real_network_adapters(each, user);
    return SUCCEEDED(hr) && FAILED(failure) ? error_set(failure, "network adapters: they went") : hr;
}

static void collect(struct collected *c)
{
    collect_source(c, configuration_collect_network);
    assert_int_equal(c->hr, S_OK);
}

#define TABLE "/Report/Section[@name='network']/Table[@name='networkInformation']"

static void adapters_are_described(void **state)
{
    struct collected c = {.request = {.network_adapters = true}};
    (void)state;
    collect(&c);
    check_xpath(c.doc, "count(" TABLE ")", "1");
    check_xpath(c.doc, "string(" TABLE "/Header/Data[@key='1']/@name)", "name");
    check_xpath(c.doc, "count(" TABLE "/Item)>0", "true");
    check_xpath(c.doc, "count(" TABLE "/Item[Data[@name='error']!=''])", "0");
    check_xpath(c.doc, "count(" TABLE "/Item[Data[@name='name']=''])", "0");
    check_xpath(c.doc, "count(" TABLE "/Item[Data[@name='status']=''])", "0");
    /* The loopback adapter, which every host OS has. */
    check_xpath(c.doc,
                "count(" TABLE "/Item[Data[@name='type']='loopback' and contains(Data[@name='addresses'], "
                "'127.0.0.1/8')])",
                "1");
    collected_end(&c);
}

static void nothing_is_written_without_a_request(void **state)
{
    struct collected c = {.hr = S_OK};
    (void)state;
    collect(&c);
    check_xpath(c.doc, "count(//Section)", "0");
    collected_end(&c);
}

/* Rows that the host OS returned before a failure are kept, followed by the failure. */
static void failure_is_an_entry(void **state)
{
    struct collected c = {.request = {.network_adapters = true}};
    (void)state;
    failure = HRESULT_FROM_WIN32(ERROR_IO_DEVICE);
    collect(&c);
    failure = S_OK;
    check_xpath(c.doc, "count(//Item)>1", "true");
    check_xpath(c.doc, "string(//Item[last()]/Data[@name='result'])", "0x8007045D");
    check_xpath(c.doc, "string(//Item[last()]/Data[@name='error'])", "network adapters: they went");
    collected_end(&c);
}

static void stop_ends_the_collection(void **state)
{
    struct collected c = {.request = {.network_adapters = true}, .stop = true};
    (void)state;
    collect(&c);
    check_xpath(c.doc, "count(//Item)", "0");
    collected_end(&c);
}

#ifdef _WIN32
static HRESULT keep_first_name(void *user, const struct network_adapter *a)
{
    char **name = user;
    if (!*name)
        *name = text_copy(a->name);
    return S_OK;
}

/* The test writes the keywords of the driver's registry key, which Windows' drivers have and Wine's lack. */
static void adapter_offloads_are_read_from_its_driver(void **state)
{
    static const char key_path[] =
        "SYSTEM\\CurrentControlSet\\Control\\Class\\{4D36E972-E325-11CE-BFC1-08002BE10318}\\9876";
    struct collected c = {.request = {.network_adapters = true}};
    struct registry_key *key;
    char *name = NULL;
    bool made;
    (void)state;
    assert_int_equal(__real_network_adapters(keep_first_name, &name), S_OK);
    assert_non_null(name);
    assert_int_equal(registry_create(key_path, &made, &key), S_OK);
    assert_true(made);
    assert_int_equal(registry_write_text(key, "NetCfgInstanceId", name), S_OK);
    assert_int_equal(registry_write_text(key, "*LsoV2IPv4", "1"), S_OK);
    assert_int_equal(registry_write_number(key, "*TCPChecksumOffloadIPv4", REGISTRY_NUMBER, 3), S_OK);
    assert_int_equal(registry_write_text(key, "*SpeedDuplex", "0"), S_OK);
    registry_close(key);
    collect(&c);
    assert_int_equal(registry_delete(key_path), S_OK);
    check_xpath(c.doc, "count(//Item[contains(Data[@name='offload'], 'LsoV2IPv4=1')])", "1");
    check_xpath(c.doc, "count(//Item[contains(Data[@name='offload'], 'TCPChecksumOffloadIPv4=3')])", "1");
    check_xpath(c.doc, "count(//Item[contains(Data[@name='offload'], 'SpeedDuplex')])", "0");
    memory_free(name);
    collected_end(&c);
}
#else
/* The kernel's values for the loopback interface, which has no hardware but supports every offload that software can
   perform. */
static void interface_offloads_are_read_from_the_kernel(void **state)
{
    struct collected c = {.request = {.network_adapters = true}};
    (void)state;
    collect(&c);
    check_xpath(c.doc, "contains(//Item[Data='lo']/Data[@name='offload'], 'generic-segmentation-offload=')", "true");
    check_xpath(c.doc, "number(//Item[Data='lo']/Data[@name='mtu'])>1000", "true");
    collected_end(&c);
}
#endif

static void request_adapters(struct collected *c)
{
    c->request.network_adapters = true;
}

static void out_of_memory_ends_the_collection(void **state)
{
    (void)state;
    assert_true(collect_without_memory(configuration_collect_network, request_adapters) > 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapters_are_described),
        cmocka_unit_test(nothing_is_written_without_a_request),
        cmocka_unit_test(failure_is_an_entry),
        cmocka_unit_test(stop_ends_the_collection),
#ifdef _WIN32
        cmocka_unit_test(adapter_offloads_are_read_from_its_driver),
#else
        cmocka_unit_test(interface_offloads_are_read_from_the_kernel),
#endif
        cmocka_unit_test(out_of_memory_ends_the_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
