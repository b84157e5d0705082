# SPDX-License-Identifier: MIT
"""A strict parser of Prometheus' text format 0.0.4 and OpenMetrics 1.0."""
import re

from program import check

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"')
SUFFIXES = {"counter": ("_total",), "summary": ("_sum", "_count"), "gauge": ("",), "unknown": ("",), "untyped": ("",)}


class Page:
    """families: name -> type; series: (sample name, labels) -> value."""

    def __init__(self, text, openmetrics):
        self.families, self.units, self.series, self.openmetrics = {}, {}, {}, openmetrics
        lines = text.split("\n")
        check(lines.pop() == "" and "\r" not in text and "" not in lines, "lines end in LF, and none is empty")
        if openmetrics:
            check(lines.pop() == "# EOF", "# EOF is the last line")
        family = None
        for line in lines:
            if line.startswith("#"):
                family = self.metadata(line, family)
            else:
                self.sample(line, family)
        names = list(self.families)
        clashes = [n for n in names for s in ("_total", "_sum", "_count", "_info", "_created", "_bucket") if n + s in self.families]
        check(not openmetrics or not clashes, "names that clash", clashes)

    def metadata(self, line, family):
        found = re.fullmatch(r"# (HELP|TYPE|UNIT) (\S+)(?: (.*))?", line)
        check(found, "metadata", line)
        keyword, name, value = found.groups()
        if name != family:
            check(name not in self.families, "a family's samples are contiguous", line)
            self.families[name] = None
        if keyword == "TYPE":
            check(value in SUFFIXES and self.families[name] is None, "the type", line)
            self.families[name] = value
        elif keyword == "UNIT":
            check(self.openmetrics and name.endswith("_" + value), "the unit ends the name", line)
            self.units[name] = value
        else:
            bad = re.sub(r'\\[\\n"]' if self.openmetrics else r"\\[\\n]", "", value)
            check("\\" not in bad and (not self.openmetrics or '"' not in bad), "escapes in the help", line)
        return name

    def sample(self, line, family):
        found = SAMPLE.fullmatch(line)
        check(found and family and self.families[family], "a sample follows its type", line)
        name, labels, value = found.groups()
        suffixes = SUFFIXES[self.families[family]]
        if not self.openmetrics and self.families[family] == "counter":
            suffixes = ("",)
        check(name in [family + s for s in suffixes], "the sample belongs to the family", line)
        pairs = LABEL.findall(labels or "")
        check(len(dict(pairs)) == len(pairs), "each label once", line)
        key = (name, tuple(sorted(pairs)))
        check(key not in self.series, "each series once", line)
        self.series[key] = float(value)

    def of(self, metric, /, **labels):
        """Returns the series of this metric that have these labels."""
        return {key: value for key, value in self.series.items()
                if key[0] == metric and all(dict(key[1]).get(k) == v for k, v in labels.items())}

    def value(self, metric, /, **labels):
        found = self.of(metric, **labels)
        check(len(found) == 1, f"one series {metric} {labels}", found)
        return next(iter(found.values()))
