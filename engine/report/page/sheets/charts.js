/* SPDX-License-Identifier: MIT */
/* Interactive charts of a report page, drawn by dygraphs from the JSON in #waves (page_waves.h). All charts have one
   window of the time and one cursor. Without this script, and in print, the SVG charts are shown. */
(function () {
  "use strict";
  var store = document.getElementById("waves"), section = document.getElementById("charts");
  if (!store || !section || typeof Dygraph === "undefined" || !window.IntersectionObserver)
    return;
  var data = JSON.parse(store.textContent);
  store.remove();

  /* The legend sets styles in a way that the page's policy forbids, and the list below a chart is one. */
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter(function (plugin) { return plugin !== Dygraph.Plugins.Legend; });

  function make(tag, name, text) {
    var element = document.createElement(tag);
    if (name)
      element.className = name;
    if (text !== undefined)
      element.textContent = text;
    return element;
  }
  function button(text, act) {
    var element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  }
  function choice(text, options, act) {
    var label = make("label", "", text + " "), select = make("select");
    options.forEach(function (option) {
      var one = make("option", "", option[1]);
      one.value = option[0];
      select.appendChild(one);
    });
    select.addEventListener("change", function () { act(select.value); });
    label.appendChild(select);
    return label;
  }

  /* ---- times ---- */

  var DAY = 86400000;
  var STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
    72e5, 108e5, 216e5, 432e5, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];
  var logOffset = 0, elapsed = true, zone = "log";
  data.waves.forEach(function (wave) {
    wave.start = Date.parse(wave.s);
    if (isNaN(wave.start))
      wave.start = 0;
    else if (elapsed) {
      var found = /([+-])(\d\d):(\d\d)$/.exec(wave.s);
      elapsed = false;
      logOffset = found ? (found[1] === "-" ? -1 : 1) * (found[2] * 60 + Number(found[3])) : 0;
    }
  });
  function offset(at) {
    return (elapsed || zone === "utc" ? 0 : zone === "log" ? logOffset : -new Date(at).getTimezoneOffset()) * 60000;
  }
  function two(number) { return (number < 10 ? "0" : "") + number; }
  function zoneName(at) {
    var minutes = offset(at) / 60000, size = Math.abs(minutes);
    return "UTC" + (minutes ? (minutes < 0 ? "-" : "+") + two(Math.floor(size / 60)) + ":" + two(size % 60) : "");
  }
  function clock(at, step) {
    var time = new Date(at + offset(at)), ms = time.getUTCMilliseconds();
    var text = two(time.getUTCHours()) + ":" + two(time.getUTCMinutes());
    if (step < 60000)
      text += ":" + two(time.getUTCSeconds());
    return step < 1000 ? text + "." + String(1000 + ms).slice(1) : text;
  }
  function day(at) {
    var time = new Date(at + offset(at));
    return elapsed ? Math.floor(at / DAY) + " d" : time.getUTCFullYear() + "-" + two(time.getUTCMonth() + 1) + "-" + two(time.getUTCDate());
  }
  function fullTime(at) {
    var text = clock(at, at % 1000 ? 1 : 1000);
    return elapsed ? (at >= DAY ? day(at) + " " : "") + text : day(at) + " " + text;
  }
  function timeTicks(from, to, pixels) {
    var most = Math.max(2, Math.floor(pixels / 90)), ticks = [], step = STEPS[0];
    for (var i = 1; (to - from) / step > most; i++)
      step = i < STEPS.length ? STEPS[i] : step * 2;
    for (var at = Math.ceil((from + offset(from)) / step) * step - offset(from); at <= to; at += step) {
      var midnight = (at + offset(at)) % DAY === 0 && (!elapsed || at);
      ticks.push({v: at, label: midnight ? (elapsed ? day(at) : day(at).slice(5)) : clock(at, step)});
    }
    return ticks;
  }

  /* ---- values and their units, as page_unit.c has them ---- */

  var PREFIXES = {B: ["B", "KB", "MB", "GB", "TB", "PB"], s: ["s", "ms", "\u00b5s"], "": ["", "M", "G", "T", "P"]};
  function scaleOf(wave, largest) {
    var unit = wave.u || "", factor = wave.k, step = 0, names = PREFIXES[unit];
    largest = Math.abs(largest) * factor;
    if (unit === "%")
      return {factor: 1, suffix: " %"};
    if (unit === "B")
      for (; largest >= 1024 && step + 1 < names.length; step++, factor /= 1024)
        largest /= 1024;
    else if (unit === "s")
      for (; largest < 1 && largest > 0 && step < 2; step++, factor *= 1000)
        largest *= 1000;
    else if (largest >= 1e6)
      for (; largest >= 1000 && step + 1 < names.length; step++) {
        largest /= step ? 1000 : 1e6;
        factor /= step ? 1000 : 1e6;
      }
    return {factor: factor, suffix: names[step] ? " " + names[step] + (wave.r ? "/s" : "") : ""};
  }
  function digits(value) {
    if (Math.abs(value) < 1e-4)
      return "0";
    return Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  }
  function show(wave, value) {
    var scale = scaleOf(wave, value);
    return digits(value * scale.factor) + scale.suffix;
  }

  /* ---- series ---- */

  /* The counter's name may end with a unit in parentheses; what follows in parentheses is the instance. */
  function counterOf(name) {
    var found = /^(.*?(?: \((?:ms|KB|MB)\))?)(?: \(.*\))?$/i.exec(name);
    return found ? found[1] : name;
  }
  function instanceOf(name) {
    var counter = counterOf(name);
    return name.length > counter.length ? name.slice(counter.length + 2, -1) : name;
  }
  var byKey = new Map(), byCounter = new Map();
  data.waves.forEach(function (wave) {
    var counter = wave.o + "\n" + counterOf(wave.n);
    byKey.set(wave.o + "\n" + wave.n, wave);
    if (!byCounter.has(counter))
      byCounter.set(counter, []);
    byCounter.get(counter).push(wave);
  });
  /* Splits the points once: times, [least, mean, greatest] or null for a gap, and statistics. */
  function read(wave) {
    if (wave.values)
      return wave;
    var first = wave.start + wave.f * 1000, sum = 0, count = 0;
    wave.mean = wave.most = wave.last = -Infinity;
    wave.least = Infinity;
    wave.values = wave.p.split(" ").map(function (text) {
      if (text === "-" || text === "")
        return null;
      var parts = text.split(":").map(Number);
      var value = parts.length === 1 ? [parts[0], parts[0], parts[0]] : parts;
      wave.least = Math.min(wave.least, value[0]);
      wave.most = Math.max(wave.most, value[2]);
      wave.last = value[1];
      sum += value[1];
      count++;
      return value;
    });
    wave.times = wave.values.map(function (value, at) { return Math.round(first + at * wave.t * 1000); });
    wave.mean = count ? sum / count : wave.mean;
    wave.p = null;
    return wave;
  }
  /* Rows for dygraphs: [time, [least, mean, greatest] of each series]. null joins, NaN is a gap. */
  function rowsOf(waves) {
    var places = new Map(), rows = [];
    waves.forEach(function (wave) {
      read(wave).times.forEach(function (time) { places.set(time, 0); });
    });
    Array.from(places.keys()).sort(function (a, b) { return a - b; }).forEach(function (time, at) {
      var row = [time];
      for (var i = 0; i < waves.length; i++)
        row.push(null);
      places.set(time, at);
      rows.push(row);
    });
    waves.forEach(function (wave, number) {
      wave.values.forEach(function (value, at) {
        rows[places.get(wave.times[at])][number + 1] = value || [NaN, NaN, NaN];
      });
    });
    return rows;
  }

  /* ---- what all charts share ---- */

  var charts = [], whole = [Infinity, -Infinity], shown = null, syncing = false;
  data.waves.forEach(function (wave) {
    var count = (wave.p.match(/ /g) || []).length;
    whole[0] = Math.min(whole[0], wave.start + wave.f * 1000);
    whole[1] = Math.max(whole[1], wave.start + (wave.f + count * wave.t) * 1000);
  });
  if (!(whole[1] > whole[0]))
    whole[1] = whole[0] + 1000;
  shown = whole.slice();
  function eachLive(act) {
    charts.forEach(function (chart) {
      if (chart.graph)
        act(chart);
    });
  }
  function setWindow(from, to) {
    var least = Math.min(100, whole[1] - whole[0]);
    if (to - from < least)
      to = from + least;
    from = Math.max(whole[0], from);
    to = Math.min(whole[1], to);
    shown = to > from ? [from, to] : whole.slice();
    syncing = true;
    eachLive(function (chart) { chart.graph.updateOptions(windowOf(chart)); });
    syncing = false;
    var round = shown[1] - shown[0] > 60000 ? 1000 : 1, ends = shown.map(function (at) { return Math.round(at / round) * round; });
    said.textContent = fullTime(ends[0]) + " to " + fullTime(ends[1]) + (elapsed ? "" : " " + zoneName(shown[0]));
  }
  function zoom(part) {
    var middle = (shown[0] + shown[1]) / 2, half = (shown[1] - shown[0]) / 2 * part;
    setWindow(middle - half, middle + half);
  }
  function move(part) {
    var by = (shown[1] - shown[0]) * part;
    by = Math.max(whole[0] - shown[0], Math.min(whole[1] - shown[1], by));
    setWindow(shown[0] + by, shown[1] + by);
  }
  function setCursor(time) {
    eachLive(function (chart) {
      var row = time === null ? -1 : nearest(chart.rows, time);
      if (row < 0)
        chart.graph.clearSelection();
      else
        chart.graph.setSelection(row);
      readOut(chart, row);
    });
  }
  function nearest(rows, time) {
    var low = 0, high = rows.length - 1;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (rows[middle][0] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low > 0 && time - rows[low - 1][0] < rows[low][0] - time ? low - 1 : low;
  }

  /* ---- colours: those of the page's lines ---- */

  var NAMES = ["--a", "--b", "--c", "--d", "--e", "--f", "--a", "--b"];
  var DASHES = [null, [8, 5], [2, 4], [12, 4, 2, 4], [16, 6], [6, 3, 2, 3, 2, 3], [3, 6], [20, 4, 6, 4]];
  var forced = window.matchMedia("(forced-colors: active)");
  function colour(name) {
    var style = getComputedStyle(document.documentElement);
    return forced.matches ? getComputedStyle(document.body).color : style.getPropertyValue(name).trim();
  }

  /* ---- one chart ---- */

  function rangeOf(chart) {
    var least = Infinity, greatest = -Infinity, waves = chart.waves;
    chart.rows.forEach(function (row) {
      if (row[0] < shown[0] || row[0] > shown[1])
        return;
      for (var i = 0; i < waves.length; i++)
        if (row[i + 1] && chart.visible[i] && row[i + 1][0] <= row[i + 1][2]) {
          least = Math.min(least, row[i + 1][0]);
          greatest = Math.max(greatest, row[i + 1][2]);
        }
    });
    chart.limits.forEach(function (limit) {
      least = Math.min(least, limit.v);
      greatest = Math.max(greatest, limit.v);
    });
    return least > greatest ? [0, 1] : [least, greatest];
  }
  function mixed(chart) {
    return chart.waves.some(function (wave) {
      return wave.u !== chart.waves[0].u || wave.k !== chart.waves[0].k || wave.r !== chart.waves[0].r;
    });
  }
  function valueTicks(chart) {
    var range = rangeOf(chart), size = Math.max(Math.abs(range[0]), Math.abs(range[1]));
    var scale = mixed(chart) || !chart.waves.length ? {factor: 1, suffix: ""} : scaleOf(chart.waves[0], size);
    var low = range[0] * scale.factor, high = range[1] * scale.factor;
    if (low >= 0 && low <= 0.6 * high)
      low = 0;
    if (high <= 0 && high >= 0.6 * low)
      high = 0;
    if (high - low < size * scale.factor * 1e-5 || high === low) {
      var room = size > 0 ? size * scale.factor / 10 : 1;
      low = low >= 0 && low < room ? 0 : low - room;
      high += room;
    }
    var power = Math.pow(10, Math.floor(Math.log10((high - low) / 5))), part = (high - low) / 5 / power;
    var step = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10), ticks = [];
    low = Math.floor(low / step + 1e-6) * step;
    high = Math.ceil(high / step - 1e-6) * step;
    for (var i = 0; i <= Math.round((high - low) / step); i++) {
      var value = low + i * step;
      ticks.push({v: value / scale.factor, label: digits(Math.abs(value) < step / 1e6 ? 0 : value) + scale.suffix});
    }
    /* Above the uppermost tick dygraphs needs room for its label. */
    return {ticks: ticks, range: [low / scale.factor, (high + (high - low) / 50) / scale.factor]};
  }
  function windowOf(chart) {
    var values = valueTicks(chart);
    chart.ticks = values.ticks;
    return {dateWindow: shown.slice(), valueRange: values.range};
  }
  function readOut(chart, row) {
    chart.time.textContent = row < 0 ? "" : fullTime(chart.rows[row][0]);
    chart.outputs.forEach(function (output, number) {
      var value = row < 0 ? null : chart.rows[row][number + 1], wave = chart.waves[number];
      output.textContent = !value || isNaN(value[1]) ? (row < 0 ? "" : "no value") : show(wave, value[1]) +
        (value[0] < value[2] ? " (" + show(wave, value[0]) + " to " + show(wave, value[2]) + ")" : "");
    });
  }
  function underlay(context, area, graph) {
    var chart = graph.chart;
    context.save();
    context.fillStyle = context.strokeStyle = colour("--limit");
    context.globalAlpha = 0.13;
    chart.spans.forEach(function (span) {
      var from = Math.max(area.x, graph.toDomXCoord(span.from)), to = Math.min(area.x + area.w, graph.toDomXCoord(span.to));
      if (to >= from)
        context.fillRect(from, area.y, Math.max(2, to - from), area.h);
    });
    context.globalAlpha = 1;
    context.setLineDash([10, 3, 3, 3]);
    context.lineWidth = 1.5;
    chart.limits.forEach(function (limit) {
      var y = graph.toDomYCoord(limit.v);
      context.beginPath();
      context.moveTo(area.x, y);
      context.lineTo(area.x + area.w, y);
      context.stroke();
    });
    context.restore();
  }
  /* Links from the time axis to the warnings; those that would overlap are left out. */
  function placeMarks(chart) {
    var graph = chart.graph, area = graph.getArea(), before = -Infinity;
    chart.marks.textContent = "";
    chart.spans.forEach(function (span) {
      if (span.to < shown[0] || span.from > shown[1])
        return;
      var x = Math.min(area.x + area.w - 12, Math.max(area.x, graph.toDomXCoord(span.from)));
      if (x < before + 26)
        return;
      before = x;
      var mark = make("a", "", String(span.warning));
      mark.href = "#w" + span.warning;
      mark.setAttribute("aria-label", "Warning " + span.warning + ", " + fullTime(span.from) + " to " + fullTime(span.to));
      mark.style.left = x + "px";
      chart.marks.appendChild(mark);
    });
  }
  function drawn(graph) {
    var chart = graph.chart;
    if (!chart || !chart.graph)
      return;
    placeMarks(chart);
    var range = graph.xAxisRange();
    if (!syncing && (Math.abs(range[0] - shown[0]) > 1 || Math.abs(range[1] - shown[1]) > 1))
      setWindow(range[0], range[1]);
  }
  function look() {
    return {axisLineColor: colour("--rule"), gridLineColor: colour("--rule")};
  }
  function draw(chart) {
    if (chart.graph)
      chart.graph.destroy();
    chart.graph = null;
    chart.rows = rowsOf(chart.waves);
    chart.visible = chart.waves.map(function () { return true; });
    var touch = /^touch/, model = {}, series = {}, labels = ["time"];
    Object.keys(Dygraph.defaultInteractionModel).forEach(function (name) {
      if (!touch.test(name)) /* a finger scrolls the page */
        model[name] = Dygraph.defaultInteractionModel[name];
    });
    chart.waves.forEach(function (wave, at) {
      labels.push(String(at));
      series[at] = {strokePattern: DASHES[at % 8], color: colour(NAMES[at % 8])};
    });
    fillKeys(chart);
    if (!chart.rows.length)
      return;
    chart.graph = new Dygraph(chart.drawing, chart.rows, Object.assign({
      labels: labels, series: series, customBars: true, connectSeparatedPoints: true, fillAlpha: Math.min(0.18, 0.45 / chart.waves.length), strokeWidth: chart.waves.length > 20 ? 1 : 1.5,
      highlightCircleSize: 3, drawGapEdgePoints: true, interactionModel: model, labelsUTC: true,
      axes: {
        x: {ticker: function (from, to, pixels) { return timeTicks(from, to, pixels); }},
        y: {ticker: function () { return chart.ticks; }, axisLabelWidth: 70}
      },
      underlayCallback: function (context, area, graph) {
        graph.chart = chart;
        underlay(context, area, graph);
      },
      highlightCallback: function (event, time) { setCursor(time); },
      unhighlightCallback: function () { setCursor(null); },
      drawCallback: drawn
    }, look(), windowOf(chart)));
    chart.graph.chart = chart;
    placeMarks(chart);
  }
  function fillKeys(chart) {
    chart.keys.textContent = "";
    chart.outputs = chart.waves.map(function (wave, at) {
      var item = make("li"), label = make("label"), box = make("input"), output = make("span", "value");
      var svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      var path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      svg.setAttribute("viewBox", "0 0 40 8");
      svg.setAttribute("aria-hidden", "true");
      path.setAttribute("class", "s" + (at % 8 + 1));
      path.setAttribute("d", "M1 4h38");
      svg.appendChild(path);
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", function () {
        chart.visible[at] = box.checked;
        chart.graph.setVisibility(at, box.checked);
        chart.graph.updateOptions(windowOf(chart));
      });
      label.appendChild(box);
      label.appendChild(svg);
      label.appendChild(document.createTextNode(chart.oneCounter ? instanceOf(wave.n) : wave.n));
      item.appendChild(label);
      item.appendChild(output);
      chart.keys.appendChild(item);
      return output;
    });
  }
  function select(chart) {
    var words = chart.filter.trim().toLowerCase(), by = chart.by;
    var found = chart.all.filter(function (wave) { return !words || wave.n.toLowerCase().indexOf(words) >= 0; });
    found.forEach(read);
    found = found.slice().sort(function (a, b) { return b[by] - a[by]; });
    chart.waves = found.slice(0, chart.count);
    draw(chart);
  }
  function csvText(text) {
    text = /^[=+@-]/.test(text) ? "'" + text : text;
    return '"' + text.replace(/"/g, '""') + '"';
  }
  function csv(chart) {
    var lines = [], head = [csvText(elapsed ? "seconds" : "time (" + zoneName(shown[0]) + ")")], columns = [];
    chart.waves.forEach(function (wave, at) {
      if (!chart.visible[at])
        return;
      var path = wave.o + ": " + wave.n;
      columns.push(at + 1);
      head.push(csvText(path + " minimum"), csvText(path + " mean"), csvText(path + " maximum"));
    });
    lines.push(head.join(","));
    chart.rows.forEach(function (row) {
      if (row[0] < shown[0] || row[0] > shown[1])
        return;
      var cells = [elapsed ? row[0] / 1000 : csvText(fullTime(row[0]))];
      columns.forEach(function (column) {
        for (var i = 0; i < 3; i++)
          cells.push(row[column] && !isNaN(row[column][i]) ? row[column][i] : "");
      });
      lines.push(cells.join(","));
    });
    var link = make("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], {type: "text/csv"}));
    link.download = chart.title.replace(/[^\w%. -]+/g, "_") + ".csv";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 60000);
  }
  function keys(chart, event) {
    var row = chart.row === undefined ? nearest(chart.rows, shown[0]) : chart.row, by = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      chart.row = Math.max(0, Math.min(chart.rows.length - 1, row + (event.key === "ArrowLeft" ? -by : by)));
      setCursor(chart.rows[chart.row][0]);
    } else if (event.key === "+")
      zoom(0.5);
    else if (event.key === "-")
      zoom(2);
    else if (event.key === "Escape")
      setWindow(whole[0], whole[1]);
    else
      return;
    event.preventDefault();
  }
  /* The parts of a chart in its figure; the graph comes when the reader does. */
  function begin(chart) {
    var live = make("div", "live"), tools = make("div", "tools"), frame = make("div", "frame");
    chart.canvas = make("div", "canvas");
    chart.canvas.tabIndex = 0;
    chart.canvas.setAttribute("role", "group");
    chart.canvas.setAttribute("aria-label", chart.title + ", interactive: arrow keys move the cursor, + and - zoom");
    chart.canvas.addEventListener("keydown", function (event) { keys(chart, event); });
    chart.drawing = make("div", "drawing");
    chart.drawing.setAttribute("aria-hidden", "true");
    chart.canvas.appendChild(chart.drawing);
    chart.marks = make("div", "marks-of-warnings");
    chart.time = make("p", "cursor");
    chart.keys = make("ul", "keys");
    chart.keys.tabIndex = 0;
    chart.keys.setAttribute("aria-label", "Series of " + chart.title);
    if (chart.all.length > chart.waves.length || chart.all.length > 8) {
      var counts = [8, 20, 50, 200].filter(function (count) { return count < chart.all.length; });
      counts.push(chart.all.length);
      var all = counts.map(function (count) {
        return [count, count === chart.all.length ? "all " + count : "top " + count];
      });
      tools.appendChild(choice("Show", [["", "as in print"]].concat(all), function (value) {
        if (value === "") {
          chart.waves = chart.first;
          draw(chart);
          return;
        }
        chart.count = Number(value);
        select(chart);
      }));
      tools.appendChild(choice("by", [["mean", "mean"], ["most", "maximum"], ["last", "last value"]], function (value) {
        chart.by = value;
        select(chart);
      }));
      var label = make("label", "", "with "), input = make("input");
      input.type = "search";
      input.size = 12;
      input.addEventListener("input", function () {
        chart.filter = input.value;
        select(chart);
      });
      label.appendChild(input);
      tools.appendChild(label);
    }
    tools.appendChild(button("CSV", function () { csv(chart); }));
    tools.lastChild.setAttribute("aria-label", "CSV of the visible range of " + chart.title);
    if (chart.added) {
      tools.appendChild(button("Remove", function () {
        charts.splice(charts.indexOf(chart), 1);
        if (chart.graph)
          chart.graph.destroy();
        chart.figure.remove();
      }));
      tools.lastChild.setAttribute("aria-label", "Remove " + chart.title);
    }
    frame.appendChild(chart.canvas);
    frame.appendChild(chart.marks);
    live.appendChild(frame);
    live.appendChild(chart.time);
    live.appendChild(chart.keys);
    live.appendChild(tools);
    var plot = chart.figure.querySelector(".plot");
    chart.figure.insertBefore(live, plot ? plot.nextSibling : null);
    chart.figure.classList.add("alive");
    draw(chart);
  }
  var watcher = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting)
        return;
      watcher.unobserve(entry.target);
      charts.forEach(function (chart) {
        if (chart.figure === entry.target)
          begin(chart);
      });
    });
  }, {rootMargin: "400px"});

  /* ---- warnings: when a series was beyond the limit ---- */

  var LOW_IS_BAD = /avail|free|idle|hit|life|remaining/i;
  function spansOf(object, limit) {
    var spans = [];
    limit.s.forEach(function (name) {
      var wave = byKey.get(object + "\n" + name), open = null;
      if (!wave)
        return;
      var low = LOW_IS_BAD.test(counterOf(name)), step = wave.t * 1000;
      read(wave).values.forEach(function (value, at) {
        if (!value || !(low ? value[0] < limit.v : value[2] > limit.v))
          return;
        if (open && wave.times[at] - open.to <= 3 * step)
          open.to = wave.times[at];
        else {
          open = {warning: limit.n, from: wave.times[at], to: wave.times[at]};
          spans.push(open);
        }
      });
    });
    spans.sort(function (a, b) { return (b.to - b.from) - (a.to - a.from); });
    return spans.slice(0, 50).sort(function (a, b) { return a.from - b.from; });
  }
  function lead(chart, limit, spans) {
    var item = document.getElementById("w" + limit.n);
    if (!item || !spans.length || item.querySelector(".when"))
      return;
    var line = make("p", "when", "Beyond the limit: ");
    var longest = spans.slice().sort(function (a, b) { return (b.to - b.from) - (a.to - a.from); }).slice(0, 5);
    longest.sort(function (a, b) { return a.from - b.from; }).forEach(function (span) {
      var same = day(span.from) === day(span.to);
      line.appendChild(button(fullTime(span.from) + (span.to > span.from ? " to " + (same ? clock(span.to, 1000) : fullTime(span.to)) : ""),
        function () {
          var room = Math.max((span.to - span.from) / 2, (whole[1] - whole[0]) / 200);
          setWindow(span.from - room, span.to + room);
          chart.figure.scrollIntoView();
          if (chart.canvas)
            chart.canvas.focus({preventScroll: true});
        }));
    });
    if (spans.length > longest.length)
      line.appendChild(document.createTextNode(" and " + (spans.length - longest.length) + " more times"));
    item.appendChild(line);
  }

  /* ---- the charts of the page, and those that the reader adds ---- */

  function add(figure, title, object, waves, limits, added) {
    var chart = {figure: figure, title: title, first: waves, waves: waves, all: [], limits: limits, spans: [], count: 8,
      by: "mean", filter: "", added: added, outputs: [], rows: []};
    var counters = new Set(waves.map(function (wave) { return object + "\n" + counterOf(wave.n); }));
    counters.forEach(function (counter) { chart.all = chart.all.concat(byCounter.get(counter)); });
    chart.oneCounter = counters.size === 1;
    limits.forEach(function (limit) {
      var spans = limit.n ? spansOf(object, limit) : [];
      chart.spans = chart.spans.concat(spans);
      lead(chart, limit, spans);
    });
    chart.spans.sort(function (a, b) { return a.from - b.from; });
    charts.push(chart);
    return chart;
  }
  data.charts.forEach(function (about) {
    var figure = document.getElementById(about.id), waves = [];
    about.n.forEach(function (name) {
      var wave = byKey.get(about.o + "\n" + name);
      if (wave)
        waves.push(wave);
    });
    if (figure && waves.length)
      watcher.observe(add(figure, figure.querySelector("h3").textContent, about.o, waves, about.l, false).figure);
  });
  function addCounter(text) {
    var key = text.replace(": ", "\n"), waves = byCounter.get(key);
    if (!waves)
      return false;
    waves.forEach(read);
    var first = waves.slice().sort(function (a, b) { return b.mean - a.mean; }).slice(0, 8);
    var figure = make("figure"), caption = make("figcaption");
    caption.appendChild(make("h3", "", text));
    figure.appendChild(caption);
    panel.parentNode.insertBefore(figure, panel.nextSibling);
    begin(add(figure, text, waves[0].o, first, [], true));
    return true;
  }

  var panel = make("div", "tools panel"), said = make("p", "quiet");
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "All charts");
  if (!elapsed)
    panel.appendChild(choice("Times", [["log", "of the log"], ["utc", "UTC"], ["local", "of this computer"]],
      function (value) {
        var name = document.getElementById("zone");
        zone = value;
        if (name)
          name.textContent = "Times in charts are " + zoneName(shown[0]) + ". ";
        setWindow(shown[0], shown[1]);
      }));
  [["Zoom in", function () { zoom(0.5); }], ["Zoom out", function () { zoom(2); }], ["Earlier", function () { move(-0.5); }],
    ["Later", function () { move(0.5); }], ["Whole time", function () { setWindow(whole[0], whole[1]); }]].forEach(function (one) {
    panel.appendChild(button(one[0], one[1]));
  });
  var form = make("form"), label = make("label", "", "Counter "), input = make("input"), list = make("datalist");
  var sure = make("button", "", "Add a chart");
  list.id = "counters";
  Array.from(byCounter.keys()).sort().forEach(function (key) {
    var option = make("option");
    option.value = key.replace("\n", ": ");
    list.appendChild(option);
  });
  input.setAttribute("list", "counters");
  input.type = "search";
  input.size = 28;
  label.appendChild(input);
  form.appendChild(label);
  form.appendChild(list);
  form.appendChild(sure);
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    input.setCustomValidity(addCounter(input.value) ? "" : "no such counter");
    if (input.checkValidity())
      input.value = "";
    else
      input.reportValidity();
  });
  input.addEventListener("input", function () { input.setCustomValidity(""); });
  panel.appendChild(form);
  panel.appendChild(said);
  panel.appendChild(make("p", "quiet", "Drag over a chart to zoom all of them, and double-click for the whole time. " +
    "Shift and dragging move." + (data.omitted ? " " + data.omitted + " more series are in the report document." : "")));
  section.parentNode.insertBefore(panel, section.nextSibling);
  setWindow(whole[0], whole[1]);
  function recolour() {
    eachLive(function (chart) {
      var series = {};
      chart.waves.forEach(function (wave, at) { series[at] = {strokePattern: DASHES[at % 8], color: colour(NAMES[at % 8])}; });
      chart.graph.updateOptions(Object.assign({series: series}, look()));
    });
  }
  [window.matchMedia("(prefers-color-scheme: dark)"), forced].forEach(function (query) {
    query.addEventListener("change", recolour);
  });
})();
