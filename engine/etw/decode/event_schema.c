/* SPDX-License-Identifier: MIT */
/* Checks the consistency of event schemas, finds their maps, and frees them. */
#include "engine/etw/decode/event_schema.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"

#include <string.h>

/* Returns whether the type can hold a length or count: integers of one to eight bytes, HexInt32 and HexInt64. */
static bool is_integer(uint16_t in_type)
{
    return (in_type >= 3 && in_type <= 10) || in_type == 20 || in_type == 21;
}

void event_map_clear(struct event_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        memory_free(map->entries[i].input);
        memory_free(map->entries[i].text);
    }
    memory_free(map->entries);
    memory_free(map->name);
    *map = (struct event_map){0};
}

void event_schema_free(struct event_schema *schema)
{
    if (!schema)
        return;
    char *const texts[] = {schema->provider_name, schema->level_name,       schema->channel_name,
                           schema->task_name,     schema->opcode_name,      schema->event_name,
                           schema->event_message, schema->provider_message, schema->event_attributes,
                           schema->user_data};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        memory_free(texts[i]);
    for (size_t i = 0; i < schema->keyword_count; i++)
        memory_free(schema->keyword_names[i]);
    memory_free(schema->keyword_names);
    for (size_t i = 0; i < schema->property_count; i++) {
        memory_free(schema->properties[i].name);
        memory_free(schema->properties[i].map);
        memory_free(schema->properties[i].custom);
    }
    memory_free(schema->properties);
    for (size_t i = 0; i < schema->map_count; i++)
        event_map_clear(&schema->maps[i]);
    memory_free(schema->maps);
    if (schema->message)
        tmf_message_clear(schema->message);
    memory_free(schema->message);
    memory_free(schema);
}

const struct event_map *event_schema_map(const struct event_schema *schema, const char *name)
{
    for (size_t i = 0; name && i < schema->map_count; i++)
        if (strcmp(schema->maps[i].name, name) == 0)
            return &schema->maps[i];
    return NULL;
}

bool event_property_is_shown(const struct event_property *property)
{
    return property->out_type != OUT_TYPE_NOPRINT || (property->flags & PROPERTY_STRUCT) != 0;
}

static bool says_number(const struct event_schema *schema, size_t index, size_t before)
{
    const uint32_t several = PROPERTY_STRUCT | PROPERTY_PARAM_COUNT | PROPERTY_FIXED_COUNT;
    return index < before && (schema->properties[index].flags & several) == 0 &&
           is_integer(schema->properties[index].in_type);
}

HRESULT event_schema_check(const struct event_schema *schema)
{
    const char *wrong = NULL;
    size_t i = 0;
    if (schema->top_level > schema->property_count)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "invalid event schema: %u properties in total, but %u at the top level",
                         schema->property_count, schema->top_level);
    for (; !wrong && i < schema->property_count; i++) {
        const struct event_property *p = &schema->properties[i];
        if (!p->name)
            wrong = "name";
        else if ((p->flags & PROPERTY_PARAM_COUNT) != 0 && !says_number(schema, p->count, i))
            wrong = "count";
        else if ((p->flags & PROPERTY_PARAM_LENGTH) != 0 && !says_number(schema, p->length, i))
            wrong = "length";
        else if (p->map && !event_schema_map(schema, p->map))
            wrong = "map";
        else if ((p->flags & PROPERTY_STRUCT) != 0 && (p->first_member < schema->top_level || p->first_member <= i ||
                                                       (size_t)p->first_member + p->members > schema->property_count))
            wrong = "members";
    }
    if (wrong)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid event schema: property %u, '%s': invalid %s",
                         (unsigned)(i - 1), schema->properties[i - 1].name ? schema->properties[i - 1].name : "",
                         wrong);
    return S_OK;
}
