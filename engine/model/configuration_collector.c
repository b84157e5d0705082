/* SPDX-License-Identifier: MIT */
/* The configuration data collector: what its rows leave to code. MS-PLA 3.2.4.7. */
#include "engine/model/data_collector.h"

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

static const struct property properties[] = {
#define PROPERTY_STRUCT configuration_collector
#define PROPERTY        PROPERTY_ROW
#include "engine/model/configuration_collector.def"
#undef PROPERTY
#undef PROPERTY_STRUCT
};

static const char *extension(const struct object *o)
{
    (void)o;
    return ".xml";
}

const struct class configuration_collector_class = {
    .name = "ConfigurationDataCollector",
    .size = sizeof(struct configuration_collector),
    .properties = properties,
    .property_count = IConfigurationDataCollector_count,
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = extension,
};
