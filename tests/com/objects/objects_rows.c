/* SPDX-License-Identifier: MIT */
/* The rows of every object's properties, from the engine's .def files. */
#include "tests/com/objects/objects_rows.h"

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#define KIND_BOOL      .kind = BOOL_
#define KIND_I32       .kind = I32_
#define KIND_U32       .kind = U32_
#define KIND_ENUM(E)   .kind = ENUM_, .enumeration = #E
#define KIND_FLAGS(E)  .kind = FLAGS_, .enumeration = #E
#define KIND_TEXT      .kind = TEXT_
#define KIND_TEXTS     .kind = TEXTS_
#define KIND_U64       .kind = U64_
#define KIND_BYTES     .kind = BYTES_
#define KIND_GUID      .kind = GUID_
#define KIND_DATE      .kind = DATE_
#define KIND_TIME      .kind = TIME_
#define KIND_VARIANT   .kind = VARIANT_
#define KIND_OBJECT(C) .kind = OBJECT_
#define TYPE_BOOL      VARIANT_BOOL
#define TYPE_I32       LONG
#define TYPE_U32       ULONG
#define TYPE_ENUM(E)   E
#define TYPE_FLAGS(E)  E
#define TYPE_TEXT      BSTR
#define TYPE_TEXTS     LPSAFEARRAY
#define TYPE_U64       ULONG64
#define TYPE_BYTES     LPSAFEARRAY
#define TYPE_GUID      GUID
#define TYPE_DATE      VARIANT
#define TYPE_TIME      VARIANT
#define TYPE_VARIANT   VARIANT
#define TYPE_OBJECT(C) IUnknown *

#define CALL_GET(Name)                                                                                                 \
    static HRESULT JOIN(INTERFACE, _typed_get_, Name)(void *o, void *out)                                              \
    {                                                                                                                  \
        return ((INTERFACE *)o)->lpVtbl->get_##Name(o, out);                                                           \
    }
#define CALL_PUT(kind, Name)                                                                                           \
    static HRESULT JOIN(INTERFACE, _typed_put_, Name)(void *o, const void *in)                                         \
    {                                                                                                                  \
        return ((INTERFACE *)o)->lpVtbl->put_##Name(o, *(const TYPE_##kind *)in);                                      \
    }
#define CALLS_NONE(kind, Name)
#define CALLS_RO(kind, Name)           CALL_GET(Name)
#define CALLS_RW(kind, Name)           CALL_GET(Name) CALL_PUT(kind, Name)
#define CALLS(access, kind, Name, ...) CALLS_##access(kind, Name)

#define NUMBER(n)                      .number = (n)
#define STRING(t)                      .text = (t)
#define EMPTY                          .number = 0
#define RANGE(lo, hi)                  , .min = (lo), .max = (hi)
/* A default with a range expands to several initialisers. */
#define ROWS_NONE(kind, Name, ...)
#define ROWS_RO(kind, Name, ...) {#Name, KIND_##kind, .get = JOIN(INTERFACE, _typed_get_, Name), __VA_ARGS__},
#define ROWS_RW(kind, Name, ...)                                                                                       \
    {#Name, KIND_##kind, .get = JOIN(INTERFACE, _typed_get_, Name), .put = JOIN(INTERFACE, _typed_put_, Name),         \
     __VA_ARGS__},
#define ROWS(access, kind, Name, xml, default_, hooks, doc) ROWS_##access(kind, Name, default_)

/* clang-format off */
/* behaviour 5: owned by administrators, full access for administrators and SYSTEM, read access for Performance Log
   Users */
#define SET_DEFAULT_SECURITY "O:BAG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-32-559)"

#define PROPERTY CALLS
#define INTERFACE IDataCollectorSet
#include "engine/pla/data_collector_set.def"
#undef INTERFACE
#define INTERFACE IPerformanceCounterDataCollector
#include "engine/pla/performance_counter_collector.def"
#undef INTERFACE
#define INTERFACE ITraceDataCollector
#include "engine/pla/trace_data_collector.def"
#undef INTERFACE
#define INTERFACE IConfigurationDataCollector
#include "engine/pla/configuration_collector.def"
#undef INTERFACE
#define INTERFACE IAlertDataCollector
#include "engine/pla/alert_collector.def"
#undef INTERFACE
#define INTERFACE IApiTracingDataCollector
#include "engine/pla/api_tracing_collector.def"
#undef INTERFACE
#define INTERFACE ITraceDataProvider
#include "engine/pla/trace_data_provider.def"
#undef INTERFACE
#define INTERFACE IDataManager
#include "engine/pla/data_manager.def"
#undef INTERFACE
#define INTERFACE IFolderAction
#include "engine/pla/folder_action.def"
#undef INTERFACE
#define INTERFACE ISchedule
#include "engine/pla/schedule.def"
#undef INTERFACE
#define INTERFACE IValueMap
#include "engine/pla/value_map.def"
#undef INTERFACE
#define INTERFACE IValueMapItem
#include "engine/pla/value_map_item.def"
#undef INTERFACE
#undef PROPERTY

#define PROPERTY ROWS
static const struct row set_rows[] = {
#define INTERFACE IDataCollectorSet
#include "engine/pla/data_collector_set.def"
#undef INTERFACE
};
static const struct row counter_rows[] = {
#define INTERFACE IPerformanceCounterDataCollector
#include "engine/pla/performance_counter_collector.def"
#undef INTERFACE
};
static const struct row trace_rows[] = {
#define INTERFACE ITraceDataCollector
#include "engine/pla/trace_data_collector.def"
#undef INTERFACE
};
static const struct row configuration_rows[] = {
#define INTERFACE IConfigurationDataCollector
#include "engine/pla/configuration_collector.def"
#undef INTERFACE
};
static const struct row alert_rows[] = {
#define INTERFACE IAlertDataCollector
#include "engine/pla/alert_collector.def"
#undef INTERFACE
};
static const struct row api_rows[] = {
#define INTERFACE IApiTracingDataCollector
#include "engine/pla/api_tracing_collector.def"
#undef INTERFACE
};
static const struct row provider_rows[] = {
#define INTERFACE ITraceDataProvider
#include "engine/pla/trace_data_provider.def"
#undef INTERFACE
};
static const struct row manager_rows[] = {
#define INTERFACE IDataManager
#include "engine/pla/data_manager.def"
#undef INTERFACE
};
static const struct row action_rows[] = {
#define INTERFACE IFolderAction
#include "engine/pla/folder_action.def"
#undef INTERFACE
};
static const struct row schedule_rows[] = {
#define INTERFACE ISchedule
#include "engine/pla/schedule.def"
#undef INTERFACE
};
static const struct row map_rows[] = {
#define INTERFACE IValueMap
#include "engine/pla/value_map.def"
#undef INTERFACE
};
static const struct row item_rows[] = {
#define INTERFACE IValueMapItem
#include "engine/pla/value_map_item.def"
#undef INTERFACE
};
#undef PROPERTY
/* clang-format on */

/* Returns the collector of a type through its type-specific interface. */
static void *collector_of_type(LONG type, REFIID iid)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *plain;
    void *collector;
    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, (DataCollectorType)type, &plain));
    assert_ok(IDataCollector_QueryInterface(plain, iid, &collector));
    release(plain);
    release(collectors);
    release(set);
    return collector;
}

static void *fresh_collector(void)
{
    return collector_of_type(plaPerformanceCounter, &IID_IPerformanceCounterDataCollector);
}

static void *fresh_trace(void)
{
    return collector_of_type(plaTrace, &IID_ITraceDataCollector);
}

static void *fresh_configuration(void)
{
    return collector_of_type(plaConfiguration, &IID_IConfigurationDataCollector);
}

static void *fresh_alert(void)
{
    return collector_of_type(plaAlert, &IID_IAlertDataCollector);
}

static void *fresh_api(void)
{
    return collector_of_type(plaApiTrace, &IID_IApiTracingDataCollector);
}

static void *fresh_provider(void)
{
    ITraceDataCollector *collector = fresh_trace();
    ITraceDataProviderCollection *providers;
    ITraceDataProvider *provider;
    assert_ok(ITraceDataCollector_get_TraceDataProviders(collector, &providers));
    assert_ok(ITraceDataProviderCollection_CreateTraceDataProvider(providers, &provider));
    release(providers);
    release(collector);
    return provider;
}

static void *fresh_manager(void)
{
    IDataCollectorSet *set = new_set();
    IDataManager *manager;
    assert_ok(IDataCollectorSet_get_DataManager(set, &manager));
    release(set);
    return manager;
}

static void *fresh_action(void)
{
    IDataManager *manager = fresh_manager();
    IFolderActionCollection *actions;
    IFolderAction *action;
    assert_ok(IDataManager_get_FolderActions(manager, &actions));
    assert_ok(IFolderActionCollection_CreateFolderAction(actions, &action));
    release(actions);
    release(manager);
    return action;
}

static void *fresh_schedule(void)
{
    IDataCollectorSet *set = new_set();
    IScheduleCollection *schedules;
    ISchedule *schedule;
    assert_ok(IDataCollectorSet_get_Schedules(set, &schedules));
    assert_ok(IScheduleCollection_CreateSchedule(schedules, &schedule));
    release(schedules);
    release(set);
    return schedule;
}

static void *fresh_set(void)
{
    return new_set();
}

/* A validation map has the type plaValidation; a program's new map has the default. */
static void *fresh_map(void)
{
    return new_map();
}

static void *fresh_item(void)
{
    IValueMap *map = new_map();
    IValueMapItem *item;
    assert_ok(IValueMap_CreateValueMapItem(map, &item));
    release(map);
    return item;
}

const struct kind_of_object kinds_of_object[] = {
    {fresh_set, set_rows, ARRAYSIZE(set_rows)},
    {fresh_collector, counter_rows, ARRAYSIZE(counter_rows)},
    {fresh_trace, trace_rows, ARRAYSIZE(trace_rows)},
    {fresh_configuration, configuration_rows, ARRAYSIZE(configuration_rows)},
    {fresh_alert, alert_rows, ARRAYSIZE(alert_rows)},
    {fresh_api, api_rows, ARRAYSIZE(api_rows)},
    {fresh_provider, provider_rows, ARRAYSIZE(provider_rows)},
    {fresh_manager, manager_rows, ARRAYSIZE(manager_rows)},
    {fresh_action, action_rows, ARRAYSIZE(action_rows)},
    {fresh_schedule, schedule_rows, ARRAYSIZE(schedule_rows)},
    {fresh_map, map_rows, ARRAYSIZE(map_rows)},
    {fresh_item, item_rows, ARRAYSIZE(item_rows)},
};
const size_t kinds_of_object_count = ARRAYSIZE(kinds_of_object);

bool is_map_type(const struct row *row)
{
    return row->get == IValueMap_typed_get_ValueMapType;
}
