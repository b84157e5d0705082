#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""translated.py PROGRAM [EMULATOR]: logs with translated counter names, as Windows writes them in other languages, are
checked, compared and filtered like English ones. The output shows the log's names."""
import datetime
import json
import os
import random
import re
import tempfile
import xml.etree.ElementTree as xml

from program import check, openpla

ENGLISH = [r"\\SRV1\Processor(_Total)\% Processor Time", r"\\SRV1\Memory\Available MBytes",
           r"\\SRV1\PhysicalDisk(0 C:)\Avg. Disk sec/Read", r"\\SRV1\System\Processor Queue Length"]
LANGUAGES = {
    "German": [r"\\SRV1\Prozessor(_Total)\Prozessorzeit (%)", r"\\SRV1\Arbeitsspeicher\Verfügbare MB",
               r"\\SRV1\Physikalischer Datenträger(0 C:)\Mittlere Sek./Lesevorgänge",
               r"\\SRV1\System\Prozessor-Warteschlangenlänge"],
    "French": [r"\\SRV1\Processeur(_Total)\% temps processeur", r"\\SRV1\Mémoire\Mégaoctets disponibles",
               r"\\SRV1\Disque physique(0 C:)\Moyenne disque s/lecture", r"\\SRV1\Système\Longueur de la file du processeur"],
    "Spanish": [r"\\SRV1\Procesador(_Total)\% de tiempo de procesador", r"\\SRV1\Memoria\Mbytes disponibles",
                r"\\SRV1\Disco físico(0 C:)\Promedio de segundos de disco/lectura",
                r"\\SRV1\Sistema\Longitud de la cola del procesador"],
    "Italian": [r"\\SRV1\Processore(_Total)\% Tempo processore", r"\\SRV1\Memoria\MByte disponibili",
                r"\\SRV1\Disco fisico(0 C:)\Media letture disco/sec", r"\\SRV1\Sistema\Lunghezza coda processore"],
    "Portuguese": [r"\\SRV1\Processador(_Total)\% tempo de processador", r"\\SRV1\Memória\MBytes disponíveis",
                   r"\\SRV1\PhysicalDisk(0 C:)\Média de disco s/leitura",
                   r"\\SRV1\Sistema\Comprimento da fila de processador"],
    "Polish": [r"\\SRV1\Procesor(_Total)\Czas procesora (%)", r"\\SRV1\Pamięć\Dostępna pamięć (MB)",
               r"\\SRV1\Dysk fizyczny(0 C:)\Średni czas dysku w s/Odczyt", r"\\SRV1\System\Długość kolejki procesora"],
}
PERFLIB = r"HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib"


def openpla_streams(expected, *arguments):
    """Returns stdout and the messages; Wine's runner merges both."""
    lines = openpla(expected, *arguments).splitlines(keepends=True)
    return tuple("".join(line for line in lines if line.startswith("openpla ") == is_message) for is_message in (False, True))


def write_day(name, paths, encoding="utf-8"):
    """Writes eight hours of samples every 15 s from 08:00: healthy except for 20 minutes of overload at noon."""
    chance = random.Random(1)
    lines = ['"(PDH-CSV 4.0) (UTC)(0)",' + ",".join(f'"{p}"' for p in paths)]
    for i in range(8 * 240):
        hot = 960 <= i < 1040
        at = datetime.datetime(2026, 3, 2, 8) + datetime.timedelta(seconds=15 * i)
        values = (100.0 if hot else chance.uniform(5, 15), chance.uniform(9000, 9200),
                  0.35 if hot else chance.uniform(0.002, 0.006), 24 if hot else chance.choice([0, 0, 1]))
        lines.append(f'"{at:%m/%d/%Y %H:%M:%S}.000",' + ",".join(f'"{values[k % 4]:.6f}"' for k in range(len(paths))))
    with open(name, "w", encoding=encoding, newline="") as f:
        f.write("\r\n".join(lines) + "\r\n")


def counters_of(name):
    """Returns the counters of a log, as `relog -q` lists them."""
    return [line for line in openpla(0, "relog", name, "-q").splitlines() if line.startswith("\\\\")]


def warnings_have_the_same_times_in_every_language():
    write_day("English.csv", ENGLISH)
    expected, messages = openpla_streams(4, "rules", "English.csv")
    check("2026-03-02 12:00 to 12:20, 20 min in total; worst at 12:00: 350 ms" in expected and not messages, expected + messages)
    for language, paths in LANGUAGES.items():
        write_day(f"{language}.csv", paths)
        found, messages = openpla_streams(4, "rules", f"{language}.csv")
        check(found == expected, language, found)
        check(messages == f"openpla rules: 4 of 4 counters are {language} and were understood\n", messages)
    for language, page in (("German", "cp1252"), ("Polish", "cp1250")):  # Windows' code pages for text logs in these languages
        write_day("ansi.csv", LANGUAGES[language], page)
        check(openpla_streams(4, "rules", "ansi.csv")[0] == expected, page)
    openpla(0, "relog", "German.csv", "-o", "German.tsv", "-f", "TSV", "-y")
    check(openpla_streams(4, "rules", "German.tsv")[0] == expected, "another format")
    reported = json.loads(openpla_streams(4, "rules", "German.csv", "--json")[0])
    check(reported["names"] == "4 of 4 counters are German and were understood", reported["names"])
    check("names" not in json.loads(openpla_streams(4, "rules", "English.csv", "--json")[0]), "an English log has no such line")


def unknown_names_are_counted_and_named():
    write_day("some.csv", LANGUAGES["German"] + [r"\\SRV1\Prozessor(_Total)\Neuer Zähler", r"\\SRV1\SQLServer:Locks\Lock Waits/sec"])
    messages = openpla_streams(4, "rules", "some.csv")[1]
    check(r"4 of 6 counters are German and were understood; 1 was not: '\\SRV1\Prozessor(_Total)\Neuer Zähler'" in messages, messages)


def reports_and_pages_show_log_names():
    """Names in the cells are English, so that rules and comparisons find them. The log's names are shown beside
    them."""
    messages = openpla_streams(0, "report", "German.csv", "-html", "-o", "german.html", "-y")[1]
    check("4 of 4 counters are German and were understood" in messages, messages)
    report = xml.parse("german.xml").getroot()
    table = report.find(".//Table[@source='Memory']")
    cell = table.find("Item/Data[@name='counter']")
    check(table.get("local") == "Arbeitsspeicher" and cell.text == "Available MBytes", xml.tostring(cell))
    check(cell.get("local") == "Verfügbare MB", xml.tostring(cell))
    with open("german.html", encoding="utf-8") as f:
        page = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", f.read()))
    for words in ("4 of 4 counters are German and were understood", "Mittlere Sek./Lesevorgänge Avg. Disk sec/Read",
                  "In the log: Arbeitsspeicher", "2026-03-02 12:00 to 12:20, 20 min in total"):
        check(words in page, f"the page lacks {words}")
    openpla(0, "report", "English.csv", "-o", "english.xml", "-y")
    with open("english.xml", encoding="utf-8") as f:
        english = f.read()
    check("local=" not in english and "understood" not in english, "a report of an English log")


def accepts_schema_in_language_of_log():
    with open("own.xml", "w", encoding="utf-8") as f:
        f.write('<Report xmlns="http://schemas.microsoft.com/diagnostics/2007/02/tracerpt" name="own" version="1"><Sections>'
                '<Section name="s" key="1"><CounterTable name="t" topic="c" object="Arbeitsspeicher"><Include counter="Verfügbare*"/>'
                '</CounterTable></Section></Sections></Report>')
    openpla(0, "report", "German.csv", "-schema", "own.xml", "-o", "own.report.xml", "-y")
    cell = xml.parse("own.report.xml").getroot().find(".//Table[@source='Arbeitsspeicher']/Item/Data[@name='counter']")
    check(cell is not None and cell.text == "Verfügbare MB" and not cell.get("local"), "the user's own names")


def runs_in_two_languages_are_compared():
    output, messages = openpla_streams(0, "compare", "English.csv", "German.csv", "-html", "both.html", "-y")
    check("4 same; only in A 0, only in B 0" in output, output)
    check(messages == "openpla compare: B: 4 of 4 counters are German and were understood\n", messages)
    with open("both.html", encoding="utf-8") as f:
        check("Names in B" in f.read(), "the page has the message too")


def relog_accepts_counters_in_both_languages():
    """The copy keeps the log's own names."""
    memory = LANGUAGES["German"][1]
    messages = openpla_streams(0, "relog", "German.csv", "-c", r"\Memory\Available*", "-o", "c.csv", "-f", "CSV", "-y")
    check(counters_of("c.csv") == [memory], "relog", counters_of("c.csv"))
    check("4 of 4 counters are German and were understood" in "".join(messages), *messages)
    with open("list.txt", "w", encoding="utf-8") as f:
        f.write("\\Prozessor(*)\\Prozessorzeit (%)\n")
    for log, column in (("German.csv", LANGUAGES["German"][0]), ("English.csv", ENGLISH[0]), ("French.csv", LANGUAGES["French"][0])):
        openpla(0, "relog", log, "-cf", "list.txt", "-o", "c.csv", "-f", "CSV", "-y")
        check(counters_of("c.csv") == [column], log, counters_of("c.csv"))
    check("matches no counter" in openpla(1, "relog", "German.csv", "-c", r"\Processor(*)\% User Time", "-q"), "an unknown counter")
    check("-names: requires -c, -cf, or -f INFLUX or OPENMETRICS" in openpla(2, "relog", "German.csv", "-q", "-names", "list.txt"), "-names alone")


def hexadecimal(names):
    """Formats texts as regedit writes a REG_MULTI_SZ."""
    data = "".join(f"{i}\0{n}\0" for i, n in names).encode("utf-16-le") + b"\0\0"
    return ",\\\r\n  ".join(",".join(f"{b:02x}" for b in data[k:k + 25]) for k in range(0, len(data), 25))


def computer_names_take_precedence():
    """An export of the registry key Perflib, or the name files in system32, add languages and objects that are not
    built in."""
    english = [(1, "1847"), (238, "Processor"), (6, "% Processor Time"), (4, "Memory"), (1382, "Available MBytes"),
               (234, "PhysicalDisk"), (208, "Avg. Disk sec/Read"), (2, "System"), (44, "Processor Queue Length")]
    russian = [(1, "1847"), (238, "Процессор"), (6, "% загруженности процессора"), (4, "Память"), (1382, "Доступно МБ"),
               (234, "Физический диск"), (208, "Среднее время чтения с диска (с)"), (2, "Система"), (44, "Длина очереди процессора")]
    names = dict(russian)
    paths = [rf"\\SRV1\{names[238]}(_Total)\{names[6]}", rf"\\SRV1\{names[4]}\{names[1382]}",
             rf"\\SRV1\{names[234]}(0 C:)\{names[208]}", rf"\\SRV1\{names[2]}\{names[44]}"]
    write_day("Russian.csv", paths)
    write_day("ansi.csv", paths, "cp1251")
    messages = openpla(5, "rules", "Russian.csv")
    check("4 of 4 counters are not English and were not understood" in messages and "nothing was checked" in messages, messages)
    with open("perflib.reg", "wb") as f:
        text = f'Windows Registry Editor Version 5.00\r\n\r\n[{PERFLIB}\\009]\r\n"Counter"=hex(7):{hexadecimal(english)}\r\n\r\n'
        text += f'[{PERFLIB}\\019]\r\n"Counter"=hex(7):{hexadecimal(russian)}\r\n'
        f.write(text.encode("utf-16"))
    for name, list_of in (("perfc009.dat", english), ("perfc019.dat", russian)):
        with open(name, "wb") as f:
            f.write("".join(f"{i}\0{n}\0" for i, n in list_of).encode("utf-16-le") + b"\0\0")
    expected = openpla_streams(4, "rules", "English.csv")[0]
    for files in (["perflib.reg"], ["perfc019.dat"], ["perfc019.dat", "perfc009.dat"]):
        found, messages = openpla_streams(4, "rules", "Russian.csv", "-names", *files)
        check(found == expected, *files, found)
        check("4 of 4 counters are Russian and were understood" in messages, messages)
    check(openpla_streams(4, "rules", "ansi.csv", "-names", "perflib.reg")[0] == expected, "a log in the Russian code page")
    openpla(0, "report", "Russian.csv", "-o", "russian.xml", "-y", "-names", "perflib.reg")
    check(openpla_streams(4, "rules", "russian.xml")[0] == expected, "a report keeps the translated names")
    openpla(0, "compare", "English.csv", "Russian.csv", "-names", "perflib.reg")
    openpla(0, "relog", "Russian.csv", "-c", r"\Memory\*", "-names", "perflib.reg", "-o", "c.blg", "-y")
    check(counters_of("c.blg") == [rf"\\SRV1\{names[4]}\{names[1382]}"], "relog", counters_of("c.blg"))
    os.remove("perfc009.dat")
    for file, why in (("perfc019.dat", "it has no English names"), ("English.csv", "not an export of the registry key Perflib"),
                      ("none.reg", "none.reg")):
        check(why in openpla(1, "rules", "Russian.csv", "-names", file), why)


def a_definition_in_another_language_is_checked():
    """The definition's counters are found on this computer by the same code as when a set starts."""
    paths = [r"\Prozessor(_Total)\Prozessorzeit (%)", r"\Arbeitsspeicher\Verfügbare MB", r"\Память\Доступно МБ"]
    with open("set.xml", "w", encoding="utf-8") as f:
        f.write("<DataCollectorSet><Name>german</Name><PerformanceCounterDataCollector><DataCollectorType>0</DataCollectorType>"
                f"<Name>counts</Name>{''.join(f'<Counter>{p}</Counter>' for p in paths)}</PerformanceCounterDataCollector>"
                "</DataCollectorSet>")
    messages = openpla(3, "check", "set.xml", "-all")
    check("counters: 2 of 3 can be collected" in messages and "2 of 3 counters are German and were understood; 1 was not" in messages, messages)
    messages = openpla(3, "check", "set.xml", "-names", "perflib.reg")
    check(r"on this computer its path is '\Memory\Available MBytes' (use this path in the definition)" in messages, messages)
    messages = openpla(0, "typeperf", paths[0], "-sc", "1", "-si", "1")
    check(r"\Processor(_Total)\% Processor Time" in messages, "typeperf", messages)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        warnings_have_the_same_times_in_every_language()
        unknown_names_are_counted_and_named()
        reports_and_pages_show_log_names()
        accepts_schema_in_language_of_log()
        runs_in_two_languages_are_compared()
        relog_accepts_counters_in_both_languages()
        computer_names_take_precedence()
        a_definition_in_another_language_is_checked()
        os.chdir("/")


if __name__ == "__main__":
    main()
