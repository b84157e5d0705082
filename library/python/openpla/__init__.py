# SPDX-License-Identifier: MIT
"""Reads Windows' performance logs and event traces, on Linux, without Windows or Wine.

    import openpla
    frame = openpla.read("x.blg")            # a pandas.DataFrame where pandas is installed, else a Table
    for event in openpla.events("x.etl"):    # dictionaries
        print(event["time"], event["provider"], event["fields"])

The module calls libopenpla-logs.so.0 through ctypes. Set OPENPLA_LOGS_LIBRARY to use another file.
"""
import ctypes
import datetime
import os
import warnings

from . import _library
from ._library import Error

__all__ = ["Error", "Events", "LogWarning", "Table", "counters", "events", "info", "read", "version"]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_FILETIME = 116444736000000000
_DECODE = "replace"


class LogWarning(UserWarning):
    """A log is partly corrupt, or a pattern matches none of its counters."""


class Table:
    """The formatted values of a log, for use without pandas.

    times: nanoseconds since 1970-01-01 UTC; columns: a dictionary that maps a counter path to its values (NaN if a sample
    has no value). Times and values are numpy arrays if numpy is installed, otherwise array.array objects."""

    def __init__(self, times, columns):
        self.times = times
        self.columns = columns

    def __len__(self):
        return len(self.times)

    def __repr__(self):
        return f"<openpla.Table: {len(self.times)} samples, {len(self.columns)} counters>"


def version():
    """Returns the version of libopenpla-logs, such as "0.1.0"."""
    return _library.load().openpla_logs_version().decode()


def _text(value):
    return None if value is None else value.decode("utf-8", _DECODE)


def _filetime(when, other):
    """Converts a datetime (UTC if it has no zone), an ISO 8601 text or a pandas.Timestamp to a FILETIME; None becomes
    `other`."""
    if when is None:
        return other
    if isinstance(when, str):
        when = datetime.datetime.fromisoformat(when.replace("Z", "+00:00"))
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return _EPOCH_FILETIME + (when - _EPOCH) // datetime.timedelta(microseconds=1) * 10


def _datetime(filetime):
    """Converts a FILETIME to a datetime in UTC, truncated to microseconds; None if it is out of a datetime's range."""
    try:
        return _EPOCH + datetime.timedelta(microseconds=(filetime - _EPOCH_FILETIME) // 10)
    except OverflowError:
        return None


def _path(path):
    return os.fspath(path).encode() if not isinstance(path, bytes) else path


def _strings(texts):
    """Returns a ctypes array of strings and their number."""
    items = [text.encode() for text in ([texts] if isinstance(texts, str) else texts or ())]
    return (ctypes.c_char_p * len(items))(*items) if items else None, len(items)


class _Handle:
    """An open log or trace, closed at the end of a `with` block."""

    def __init__(self, kind, path, options):
        self.library = _library.load()
        self.kind = kind
        self.handle = ctypes.c_void_p()
        self.call("open", _path(path), ctypes.byref(options), ctypes.byref(self.handle), handle=False)

    def call(self, name, *arguments, handle=True):
        """Calls openpla_<kind>_<name>. Returns True for OPENPLA_OK and False for OPENPLA_END."""
        function = getattr(self.library, f"openpla_{self.kind}_{name}")
        return _library.check(self.library, function(self.handle, *arguments) if handle else function(*arguments))

    def warn(self, shown, level):
        """Issues the warnings from index `shown` on, and returns the number of all warnings."""
        text = ctypes.c_char_p()
        while self.call("get_warning", shown, ctypes.byref(text)):
            warnings.warn(_text(text.value), LogWarning, stacklevel=level + 1)
            shown += 1
        return shown

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            _library.check(self.library, getattr(self.library, f"openpla_{self.kind}_close")(handle))


def _open_log(path, counters, begin, end, flags):
    patterns, count = _strings(counters)
    options = _library.LogOptions(ctypes.sizeof(_library.LogOptions), flags, patterns, count)
    if begin is not None or end is not None:
        options.begin = _filetime(begin, _library.TIME_MIN)
        options.end = _filetime(end, _library.TIME_MAX)
    return _Handle("log", path, options)


def _counters(log):
    count = ctypes.c_size_t()
    log.call("get_counter_count", ctypes.byref(count))
    counter = ctypes.POINTER(_library.Counter)()
    for index in range(count.value):
        log.call("get_counter", index, ctypes.byref(counter))
        yield counter.contents


def _paths(log):
    """Returns the counter paths. Paths can be equal if the counters differ in type; all but the first get a number."""
    seen, paths = {}, []
    for counter in _counters(log):
        path = _text(counter.path)
        seen[path] = seen.get(path, 0) + 1
        paths.append(path if seen[path] == 1 else f"{path} ({seen[path]})")
    return paths


def counters(path, counters=None):
    """Returns the counters of a log as dictionaries with the keys path, computer, object, parent, instance, index,
    counter, type, time_base and default_scale."""
    names = [name for name, _ in _library.Counter._fields_]
    with _open_log(path, counters, None, None, 0) as log:
        found = [{name: _text(value) if isinstance(value, bytes) else value
                  for name, value in ((name, getattr(counter, name)) for name in names)} for counter in _counters(log)]
        log.warn(0, 2)
    return found


def info(path):
    """Returns a log's format, computer, comment, zone, bias_minutes, samples, begin and end as a dictionary."""
    with _open_log(path, None, None, None, 0) as log:
        found = ctypes.POINTER(_library.LogInfo)()
        log.call("get_info", ctypes.byref(found))
        of = found.contents
        result = {"path": _text(of.path), "format": _text(of.format_name), "computer": _text(of.computer),
                  "comment": _text(of.comment), "zone": _text(of.zone), "bias_minutes": of.bias_minutes,
                  "samples": of.samples, "begin": _datetime(of.begin) if of.samples else None,
                  "end": _datetime(of.end) if of.samples else None}
        log.warn(0, 2)
    return result


def _numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _block(numpy, library, table):
    """Returns the values as a numpy array with a row per counter, without copying them, and the times in
    nanoseconds."""
    of = table.contents
    shape = (of.counters, of.stride)
    if not of.samples or not of.counters:
        values = numpy.empty((of.counters, of.samples))
        times = numpy.empty(of.samples, "int64")
        if of.samples:
            times[:] = numpy.ctypeslib.as_array(of.times, (of.samples,))
        library.openpla_table_free(table)
    else:
        owner = _library.TableOwner(library, table)
        values = numpy.asarray(owner.values(shape))[:, :of.samples]
        times = numpy.array(numpy.ctypeslib.as_array(of.times, (of.samples,)))
    low, high = -(2 ** 63 // 100) + _EPOCH_FILETIME, 2 ** 63 // 100 + _EPOCH_FILETIME
    times = (numpy.clip(times, low + 1, high - 1) - _EPOCH_FILETIME) * 100
    return values, times


def _plain_table(library, table, paths):
    """Returns the table without numpy: the columns are copied with one call each."""
    import array
    of = table.contents
    columns = {}
    for index, path in enumerate(paths):
        column = array.array("d")
        if of.samples:
            column.frombytes(ctypes.string_at(ctypes.addressof(of.values.contents) + 8 * index * of.stride,
                                              8 * of.samples))
        columns[path] = column
    times = array.array("q", (library.openpla_time_to_unix_ns(of.times[row]) for row in range(of.samples)))
    library.openpla_table_free(table)
    return Table(times, columns)


def _frame(pandas, values, times, paths):
    index = pandas.DatetimeIndex(times.view("datetime64[ns]"), name="time").tz_localize("UTC")
    return pandas.DataFrame(values.T, index=index, columns=paths, copy=False)


def read(path, counters=None, begin=None, end=None, pandas=None, max_values=0):
    """Reads a performance log (BLG, CSV, TSV or "SQL:DSN!SET"; a name with * and ? reads several) into columns.

    Returns a pandas.DataFrame with the times in UTC as its index and a column per counter; or a Table if pandas is
    False or not installed. pandas=True requires pandas. counters: a path or several paths, with the wildcards * and ?;
    only matching counters are read. begin, end: a datetime (UTC if it has no zone) or an ISO 8601 text; both are
    inclusive. max_values: a log with more values raises Error; 0 means 2**29 values (4 GiB). Corrupt parts of a log,
    and patterns that match nothing, are reported as LogWarning."""
    module = None
    if pandas is None or pandas:
        try:
            import pandas as module
        except ImportError:
            if pandas:
                raise
    with _open_log(path, counters, begin, end, _library.LOG_STREAM) as log:
        table = ctypes.POINTER(_library.LogTable)()
        log.call("read_table", max_values, ctypes.byref(table))
        library = log.library
        try:
            paths = _paths(log)
            log.warn(0, 2)
        except BaseException:
            library.openpla_table_free(table)
            raise
    numpy = _numpy()
    if numpy is None:
        return _plain_table(library, table, paths)
    values, times = _block(numpy, library, table)
    if module is not None:
        return _frame(module, values, times, paths)
    return Table(times, dict(zip(paths, values)))


def _field_values(event):
    """Returns the fields of an event as a dictionary; arrays become lists, structs become dictionaries."""
    fields, position = event.fields, 0
    kinds = _library

    def put(container, name, value):
        if isinstance(container, list):
            container.append(value)
        else:
            key, number = name or "", 2
            while key in container:  # two fields have the same name
                key, number = f"{name} ({number})", number + 1
            container[key] = value

    stack = [{}]
    while position < event.field_count:
        field = fields[position]
        position += 1
        kind = field.kind
        if kind == kinds.FIELD_END:
            if len(stack) > 1:
                stack.pop()
            continue
        name = _text(field.name)
        if kind in (kinds.FIELD_ARRAY, kinds.FIELD_STRUCT):
            value = [] if kind == kinds.FIELD_ARRAY else {}
            put(stack[-1], name, value)
            stack.append(value)
            continue
        if kind == kinds.FIELD_INTEGER:
            value = field.integer
        elif kind == kinds.FIELD_UNSIGNED:
            value = field.integer & 0xFFFFFFFFFFFFFFFF
        elif kind == kinds.FIELD_REAL:
            value = field.real
        elif kind == kinds.FIELD_BOOL:
            value = bool(field.integer)
        else:
            value = _text(field.text)
        put(stack[-1], name, value)
    return stack[0]


def _event(of):
    event = {
        "time": _datetime(of.time), "time_ns": (of.time - _EPOCH_FILETIME) * 100,
        "process": of.process, "thread": of.thread, "processor": of.processor,
        "provider": _text(of.provider), "provider_id": _text(of.provider_id), "event": _text(of.event),
        "id": of.id, "version": of.version, "task": _text(of.task), "opcode": _text(of.opcode_name),
        "opcode_number": of.opcode, "level": of.level, "keywords": of.keywords, "activity": _text(of.activity_id),
    }
    if of.message is not None:
        event["message"] = _text(of.message)
    event["fields"] = _field_values(of)
    if of.reason is not None:
        event["undecoded"] = {"reason": _text(of.reason), "data": ctypes.string_at(of.data, of.data_size) if of.data_size else b""}
    return event


def events(path, manifests=(), programs=None, formats=None, format_folders=None, begin=None, end=None):
    """Iterates over the events of a trace (ETL; a name with * and ? reads several) as dictionaries, in time order.

    Keys: time, time_ns, process, thread, processor, provider, provider_id, event, id, version, task, opcode,
    opcode_number, level, keywords, activity, and fields (a dictionary). WPP events also have message. An event without
    a matching definition has undecoded, with the reason and the bytes. manifests: manifest files or folders; programs:
    programs that contain manifests; formats: TMF files; format_folders: folders of TMF files. The last three are
    separated by ';'. begin, end: as for read."""
    items, count = _strings(manifests)
    options = _library.TraceOptions(ctypes.sizeof(_library.TraceOptions), items, count,
                                    *(text.encode() if text else None for text in (programs, formats, format_folders)))
    if begin is not None or end is not None:
        options.begin = _filetime(begin, _library.TIME_MIN)
        options.end = _filetime(end, _library.TIME_MAX)
    return Events(_Handle("trace", path, options))


class Events:
    """Iterates over the events of a trace. The trace is closed at its end, by close(), or with the object."""

    def __init__(self, trace):
        self._trace = trace
        self._event = ctypes.POINTER(_library.Event)()

    def __iter__(self):
        return self

    def __next__(self):
        if self._trace is None:
            raise StopIteration
        if not self._trace.call("next", ctypes.byref(self._event)):
            self._trace.warn(0, 2)
            self.close()
            raise StopIteration
        return _event(self._event.contents)

    def close(self):
        """Closes the trace and ends the iteration."""
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()
