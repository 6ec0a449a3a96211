# SPDX-License-Identifier: BSD-2-Clause
"""The page of the statistics in a real browser.

usage: on_pool postgresql 1 python3 test_page.py CENOTED SQLSH MODULE...

With CNT_SCREENSHOT=FILE in the environment, it also writes a picture of the page: docs/status-page.png is made so.
"""

import os
import shutil
import sys

from browser import Browser
from pools import Pools, await_value, run_tests

# The text of a table, by rows and cells.
TABLE = """[...document.querySelectorAll('#%s tr')].map(
    tr => [...tr.children].map(cell => cell.textContent.trim()))"""

# How well each text stands out from what is behind it, as WCAG 2 defines it: from 1 to 21. System
# colours have their values of the present scheme only in an element that uses them.
CONTRASTS = """(() => {
    const probe = document.createElement('p');
    probe.style.background = 'Canvas';
    document.body.append(probe);
    const canvas = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const light = color => {
        const [r, g, b] = color.match(/[0-9.]+/g).map(Number).map(c => c / 255)
            .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const result = {};
    for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.offsetParent)
            continue;
        const [a, b] = [light(getComputedStyle(e).color), light(canvas)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const name = e.tagName + (e.className ? '.' + e.className : '') + (e.id ? '#' + e.id : '');
        result[name] = Math.min(ratio, result[name] ?? 21);
    }
    return { canvas, result };
})()"""
CONTRAST_MIN = 4.5  # WCAG 2, level AA


def table(browser, name):
    """Rows as dictionaries by the titles of the columns."""
    rows = browser.evaluate(TABLE % name)
    return [dict(zip(rows[0], row)) for row in rows[1:]] if rows else []


def pool(browser, name):
    rows = [row for row in table(browser, "pools") if row["Pool"] == name]
    return rows[0] if rows else {}


def it_shows_pools_servers_and_workers(browser, pools):
    await_value(lambda: table(browser, "pools"), lambda t: len(t) == 2, "pools")
    assert pool(browser, "inventory")["Backend"] == "postgresql"
    assert pool(browser, "archive")["In use"] == "1 of 4"
    await_value(
        lambda: table(browser, "servers"),
        lambda t: [s["Role"] for s in t if s["Pool"] == "inventory"] == ["primary"],
        "servers",
    )
    workers = table(browser, "workers")
    held = [w for w in workers if w["Pool"] == "archive" and w["Pins"] != ""]
    assert [w["State"] for w in held] == ["attached"], workers
    assert browser.evaluate("document.getElementById('version').textContent") != ""


def it_updates_itself(browser, pools):
    browser.evaluate("window.isSamePage = true")
    before = int(pool(browser, "inventory")["Requests"])
    pools.run("inventory", "select 1")
    await_value(
        lambda: pool(browser, "inventory")["Requests"],
        lambda n: int(n) > before,
        "requests",
    )
    pools.hold("archive", "begin;")
    await_value(
        lambda: pool(browser, "archive")["In use"], lambda n: n == "2 of 4", "in use"
    )
    assert browser.evaluate("window.isSamePage") is True


def it_asks_nobody_but_cenoted(browser, pools):
    asked = {e["request"]["url"] for e in browser.happened("Network.requestWillBeSent")}
    page = {pools.url("/"), pools.url("/status.json")}
    assert page <= asked, asked
    assert asked - page <= {"about:blank", pools.url("/favicon.ico")}, asked


def texts_are_readable_in_light_and_dark(browser, pools):
    seen = {}
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        found = browser.evaluate(CONTRASTS)
        seen[scheme] = found["canvas"]
        bad = {k: round(v, 1) for k, v in found["result"].items() if v < CONTRAST_MIN}
        assert not bad, f"{scheme}, on {found['canvas']}: {bad}"
        assert len(found["result"]) >= 4, found
    assert seen["light"] != seen["dark"], seen


def a_narrow_window_scrolls_only_the_tables(browser, pools):
    browser.resize(360, 640)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 360
    browser.resize(1200, 640)


def the_script_has_no_error(browser, pools):
    assert browser.happened("Runtime.exceptionThrown") == []
    logged = [e["entry"] for e in browser.happened("Log.entryAdded")]
    errors = [e for e in logged if e["level"] == "error" and "favicon" not in e.get("url", "")]
    assert errors == [], errors


def it_says_that_cenoted_has_gone(browser, pools):
    state = "document.getElementById('state')"
    color = f"getComputedStyle({state}).color"
    before = browser.evaluate(color)
    pools.end_daemon()
    await_value(
        lambda: browser.evaluate(f"{state}.textContent"),
        lambda text: text.startswith("cenoted does not answer"),
        "state",
    )
    # in red, which must be readable, too
    assert browser.evaluate(color) != before
    texts_are_readable_in_light_and_dark(browser, pools)


def a_picture_is_taken(browser, pools):
    browser.prefer("light")
    browser.resize(1320, 640)
    browser.resize(1320, browser.evaluate("document.body.offsetHeight") + 48)
    browser.screenshot(os.environ["CNT_SCREENSHOT"])


TESTS = [
    it_shows_pools_servers_and_workers,
    it_updates_itself,
    it_asks_nobody_but_cenoted,
    texts_are_readable_in_light_and_dark,
    a_narrow_window_scrolls_only_the_tables,
    the_script_has_no_error,
    *([a_picture_is_taken] if "CNT_SCREENSHOT" in os.environ else []),
    it_says_that_cenoted_has_gone,  # the last: cenoted ends
]


def main():
    program = shutil.which("chromium")
    if program is None:
        print("1..0 # SKIP there is no Chromium (Debian: chromium)")
        return
    cenoted, sqlsh, *modules = sys.argv[1:]
    pools = Pools(cenoted, sqlsh, modules)
    browser = Browser(program)
    try:
        pools.await_start()
        browser.await_start()
        pools.hold("archive", "create temp table t(a);")
        browser.resize(1200, 640)
        browser.open(pools.url())
        run_tests(TESTS, browser, pools)
    finally:
        browser.close()
        pools.close()


main()
