/* SPDX-License-Identifier: MIT */
/* How the tests of the objects reach them: in process through this program's manifest, with the engine in this process;
   in process as registered, where the server does the work; or in the registered server. Typed through the vtable, or
   by name as scripts call. */
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
extern bool in_process; /* the objects of the four classes for clients are */
extern bool own_store;  /* no other program stores sets in it */

/* The way that the program's one argument names: in-process, facade or local-server; -1, with a line on stderr, for
   anything else. */
int client_way_of(int argc, char **argv);
/* Enters the multithreaded apartment. CLIENT_IN_PROCESS: the manifest is in force for this thread, and the store is an
   own folder. False, with a line on stderr, when that fails. */
bool client_begin(enum client_way way);
/* Leaves COM. False if the module says that objects are still alive (in process only). */
bool client_end(void);
/* Removes the folder and its contents, as far as possible. */
void remove_tree(const WCHAR *folder);
/* The manifest for a further thread. */
void client_thread_begin(DWORD apartment);
void client_thread_end(void);

void *create(REFCLSID class_id, REFIID iid);
IDataCollectorSet *new_set(void);
IDataCollectorCollection *collectors_of(IDataCollectorSet *set);
/* A counter collector with this name and one counter. It is in no set. */
IPerformanceCounterDataCollector *new_collector(IDataCollectorSet *set, const WCHAR *name);
IPerformanceCounterDataCollector *added_collector(IDataCollectorSet *set, const WCHAR *name);
/* A value map: the one that SetXml gives. */
IValueMap *new_map(void);
IValueMapItem *new_item(IValueMap *map, const WCHAR *key, const VARIANT *value);
/* Commits with a name of the tests' own; the sets are deleted by delete_test_sets. */
HRESULT commit(IDataCollectorSet *set, const WCHAR *name, LONG mode, IValueMap **issues);
void delete_test_sets(void);
void release(void *object);

/* What went with the latest failing call, as UTF-8: IErrorInfo's or EXCEPINFO's description, "" if none. */
extern char said[2048];
/* Fetches the thread's IErrorInfo into `said`; returns hr. */
HRESULT heard(HRESULT hr);
void assert_said_(const char *part, const char *file, int line);
#define assert_said(part) assert_said_(part, __FILE__, __LINE__)
void assert_hr_(HRESULT hr, HRESULT expected, const char *call, const char *file, int line);
#define assert_hr(call, expected) assert_hr_(call, expected, #call, __FILE__, __LINE__)
#define assert_ok(call)           assert_hr_(call, S_OK, #call, __FILE__, __LINE__)
/* Whether an error text of a vtable call is to be had: Wine's out-of-process calls do not carry it. */
#define assert_vtable_said(part)                                                                                       \
    do {                                                                                                               \
        if (in_process)                                                                                                \
            assert_said(part);                                                                                         \
    } while (0)

/* Late-bound calls. They return the method's result; after a failure it is taken from the EXCEPINFO. Arguments in the
   order of the call, borrowed. */
HRESULT invoke(void *object, const WCHAR *name, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count);
HRESULT invoke_id(void *object, DISPID id, WORD flags, VARIANT *result, const VARIANT *arguments, UINT count);
HRESULT get(void *object, const WCHAR *name, VARIANT *result);
HRESULT put(void *object, const WCHAR *name, VARIANT value); /* takes the value over */
HRESULT call(void *object, const WCHAR *method);             /* without arguments */
/* A property's value, which must be there. */
bool text_is(void *object, const WCHAR *name, const WCHAR *expected);
ULONG number_of(void *object, const WCHAR *name); /* any number that fits */
/* The object that a property or a method without arguments returns, as a reference to its dispatch interface. */
void *member(void *object, const WCHAR *name);
/* Item(index) of a collection. */
void *item_at(void *collection, LONG index);
/* A new collector of this type and name, in no set; its own interface. */
void *named_collector(IDataCollectorSet *set, LONG type, const WCHAR *name);
/* Whether a validation map says `value` of the property; print_map shows what it says. */
bool map_says(void *map, const WCHAR *key, HRESULT value);
void print_map(void *map);

VARIANT of_long(LONG n);
VARIANT of_text(const WCHAR *text);
VARIANT of_object(void *object); /* a separate reference */
/* An array of texts: VT_BSTR or VT_VARIANT. */
SAFEARRAY *text_array(VARTYPE type, const WCHAR *const *texts, UINT count);
VARIANT of_array(VARTYPE type, const WCHAR *const *texts, UINT count);
bool array_is(SAFEARRAY *array, const WCHAR *const *texts, UINT count);
/* Whether it holds `part`; `text` is freed. */
bool bstr_has(BSTR text, const WCHAR *part);
bool bstr_is(BSTR text, const WCHAR *expected);
BSTR xml_of(IDataCollectorSet *set);

/* The parts of the suite; each returns the number of its failed tests. */
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
