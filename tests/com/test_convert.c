/* SPDX-License-Identifier: MIT */
/* Tests how a put passes values from COM into the model: strings and lists are copied once, on conversion to UTF-8, and
   a failed put leaves the object unchanged. The DLL's own code is linked in. */
#include "com/objects/convert.h"
#include "engine/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static IDataCollectorSet *new_set(struct data_collector_set **model)
{
    struct object *o;
    void *face;
    assert_int_equal(set_create(&o), S_OK);
    assert_int_equal(wrapper_get(o, &face), S_OK);
    object_release(o); /* the wrapper has its own reference */
    *model = (struct data_collector_set *)o;
    return face;
}

static SAFEARRAY *list_of(const char *first, const char *second)
{
    struct texts texts = {0};
    SAFEARRAY *array;
    assert_int_equal(texts_add(&texts, first), S_OK);
    assert_int_equal(texts_add(&texts, second), S_OK);
    assert_int_equal(array_from_texts(&texts, &array), S_OK);
    texts_free(&texts);
    return array;
}

/* Otherwise a long counter list would be in memory three times during a put, in a server that many clients use at the
   same time. */
static void put_copies_values_once(void **state)
{
    (void)state;
    struct data_collector_set *model;
    IDataCollectorSet *set = new_set(&model);
    struct texts read;
    BSTR text = SysAllocString(L"a folder with \x00e4 and \x20ac");
    SAFEARRAY *list = list_of("first", "second");
    char *utf8;
    memory_fail_at(0);
    assert_int_equal(text_from_bstr(text, "text", &utf8), S_OK);
    uint64_t of_text = memory_count();
    memory_fail_at(0);
    assert_int_equal(texts_from_array(list, "list", &read), S_OK);
    uint64_t of_list = memory_count();
    memory_fail_at(0);
    assert_int_equal(IDataCollectorSet_put_Subdirectory(set, text), S_OK);
    assert_int_equal(memory_count(), of_text);
    memory_fail_at(0);
    assert_int_equal(IDataCollectorSet_put_Keywords(set, list), S_OK);
    assert_int_equal(memory_count(), of_list);
    assert_true(of_text > 0 && of_list > of_text);
    assert_string_equal(model->Subdirectory, utf8);
    assert_int_equal(model->Keywords.count, 2);
    assert_string_equal(model->Keywords.items[1], "second");
    memory_free(utf8);
    texts_free(&read);
    SafeArrayDestroy(list);
    SysFreeString(text);
    IDataCollectorSet_Release(set);
}

static HRESULT put_both(IDataCollectorSet *set, BSTR text, SAFEARRAY *list)
{
    HRESULT hr = IDataCollectorSet_put_Subdirectory(set, text);
    return FAILED(hr) ? hr : IDataCollectorSet_put_Keywords(set, list);
}

/* If a value is rejected, the old value stays complete. */
static void failed_put_changes_nothing(void **state)
{
    (void)state;
    struct data_collector_set *model;
    IDataCollectorSet *set = new_set(&model);
    BSTR after = SysAllocString(L"after"), nonsense = SysAllocString(L"nonsense");
    SAFEARRAY *list = list_of("a", "b"), *bad_list = list_of("good", "not;good");
    unsigned failures = 0;
    memory_fail_at(0);
    assert_int_equal(put_both(set, after, list), S_OK);
    for (uint64_t n = 1, count = memory_count(); n <= count; n++) {
        struct object *o = &model->object;
        assert_int_equal(object_put_text(o, class_property(o->class, "Subdirectory"), "before"), S_OK);
        assert_int_equal(object_put_default(o, class_property(o->class, "Keywords")), S_OK);
        memory_fail_at(n);
        HRESULT hr = put_both(set, after, list);
        memory_fail_at(0);
        failures += FAILED(hr);
        assert_true(SUCCEEDED(hr) || hr == E_OUTOFMEMORY);
        if (SUCCEEDED(hr) || strcmp(model->Subdirectory, "after") != 0)
            assert_string_equal(model->Subdirectory, SUCCEEDED(hr) ? "after" : "before");
        assert_int_equal(model->Keywords.count, SUCCEEDED(hr) ? 2 : 0);
    }
    /* At least the allocations of the string, a list item and the list fail. If shrinking a string fails, the string
       keeps its larger block. */
    assert_true(failures >= 3);
    assert_int_equal(put_both(set, after, list), S_OK);
    assert_int_equal(IDataCollectorSet_put_Keywords(set, bad_list), E_INVALIDARG);
    assert_int_equal(model->Keywords.count, 2);
    assert_string_equal(model->Keywords.items[0], "a");
    assert_int_equal(IDataCollectorSet_put_Security(set, nonsense), E_INVALIDARG);
    assert_string_equal(model->Security, SET_DEFAULT_SECURITY);
    SafeArrayDestroy(bad_list);
    SafeArrayDestroy(list);
    SysFreeString(nonsense);
    SysFreeString(after);
    IDataCollectorSet_Release(set);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_copies_values_once),
        cmocka_unit_test(failed_put_changes_nothing),
    };
    CoInitializeEx(NULL, COINIT_MULTITHREADED);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    CoUninitialize();
    return failed;
}
