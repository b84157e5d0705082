/* SPDX-License-Identifier: MIT */
/* The page of openpla live: asks for new samples at the interval of the samples, keeps those of the last hour, and draws a
   chart of each chosen counter. While it is paused it collects, and draws nothing. */
(function () {
  "use strict";
  var KEPT = 3600000, FIRST_CHARTS = 6, LEAST_SPAN = 30000, MOST_SHOWN = 200;
  var state = document.getElementById("state"), list = document.getElementById("list"), found = document.getElementById("found");
  var charts = document.getElementById("charts"), search = document.getElementById("search");
  var pause = document.getElementById("pause"), span = document.getElementById("span");
  var counters = [], rows = [], next = 0, interval = 1000, paused = false, epoch = null;

  /* The legend sets styles in a way that the page's policy forbids. */
  if (typeof Dygraph !== "undefined")
    Dygraph.PLUGINS = Dygraph.PLUGINS.filter(function (plugin) { return plugin !== Dygraph.Plugins.Legend; });

  function make(tag, name, text) {
    var element = document.createElement(tag);
    if (name)
      element.className = name;
    if (text !== undefined)
      element.textContent = text;
    return element;
  }

  /* ---- values, with the prefix that suits them ---- */

  var NAMES = {B: ["B", "KB", "MB", "GB", "TB", "PB"], s: ["s", "ms", "\u00b5s"], "%": ["%"], "": ["", "k", "M", "G", "T", "P"]};
  function show(counter, value) {
    if (value === null || value === undefined)
      return "-";
    var names = NAMES[counter.unit], size = Math.abs(value) * counter.factor, step = 0;
    if (counter.unit === "s")
      for (; size > 0 && size < 1 && step < 2; step++)
        size *= 1000;
    else if (counter.unit === "B")
      for (; size >= 1024 && step + 1 < names.length; step++)
        size /= 1024;
    else if (counter.unit === "" && size >= 1e4)
      for (; size >= 1000 && step + 1 < names.length; step++)
        size /= 1000;
    return (value < 0 ? "-" : "") + Number(size.toPrecision(4)) + (names[step] ? " " + names[step] : "") + (counter.rate ? "/s" : "");
  }

  /* ---- the list and its search: all words must occur ---- */

  function fillList() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0, all = 0;
    counters.forEach(function (counter) {
      var name = counter.name.toLowerCase();
      var fits = words.every(function (word) { return name.indexOf(word) >= 0; });
      all += fits;
      shown += fits && shown < MOST_SHOWN;
      counter.item.hidden = !fits || all > shown;
    });
    found.textContent = all + " of " + counters.length + (all > shown ? ", the first " + shown + " are shown" : "");
  }
  function makeCounter(counter, at) {
    var label = make("label"), box = make("input");
    counter.at = at + 1; /* in a row, behind its time */
    counter.item = make("li");
    counter.output = make("span", "value", "-");
    counter.box = box;
    box.type = "checkbox";
    box.addEventListener("change", function () { choose(counter, box.checked); });
    label.appendChild(box);
    label.appendChild(make("span", "name", counter.name));
    label.appendChild(counter.output);
    counter.item.appendChild(label);
    list.appendChild(counter.item);
  }

  /* ---- charts ---- */

  function two(number) { return (number < 10 ? "0" : "") + number; }
  function clock(at) {
    var time = new Date(at);
    return two(time.getHours()) + ":" + two(time.getMinutes()) + ":" + two(time.getSeconds());
  }
  function lastTime() { return rows.length ? rows[rows.length - 1][0] : Date.now(); }
  /* Begins with the first sample while there are few. */
  function windowNow() {
    var last = lastTime(), first = rows.length ? Math.min(rows[0][0], last - LEAST_SPAN) : 0;
    return [Math.max(last - Number(span.value), first), last];
  }
  /* Rows of the chosen time alone, so that a chart costs what it shows. */
  function dataOf(counter) {
    var from = windowNow()[0], data = [];
    for (var i = rows.length - 1; i >= 0; i--) {
      data.push([rows[i][0], rows[i][counter.at]]);
      if (rows[i][0] < from)
        break;
    }
    return data.length ? data.reverse() : [[Date.now(), null]];
  }
  function draw(counter) {
    if (counter.graph)
      counter.graph.updateOptions({file: dataOf(counter), dateWindow: windowNow()});
  }
  function choose(counter, chosen) {
    counter.box.checked = chosen;
    if (!chosen) {
      if (counter.graph)
        counter.graph.destroy();
      if (counter.figure)
        counter.figure.remove();
      counter.graph = counter.figure = null;
      return;
    }
    var caption = make("figcaption"), drawing = make("div", "drawing");
    counter.figure = make("figure");
    counter.now = make("span", "value", counter.output.textContent);
    caption.appendChild(make("h3", "", counter.name));
    caption.appendChild(counter.now);
    counter.figure.appendChild(caption);
    counter.figure.appendChild(drawing);
    charts.appendChild(counter.figure);
    if (typeof Dygraph === "undefined")
      return;
    var style = getComputedStyle(document.documentElement);
    counter.graph = new Dygraph(drawing, dataOf(counter), {
      labels: ["time", "value"], colors: [style.getPropertyValue("--line").trim()], strokeWidth: 1.5, includeZero: true,
      valueRange: counter.unit === "%" ? [0, null] : null, dateWindow: windowNow(), interactionModel: {},
      gridLineColor: style.getPropertyValue("--rule").trim(), axisLineColor: style.getPropertyValue("--rule").trim(),
      axes: {
        x: {valueFormatter: clock, axisLabelFormatter: function (date) { return clock(date); }, pixelsPerLabel: 90},
        y: {axisLabelFormatter: function (value) { return show(counter, value); }, axisLabelWidth: 74}
      },
      highlightCallback: function (event, time, points) {
        counter.pointed = true;
        counter.now.textContent = clock(time) + "  " + show(counter, points[0].yval);
      },
      unhighlightCallback: function () {
        counter.pointed = false;
        counter.now.textContent = counter.output.textContent;
      }
    });
  }

  /* ---- samples ---- */

  function refresh() {
    var last = rows[rows.length - 1];
    if (paused || !last)
      return;
    counters.forEach(function (counter) {
      counter.output.textContent = show(counter, last[counter.at]);
      if (counter.figure && !counter.pointed)
        counter.now.textContent = counter.output.textContent;
      if (!document.hidden)
        draw(counter);
    });
    state.textContent = clock(last[0]) + ", every " + interval / 1000 + " s";
  }
  function ask(path) {
    return fetch(path, {cache: "no-store"}).then(function (answer) {
      if (!answer.ok)
        throw new Error(String(answer.status));
      return answer.json();
    });
  }
  function take(answer) {
    next = answer.next;
    rows = rows.concat(answer.samples);
    var old = 0, from = lastTime() - KEPT;
    while (old < rows.length && rows[old][0] < from)
      old++;
    if (old)
      rows.splice(0, old);
    return answer.more ? ask("/samples?since=" + next).then(take) : null;
  }
  function again() {
    ask("/samples?since=" + next).then(take).then(refresh).catch(function () {
      state.textContent = "The program does not respond; trying again";
      return begin();
    }).finally(function () { setTimeout(again, Math.max(interval, 250)); });
  }
  /* Another run of the program at the same port has other counters and begins to count anew. */
  function begin() {
    return ask("/counters").then(function (answer) {
      if (answer.begun === epoch)
        return;
      counters.forEach(function (counter) { choose(counter, false); });
      list.textContent = "";
      epoch = answer.begun;
      rows = [];
      next = 0;
      interval = answer.interval;
      counters = answer.counters;
      counters.forEach(makeCounter);
      fillList();
      counters.slice(0, FIRST_CHARTS).forEach(function (counter) { choose(counter, true); });
      state.textContent = "Waiting for the first sample";
    }).catch(function () { });
  }

  search.addEventListener("input", fillList);
  span.addEventListener("change", function () { counters.forEach(draw); });
  pause.addEventListener("click", function () {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Continue" : "Pause";
    if (paused)
      state.textContent = "Paused; samples are still collected";
    else
      refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  begin().then(again);
})();
