/* SPDX-License-Identifier: MIT */
/* show_trace TRACE [MANIFEST]: prints the events of an event trace (ETL) with their fields. Shows how libopenpla-logs
   decodes events.

   Build: cc show_trace.c $(pkg-config --cflags --libs openpla-logs) -o show_trace */
#include <stdio.h>
#include <openpla/logs.h>
#include <time.h>

static int failed(const char *what)
{
    fprintf(stderr, "show_trace: %s: %s\n", what, openpla_error());
    return 1;
}

static void print_time(int64_t filetime)
{
    const int64_t ns = openpla_time_to_unix_ns(filetime);
    const time_t seconds = (time_t)(ns / 1000000000);
    char text[32];
    struct tm when;
    if (gmtime_r(&seconds, &when) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &when) > 0)
        printf("%s.%07lldZ", text, (long long)(ns % 1000000000 / 100));
}

static void print_fields(const struct openpla_event *event)
{
    int depth = 1;
    for (size_t i = 0; i < event->field_count; i++) {
        const struct openpla_field *field = &event->fields[i];
        if (field->kind == OPENPLA_FIELD_END) {
            depth--;
            continue;
        }
        printf("%*s%s%s%s\n", 2 * depth, "", field->name ? field->name : "-", field->text ? " = " : "",
               field->text ? field->text : "");
        depth += field->kind == OPENPLA_FIELD_ARRAY || field->kind == OPENPLA_FIELD_STRUCT;
    }
}

int main(int argc, char **argv)
{
    const char *const *manifests = (const char *const *)argv + 2;
    const struct openpla_trace_options options = {
        .size = sizeof options, .manifests = manifests, .manifest_count = argc > 2};
    const struct openpla_event *event;
    const char *warning;
    openpla_trace *trace;
    openpla_result result;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: show_trace TRACE [MANIFEST]\n");
        return 2;
    }
    if (openpla_trace_open(argv[1], &options, &trace) < 0)
        return failed("open");
    while ((result = openpla_trace_next(trace, &event)) == OPENPLA_OK) {
        print_time(event->time);
        printf(" %s/%s id %u, process %lu\n", event->provider ? event->provider : event->provider_id,
               event->event         ? event->event
               : event->opcode_name ? event->opcode_name
                                    : "?",
               event->id, (unsigned long)event->process);
        if (event->message)
            printf("  %s\n", event->message);
        if (event->reason)
            printf("  not decoded: %s\n", event->reason);
        print_fields(event);
    }
    if (result < 0)
        return failed("read");
    for (size_t i = 0; openpla_trace_get_warning(trace, i, &warning) == OPENPLA_OK; i++)
        fprintf(stderr, "show_trace: %s\n", warning);
    return openpla_trace_close(trace) < 0 ? failed("close") : 0;
}
