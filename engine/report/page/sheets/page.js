/* SPDX-License-Identifier: MIT */
(function () {
  "use strict";
  /* A row and its subrows. */
  function groups(table) {
    var all = [];
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      if (row.classList.contains("sub") && all.length)
        all[all.length - 1].push(row);
      else
        all.push([row]);
    });
    return all;
  }
  function value(row, column) {
    var cell = row.cells[column];
    return cell ? cell.getAttribute("data-v") || cell.textContent.trim() : "";
  }
  function sort(table, column, heads) {
    var down = heads[column].getAttribute("aria-sort") !== "descending";
    if (!heads[column].classList.contains("n"))
      down = heads[column].getAttribute("aria-sort") === "ascending";
    var shown = Number(table.getAttribute("data-shown")) || Infinity;
    var rows = groups(table).map(function (group, at) {
      var text = value(group[0], column), number = text === "" ? NaN : Number(text);
      return {group: group, text: text, number: number, at: at};
    });
    rows.sort(function (a, b) {
      /* Cells without a value come last in both orders. */
      if ((a.text === "") !== (b.text === ""))
        return a.text === "" ? 1 : -1;
      var order = 0;
      if (!isNaN(a.number) && !isNaN(b.number))
        order = a.number - b.number;
      else if (isNaN(a.number) !== isNaN(b.number))
        order = isNaN(a.number) ? 1 : -1;
      else
        order = a.text.localeCompare(b.text, undefined, {numeric: true});
      return (down ? -order : order) || a.at - b.at;
    });
    rows.forEach(function (row, at) {
      row.group.forEach(function (part) {
        part.classList.toggle("more", at >= shown);
        table.tBodies[0].appendChild(part);
      });
    });
    Array.prototype.forEach.call(heads, function (head) { head.removeAttribute("aria-sort"); });
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  Array.prototype.forEach.call(document.querySelectorAll("table.rows"), function (table) {
    var heads = table.tHead ? table.tHead.rows[0].cells : [];
    if (!table.tBodies[0] || groups(table).length < 2)
      return;
    Array.prototype.forEach.call(heads, function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild)
        button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () { sort(table, column, heads); });
    });
  });
  /* Unfolds the target of a link. */
  function unfold() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target)
      return;
    for (var at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS")
        at.open = true;
      if (at.classList.contains("block") && target.closest("tr.more")) {
        var all = at.querySelector(".all");
        if (all)
          all.checked = true;
      }
    }
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  unfold();
})();
