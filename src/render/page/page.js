/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the page does beyond being read: tables are sorted and searched, one function's code is shown
 * at a time, and the time line is drawn. All numbers were computed before; only the sums over a range
 * of the time line are made here, out of its bins.
 */
"use strict";

function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);

    for (const [key, value] of Object.entries(attributes)) {
        element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
}

const grouped = new Intl.NumberFormat("en-US");

/* As in the tables of the page. */
function percent(share) {
    if (share <= 0) {
        return "0";
    }
    return share < 0.0001 ? "<0.01" : (100 * share).toFixed(share < 0.09995 ? 2 : 1);
}

/* ---- tables ---------------------------------------------------------------------------------- */

function valueOf(row, column) {
    const cell = row.cells[column];

    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

/* Numbers begin with the largest, text with the first letter; the next time it is the other way. */
function sortBy(table, head) {
    const column = head.cellIndex;
    const text = head.classList.contains("t");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : !text;
    const body = table.tBodies[0];
    const rows = [...body.rows];

    rows.sort((a, b) => (down ? -1 : 1) * compare(valueOf(a, column), valueOf(b, column)));
    body.append(...rows);
    for (const other of table.tHead.rows[0].cells) {
        other.removeAttribute("aria-sort");
    }
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
}

function makeSortable(table) {
    for (const head of table.tHead.rows[0].cells) {
        const button = make("button", { type: "button" }, head.textContent);

        button.addEventListener("click", () => sortBy(table, head));
        head.replaceChildren(button);
    }
}

function search(table, words, count) {
    const wanted = words.toLowerCase();
    let shown = 0;

    for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
}

function makeSearchable(table) {
    const input = make("input", { type: "search", id: `${table.id}-search` });
    const count = make("span", { role: "status" });
    const label = make("label", { for: input.id }, "Search");

    input.addEventListener("input", () => search(table, input.value, count));
    table.closest(".scroll").before(make("div", { class: "find" }, label, input, count));
}

function enhanceTables() {
    for (const table of document.querySelectorAll("table.list")) {
        if (table.closest(".code")) {
            continue; /* code has an order of its own */
        }
        makeSortable(table);
        if (table.tBodies[0].rows.length > 10) {
            makeSearchable(table);
        }
    }
    for (const cell of document.querySelectorAll("tbody th, tbody td.t")) {
        if (cell.textContent.length > 40) {
            cell.title = cell.textContent;
        }
    }
}

/* ---- code ------------------------------------------------------------------------------------ */

/* One function at a time: the one that the address of the page names, else the first. */
function showCode() {
    const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const code = wanted && wanted.classList.contains("code") ? wanted : null;

    if (!code && document.querySelector(".code.shown")) {
        return;
    }
    for (const other of document.querySelectorAll(".code")) {
        other.classList.remove("shown");
    }
    (code || document.querySelector(".code"))?.classList.add("shown");
    if (code) {
        code.scrollIntoView();
        code.querySelector("h3").focus({ preventScroll: true });
    }
}

function enhanceCode() {
    document.documentElement.classList.add("script");
    addEventListener("hashchange", showCode);
    addEventListener("keydown", (event) => {
        if (event.key === "Escape" && document.activeElement?.closest(".code")) {
            location.hash = "functions";
        }
    });
    showCode();
}

/* ---- the time line --------------------------------------------------------------------------- */

const DARK = matchMedia("(prefers-color-scheme: dark)");
/* From nothing to the most: lightness alone tells, so that it does not need colours to be seen. */
const RAMP = { light: [[225, 236, 246], [0, 68, 122]], dark: [[38, 50, 64], [250, 214, 110]] };

function rampColour(part) {
    const [low, high] = DARK.matches ? RAMP.dark : RAMP.light;

    return `rgb(${low.map((from, i) => Math.round(from + part * (high[i] - from))).join(",")})`;
}

const add = (bins, from, to) => bins.slice(from, to + 1).reduce((sum, value) => sum + value, 0);

/* What a row of bins has from one bin to another. */
function sums(row, from, to) {
    return {
        samples: add(row.samples, from, to),
        latency: add(row.latency, from, to),
        loads: row.loads.map((bins) => add(bins, from, to)),
    };
}

const mean = (sum) => (sum.samples ? sum.latency / sum.samples : 0);
const allLoads = (sum) => sum.loads.reduce((all, loads) => all + loads, 0);

function quantities(data) {
    const list = [
        { name: "samples", of: (sum) => sum.samples, text: (value) => grouped.format(value) },
        { name: "mean latency", of: mean, text: (value) => `${value.toFixed(1)} cycles` },
    ];

    data.levels.forEach((level, i) => list.push({
        name: `loads served by ${level}`,
        of: (sum) => (allLoads(sum) ? sum.loads[i] / allLoads(sum) : 0),
        text: (value) => `${percent(value)} % of loads`,
    }));
    return list;
}

class TimeLine {
    constructor(place, data) {
        this.data = data;
        this.bins = data.all.samples.length;
        this.lane = data.lanes.length < 4 ? 44 : 20; /* pixels */
        this.from = 0;
        this.to = this.bins - 1;
        this.quantities = quantities(data);
        this.quantity = this.quantities[0];
        this.build(place);
        this.draw();
        this.read();
    }

    seconds(bin) {
        return ((bin * this.data.bin_ns) / 1e9).toFixed(6);
    }

    build(place) {
        const select = make("select", { id: "time-colour" });
        const names = make("ol");

        this.quantities.forEach((q, i) => select.append(make("option", { value: i }, q.name)));
        select.addEventListener("change", () => {
            this.quantity = this.quantities[select.value];
            this.draw();
        });
        this.legend = make("canvas", { class: "legend", role: "img", width: 144, height: 13 });
        this.most = make("span");
        this.hover = make("p", { class: "readout" }, "Drag over the picture, or move the two ends, "
            + "to choose a range.");
        this.canvas = make("canvas", { role: "img", "aria-label": `Time line by ${this.data.by}` });
        for (const lane of this.data.lanes) {
            const name = make("li", { title: lane.name }, lane.name);

            name.style.height = `${this.lane}px`;
            names.append(name);
        }
        place.append(
            make("div", { class: "find" }, make("label", { for: "time-colour" }, "Colour by"), select,
                "none", this.legend, this.most),
            make("div", { class: "lanes" }, names, this.canvas),
            this.buildEnds(), this.hover);
        this.buildAnswer(place);
        this.listen();
    }

    buildEnds() {
        const ends = make("div", { class: "ends" });

        this.ends = ["from", "to"].map((which) => {
            const input = make("input", { type: "range", min: 0, max: this.bins - 1, id: `time-${which}` });

            input.value = this[which];
            input.addEventListener("input", () => this.choose(Number(this.ends[0].value),
                Number(this.ends[1].value)));
            ends.append(make("label", { for: input.id }, `Range ${which}`), input);
            return input;
        });
        return ends;
    }

    buildAnswer(place) {
        const heads = ["function", "samples", "share %", "mean", ...this.data.levels];

        this.answer = make("p", { class: "readout", role: "status", id: "time-answer" });
        this.rows = make("tbody");
        this.table = make("table", { class: "list", id: "time-table" },
            make("caption", {}, "The range, by function: the first of the list of functions, and all "
                + "others. Levels are % of the loads. Other parts of the page are of the whole recording."),
            make("thead", {}, make("tr", {}, ...heads.map((head, i) => make("th",
                i ? { scope: "col" } : { scope: "col", class: "t" }, head)))),
            this.rows);
        place.append(this.answer, make("div", { class: "scroll", tabindex: "0", role: "region",
            "aria-label": "Functions in the range" }, this.table));
    }

    listen() {
        let start = null;

        this.canvas.addEventListener("pointerdown", (event) => {
            start = this.binAt(event);
            this.canvas.setPointerCapture(event.pointerId);
            this.choose(start, start);
        });
        this.canvas.addEventListener("pointermove", (event) => {
            if (start !== null) {
                this.choose(start, this.binAt(event));
            }
            this.describe(event);
        });
        this.canvas.addEventListener("pointerup", (event) => {
            if (start === this.binAt(event)) {
                this.choose(0, this.bins - 1); /* a click, not a range: everything */
            }
            start = null;
        });
        new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
        DARK.addEventListener("change", () => this.draw());
    }

    binAt(event) {
        const box = this.canvas.getBoundingClientRect();
        const bin = Math.floor(((event.clientX - box.left) / box.width) * this.bins);

        return Math.min(this.bins - 1, Math.max(0, bin));
    }

    describe(event) {
        const box = this.canvas.getBoundingClientRect();
        const lane = this.data.lanes[Math.floor((event.clientY - box.top) / this.lane)];
        const bin = this.binAt(event);

        if (lane) {
            const sum = sums(lane, bin, bin);

            this.hover.textContent = `${lane.name}, from ${this.seconds(bin)} s: `
                + `${grouped.format(sum.samples)} samples, ${mean(sum).toFixed(1)} cycles on average`;
        }
    }

    choose(one, other) {
        this.from = Math.min(one, other);
        this.to = Math.max(one, other);
        this.ends[0].value = this.from;
        this.ends[1].value = this.to;
        this.draw();
        this.read();
    }

    draw() {
        const lanes = this.data.lanes;
        const width = Math.max(this.canvas.clientWidth, this.bins);
        const height = this.lane * lanes.length;
        const scale = devicePixelRatio;
        const values = lanes.map((lane) => lane.samples.map((samples, i) =>
            (samples ? this.quantity.of(sums(lane, i, i)) : null)));
        const most = Math.max(1e-9, ...values.flat());
        const context = this.canvas.getContext("2d");

        this.canvas.width = width * scale;
        this.canvas.height = height * scale;
        this.canvas.style.height = `${height}px`;
        context.scale(scale, scale);
        values.forEach((lane, row) => lane.forEach((value, i) => {
            if (value !== null) {
                context.globalAlpha = i >= this.from && i <= this.to ? 1 : 0.25;
                context.fillStyle = rampColour(value / most);
                context.fillRect((i * width) / this.bins, row * this.lane + 1, width / this.bins + 0.3, this.lane - 2);
            }
        }));
        this.drawLegend(most);
    }

    drawLegend(most) {
        const context = this.legend.getContext("2d");

        for (let i = 0; i < 144; i += 1) {
            context.fillStyle = rampColour(i / 143);
            context.fillRect(i, 0, 1, 13);
        }
        this.most.textContent = `up to ${this.quantity.text(most)}`;
        this.legend.setAttribute("aria-label", `from none to ${this.quantity.text(most)}`);
    }

    /* The numbers of the range. */
    read() {
        const all = sums(this.data.all, this.from, this.to);
        const rest = { samples: all.samples, latency: all.latency, loads: [...all.loads] };
        const rows = [];

        for (const row of this.data.functions) {
            const sum = sums(row, this.from, this.to);

            rest.samples -= sum.samples;
            rest.latency -= sum.latency;
            sum.loads.forEach((loads, i) => { rest.loads[i] -= loads; });
            rows.push({ name: make("a", { href: `#code-${row.code}` }, row.name), sum });
        }
        rows.sort((a, b) => b.sum.samples - a.sum.samples);
        rows.push({ name: "all others", sum: rest });
        this.rows.replaceChildren(...rows.filter((row) => row.sum.samples > 0)
            .map((row) => this.row(row, all)));
        this.answer.textContent = `From ${this.seconds(this.from)} s to ${this.seconds(this.to + 1)} s: `
            + `${grouped.format(all.samples)} samples, ${mean(all).toFixed(1)} cycles on average`
            + (this.to - this.from < this.bins - 1 ? "." : " (the whole recording).");
    }

    row({ name, sum }, all) {
        const loads = allLoads(sum);
        const cells = [
            [grouped.format(sum.samples), sum.samples],
            [percent(sum.samples / all.samples), sum.samples / all.samples],
            [mean(sum).toFixed(1), mean(sum)],
            ...sum.loads.map((n) => (loads ? [percent(n / loads), n / loads] : ["-", -1])),
        ];

        return make("tr", {}, make("th", { scope: "row" }, name),
            ...cells.map(([text, value]) => make("td", { "data-v": value }, text)));
    }
}

function start() {
    const data = JSON.parse(document.getElementById("page-data").textContent);
    const place = document.getElementById("timeline");

    if (place && data.all) {
        new TimeLine(place, data);
    }
    enhanceTables();
    enhanceCode();
}

start();
