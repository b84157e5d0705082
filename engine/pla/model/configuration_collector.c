/* SPDX-License-Identifier: MIT */
/* The configuration data collector: what its rows leave to code. MS-PLA 3.2.4.7. */
#include "engine/pla/model/data_collector.h"

static HRESULT configuration_check_list(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    return check_no_empty_item(p, &in->texts);
}

static HRESULT configuration_check_keys(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    HRESULT hr = check_no_empty_item(p, &in->texts);
    return FAILED(hr) ? hr : check_no_duplicates(p, &in->texts);
}

#define CLASS     configuration_collector
#define INTERFACE IConfigurationDataCollector
#define ROWS      "engine/pla/configuration_collector.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT configuration_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char *const unused[] = {"LogCircular", "LogAppend", NULL};
    (void)o;
    HRESULT hr = collector_validate_name(v, (const struct data_collector *)copy);
    return FAILED(hr) ? hr : validation_unused(v, unused, "a configuration is written once");
}

const struct class configuration_collector_class = {
    .name = "ConfigurationDataCollector",
    CLASS_ROWS(configuration_collector, IConfigurationDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".xml",
    .validate = configuration_validate,
};
