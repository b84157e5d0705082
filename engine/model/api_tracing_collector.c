/* SPDX-License-Identifier: MIT */
/* The API tracing data collector: what its rows leave to code. MS-PLA 3.2.4.10. */
#include "engine/model/data_collector.h"

static const struct property properties[] = {
#define PROPERTY_STRUCT api_tracing_collector
#define PROPERTY        PROPERTY_ROW
#include "engine/model/api_tracing_collector.def"
#undef PROPERTY
#undef PROPERTY_STRUCT
};

static const char *extension(const struct object *o)
{
    (void)o;
    return ".etl";
}

const struct class api_tracing_collector_class = {
    .name = "ApiTracingDataCollector",
    .size = sizeof(struct api_tracing_collector),
    .properties = properties,
    .property_count = IApiTracingDataCollector_count,
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = extension,
};
