/* SPDX-License-Identifier: MIT */
/* How the tests reach the COM objects: in process through this program's manifest, with the engine in this process; in
   process as registered, with the work done in the server; or in the registered server. Calls are typed (vtable) or
   late-bound (by name, as scripts call). */
#ifndef OPENPLA_TEST_CLIENT_H
#define OPENPLA_TEST_CLIENT_H

#include "engine/base/wintypes.h"
#include "mspla.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windows.h>
#include <cmocka.h>
#include <ole2.h>

enum client_way { CLIENT_IN_PROCESS, CLIENT_FACADE, CLIENT_LOCAL_SERVER };
extern bool in_process; /* whether the objects of the four client classes are created in process */
extern bool own_store;  /* true if only this program stores sets in the store */

/* Returns the way of access that the program's only argument selects: in-process, facade or local-server. For any other
   argument, returns -1 and writes a line to stderr. */
int client_way_of(int argc, char **argv);
/* Enters the multithreaded apartment. With CLIENT_IN_PROCESS, it also activates the manifest for this thread and uses a
   separate store folder. On failure, returns false and writes a line to stderr. */
bool client_begin(enum client_way way);
/* Leaves COM. Returns false if the module reports that objects are still alive (in process only). */
bool client_end(void);
/* Removes the folder and its contents; ignores files that cannot be deleted. */
void remove_tree(const WCHAR *folder);
/* Activates the manifest in an additional thread. */
void client_thread_begin(DWORD apartment);
void client_thread_end(void);

void *create(REFCLSID class_id, REFIID iid);
IDataCollectorSet *new_set(void);
IDataCollectorCollection *collectors_of(IDataCollectorSet *set);
/* Creates a counter collector with this name and one counter. It belongs to no set. */
IPerformanceCounterDataCollector *new_collector(IDataCollectorSet *set, const WCHAR *name);
IPerformanceCounterDataCollector *added_collector(IDataCollectorSet *set, const WCHAR *name);
/* Creates a value map: SetXml's validation map. */
IValueMap *new_map(void);
IValueMapItem *new_item(IValueMap *map, const WCHAR *key, const VARIANT *value);
/* Commits under a name reserved for tests; delete_test_sets deletes these sets. */
HRESULT commit(IDataCollectorSet *set, const WCHAR *name, LONG mode, IValueMap **issues);
void delete_test_sets(void);
void release(void *object);

/* Description of the latest failed call (from IErrorInfo or EXCEPINFO), in UTF-8; "" if none. */
extern char said[2048];
/* Fetches the thread's IErrorInfo into `said`; returns hr. */
HRESULT heard(HRESULT hr);
void assert_message_(const char *part, const char *file, int line);
#define assert_message(part) assert_message_(part, __FILE__, __LINE__)
void assert_hr_(HRESULT hr, HRESULT expected, const char *call, const char *file, int line);
#define assert_hr(call, expected) assert_hr_(call, expected, #call, __FILE__, __LINE__)
#define assert_ok(call)           assert_hr_(call, S_OK, #call, __FILE__, __LINE__)
/* Checks the error message of a vtable call, but only in process: Wine does not pass it to another process. */
#define assert_vtable_said(part)                                                                                       \
    do {                                                                                                               \
        if (in_process)                                                                                                \
            assert_message(part);                                                                                      \
    } while (0)

/* Late-bound calls. They return the method's result; on failure, the result comes from the EXCEPINFO. Arguments are
   borrowed and in call order. */
HRESULT invoke(void *object, const WCHAR *name, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count);
HRESULT invoke_id(void *object, DISPID id, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count);
HRESULT get(void *object, const WCHAR *name, VARIANT *result);
HRESULT put(void *object, const WCHAR *name, VARIANT value); /* takes ownership of the value */
HRESULT call(void *object, const WCHAR *method);             /* without arguments */
/* Compares the property, which must exist, with the expected string. */
bool text_is(void *object, const WCHAR *name, const WCHAR *expected);
ULONG number_of(void *object, const WCHAR *name); /* of any type that fits a ULONG */
/* Returns a reference to the dispatch interface of the object that a property or a method without arguments returns. */
void *member(void *object, const WCHAR *name);
/* Returns Item(index) of a collection. */
void *item_at(void *collection, LONG index);
/* Creates a collector with this type and name, in no set, and returns its type-specific interface. */
void *named_collector(IDataCollectorSet *set, LONG type, const WCHAR *name);
/* Returns whether a validation map contains `value` for the property. print_map prints the map. */
bool map_says(void *map, const WCHAR *key, HRESULT value);
void print_map(void *map);

VARIANT of_long(LONG n);
VARIANT of_text(const WCHAR *text);
VARIANT of_object(void *object); /* adds a reference */
/* Creates an array of strings, as VT_BSTR or VT_VARIANT. */
SAFEARRAY *text_array(VARTYPE type, const WCHAR *const *texts, UINT count);
VARIANT of_array(VARTYPE type, const WCHAR *const *texts, UINT count);
bool array_is(SAFEARRAY *array, const WCHAR *const *texts, UINT count);
/* Returns whether `text` contains `part`; frees `text`. */
bool bstr_has(BSTR text, const WCHAR *part);
bool bstr_is(BSTR text, const WCHAR *expected);
BSTR xml_of(IDataCollectorSet *set);

/* Test groups; each returns its number of failed tests. */
int identity_tests(void);
int property_tests(void);
int value_tests(void);
int collection_tests(void);
int value_map_tests(void);
int xml_tests(void);
int set_tests(void);
int six_collection_tests(void);
int provider_tests(void);
int collector_kind_tests(void);
int client_object_tests(void);

#endif
