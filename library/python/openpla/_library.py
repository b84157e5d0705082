# SPDX-License-Identifier: MIT
"""The functions and structures of openpla/logs.h, declared for ctypes."""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64
from ctypes import c_void_p

LOG_STREAM = 1
TIME_MIN, TIME_MAX = -(2 ** 63), 2 ** 63 - 1
(FIELD_TEXT, FIELD_INTEGER, FIELD_UNSIGNED, FIELD_REAL, FIELD_BOOL, FIELD_ARRAY, FIELD_STRUCT, FIELD_END) = range(8)
NO_FILE, ACCESS = (0x80070002, 0x80070003), 0x80070005


class LogOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("counters", POINTER(c_char_p)), ("counter_count", c_size_t),
                ("begin", c_int64), ("end", c_int64)]


class LogInfo(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("format_name", c_char_p), ("computer", c_char_p), ("comment", c_char_p),
                ("zone", c_char_p), ("bias_minutes", c_int32), ("format", c_int32), ("samples", c_uint64),
                ("begin", c_int64), ("end", c_int64)]


class Counter(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("computer", c_char_p), ("object", c_char_p), ("parent", c_char_p),
                ("instance", c_char_p), ("counter", c_char_p), ("index", c_uint32), ("type", c_uint32),
                ("time_base", c_int64), ("default_scale", c_int32)]


class LogTable(ctypes.Structure):
    _fields_ = [("samples", c_size_t), ("counters", c_size_t), ("stride", c_size_t), ("times", POINTER(c_int64)),
                ("values", POINTER(c_double))]


class TraceOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("manifests", POINTER(c_char_p)), ("manifest_count", c_size_t),
                ("programs", c_char_p), ("formats", c_char_p), ("format_folders", c_char_p), ("begin", c_int64),
                ("end", c_int64)]


class Field(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("integer", c_int64), ("real", c_double), ("kind", c_int32)]


class Event(ctypes.Structure):
    _fields_ = [("time", c_int64), ("keywords", c_uint64), ("provider", c_char_p), ("provider_id", c_char_p),
                ("activity_id", c_char_p), ("event", c_char_p), ("task", c_char_p), ("opcode_name", c_char_p),
                ("level_name", c_char_p), ("message", c_char_p), ("reason", c_char_p), ("fields", POINTER(Field)),
                ("field_count", c_size_t), ("data", c_void_p), ("data_size", c_size_t), ("process", c_uint32),
                ("thread", c_uint32), ("processor", c_uint32), ("id", c_uint16), ("task_number", c_uint16),
                ("version", c_uint8), ("channel", c_uint8), ("level", c_uint8), ("opcode", c_uint8)]


# Function name: argument types. All functions return an openpla_result.
FUNCTIONS = {
    "openpla_log_open": [c_char_p, POINTER(LogOptions), POINTER(c_void_p)],
    "openpla_log_get_info": [c_void_p, POINTER(POINTER(LogInfo))],
    "openpla_log_get_counter_count": [c_void_p, POINTER(c_size_t)],
    "openpla_log_get_counter": [c_void_p, c_size_t, POINTER(POINTER(Counter))],
    "openpla_log_get_warning": [c_void_p, c_size_t, POINTER(c_char_p)],
    "openpla_log_read_table": [c_void_p, c_uint64, POINTER(POINTER(LogTable))],
    "openpla_log_close": [c_void_p],
    "openpla_trace_open": [c_char_p, POINTER(TraceOptions), POINTER(c_void_p)],
    "openpla_trace_next": [c_void_p, POINTER(POINTER(Event))],
    "openpla_trace_get_warning": [c_void_p, c_size_t, POINTER(c_char_p)],
    "openpla_trace_close": [c_void_p],
}

_loaded = None


class Error(OSError):
    """A call of the library failed: `code` is the HRESULT as an unsigned number; the message names the file."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class FileNotFound(Error, FileNotFoundError):
    """The log does not exist."""


class AccessDenied(Error, PermissionError):
    """The log cannot be read by this user."""


def load():
    """Returns the library, which is loaded at the first call."""
    global _loaded
    if _loaded is None:
        library = ctypes.CDLL(os.environ.get("OPENPLA_LOGS_LIBRARY") or "libopenpla-logs.so.0")
        for name, types in FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes = types
            function.restype = c_int32
        for name in ("openpla_error", "openpla_logs_version"):
            getattr(library, name).argtypes = []
            getattr(library, name).restype = c_char_p
        library.openpla_time_to_unix_ns.argtypes = [c_int64]
        library.openpla_time_to_unix_ns.restype = c_int64
        library.openpla_table_free.argtypes = [POINTER(LogTable)]
        library.openpla_table_free.restype = None
        _loaded = library
    return _loaded


def check(library, result):
    """Returns True for OPENPLA_OK and False for OPENPLA_END; otherwise raises Error."""
    if result >= 0:
        return result == 0
    code = result & 0xFFFFFFFF
    kind = FileNotFound if code in NO_FILE else AccessDenied if code == ACCESS else Error
    raise kind(library.openpla_error().decode("utf-8", "replace"), code)


class TableOwner:
    """Keeps a table alive until the last numpy array of its values is freed."""

    def __init__(self, library, table):
        self.library = library
        self.table = table

    def values(self, shape):
        """Returns an object with numpy's array interface that keeps this object alive."""
        address = ctypes.addressof(self.table.contents.values.contents)
        self.__array_interface__ = {"shape": shape, "typestr": "<f8", "data": (address, False), "version": 3}
        return self

    def __del__(self):
        self.library.openpla_table_free(self.table)
