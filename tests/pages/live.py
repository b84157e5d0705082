#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live.py PROGRAM [--pictures FOLDER]: uses the page of `openpla live` in Chromium as a reader does. The test watches
values change, searches for a counter and charts it, pauses and continues, and checks that the page shows when the
program has exited. If it failed, a user could not follow a counter in a browser. Skipped without Chromium."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser

PATIENCE = 240  # seconds
UP, IDLE = "System Up Time", "% Idle Time"


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def wait_for(browser, expression, what):
    end = time.monotonic() + PATIENCE
    while not browser.ask(expression):
        check(time.monotonic() < end, what, browser.ask("document.body.innerText"))
        time.sleep(0.05)


def shown_value(name):
    return f"[...document.querySelectorAll('#list li')].find(l=>l.textContent.includes({name!r})).querySelector('.value').textContent"


def messages_of(browser):
    return [str(e["params"])[:300] for e in browser.events
            if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]


def values_change_until_paused(browser):
    wait_for(browser, "document.querySelectorAll('figure canvas').length>=6", "charts of the first counters")
    wait_for(browser, f"{shown_value(UP)}!=='-'", "a first value")
    first = browser.ask(shown_value(UP))
    wait_for(browser, f"{shown_value(UP)}!=={first!r}", "values change")
    browser.ask("document.getElementById('pause').click()")
    paused = browser.ask(f"(()=>{{const at={shown_value(UP)};return new Promise(d=>setTimeout(()=>d([at,{shown_value(UP)}]),1000))}})()")
    check(paused[0] == paused[1] and "Paused" in browser.ask("document.getElementById('state').textContent"), "nothing moves while paused", paused)
    browser.ask("document.getElementById('pause').click()")
    wait_for(browser, f"{shown_value(UP)}!=={paused[1]!r}", "values change again")


def a_searched_counter_gets_a_chart(browser):
    before = browser.ask("document.querySelectorAll('figure').length")
    browser.ask("(()=>{const s=document.getElementById('search');s.value='UP time';s.dispatchEvent(new Event('input'))})()")
    left = browser.ask("[...document.querySelectorAll('#list li')].filter(l=>!l.hidden).map(l=>l.querySelector('.name').textContent)")
    check(len(left) == 1 and left[0].endswith(UP), "the search finds it", left)
    browser.ask("[...document.querySelectorAll('#list li')].find(l=>!l.hidden).querySelector('input').click()")
    check(browser.ask("document.querySelectorAll('figure').length") == before + 1, "its chart is shown")
    drawn = ("[...document.querySelectorAll('figure')].pop().querySelector('canvas').getContext('2d').getImageData(0,0,9999,9999)"
             ".data.some(b=>b>0)")
    wait_for(browser, drawn, "something is drawn")
    browser.ask("[...document.querySelectorAll('#list li')].find(l=>!l.hidden).querySelector('input').click()")
    check(browser.ask("document.querySelectorAll('figure').length") == before, "it is gone again")
    browser.ask("(()=>{const s=document.getElementById('search');s.value='';s.dispatchEvent(new Event('input'))})()")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--pictures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="openpla-live.") as folder:
        browser = Browser(folder)
        usual = [r"\Processor(_Total)\% Processor Time", r"\Processor(_Total)\% Idle Time", r"\Memory\Available MBytes",
                 r"\System\Context Switches/sec", r"\System\Processes", r"\System\Threads", r"\System\System Up Time"]
        server = subprocess.Popen([arguments.program, "live", *usual, "-http", "0", "-si", "0.25"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            check(re.fullmatch(r"http://127\.0\.0\.1:\d+/", url), "the address", url)
            for width, features in ((1280, []), (390, [{"name": "prefers-color-scheme", "value": "dark"}])):
                browser.events = []
                browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                browser.call("Emulation.setEmulatedMedia", media="", features=features)
                browser.call("Page.navigate", url=url)
                browser.hear(lambda m: m.get("method") == "Page.loadEventFired")
                values_change_until_paused(browser)
                a_searched_counter_gets_a_chart(browser)
                check(browser.ask("document.documentElement.scrollWidth<=innerWidth"), f"it fits {width} pixels")
                check(not messages_of(browser), "no errors", messages_of(browser))
                if arguments.pictures:
                    browser.picture(os.path.join(arguments.pictures, f"live-{width}.png"))
            server.terminate()
            wait_for(browser, "document.getElementById('state').textContent.includes('does not respond')", "the end is shown")
            check(server.wait(PATIENCE) == 0, "it ends")
        finally:
            server.kill()
            browser.end()


main()
