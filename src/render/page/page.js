/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the page does beyond being read: tables are sorted and searched, one function's code is shown
 * at a time, and the time line is drawn. All counts were made before; what is made here, out of the
 * counts of each bin of time, are their sums over a range, and shares and means of these.
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

function sortRows(table, column, down) {
    const body = table.tBodies[0];
    const rows = [...body.rows];

    rows.sort((a, b) => (down ? -1 : 1) * compare(valueOf(a, column), valueOf(b, column)));
    body.append(...rows);
}

/* As it was chosen before; else by what the page is sorted by, or the first number; or as it came. */
function sortAgain(table, ranged) {
    const heads = [...table.tHead.rows[0].cells];
    const chosen = heads.find((head) => head.hasAttribute("aria-sort"));
    const key = /(by|most) latency/.test(table.caption.textContent) ? "count latency" : "count";
    const usual = heads.find((head) => head.dataset.of?.startsWith(key));

    if (chosen) {
        sortRows(table, chosen.cellIndex, chosen.getAttribute("aria-sort") === "descending");
    } else if (ranged && usual && table.id !== "mix-table" && table.id !== "served-table") {
        sortRows(table, usual.cellIndex, true);
    } else {
        table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => a.dataset.at - b.dataset.at));
    }
}

/* Numbers begin with the largest, text with the first letter; the next time it is the other way. */
function sortBy(table, head) {
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : !head.classList.contains("t");

    sortRows(table, head.cellIndex, down);
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
        [...table.tBodies[0].rows].forEach((row, at) => { row.dataset.at = at; });
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

/* ---- a range of the time line ----------------------------------------------------------------- */

const SEVERAL = 2 ** 32 + 1; /* SPE_SLICE_SEVERAL */

/* Counts of one row of a list: of each bin all fields. In the data 0 is followed by how many. */
function expand(packed, length) {
    const cells = new Float64Array(length);
    let to = 0;

    for (let i = 0; i < packed.length; i += 1) {
        if (packed[i] === 0) {
            i += 1;
            to += packed[i];
        } else {
            cells[to] = packed[i];
            to += 1;
        }
    }
    return cells;
}

const JOIN = {
    max: (a, b) => Math.max(a, b),
    thread: (a, b) => (!a || !b || a === b ? a || b : SEVERAL),
};

/* A list whose rows are counted by bin. */
class Slices {
    constructor({ names, fields, rows }, bins) {
        Object.assign(this, { names, fields, bins });
        this.rows = rows.map((row) => expand(row, bins * fields));
    }

    /* What a row has from one bin to another, by the names of the fields; `rest` are the others. */
    sum(row, from, to) {
        const sum = new Float64Array(this.fields);
        const join = Array.from(sum, (_, field) => JOIN[this.names[field]]);

        for (let bin = from; bin <= to; bin += 1) {
            for (let field = 0; field < this.fields; field += 1) {
                const value = this.rows[row][bin * this.fields + field];

                sum[field] = join[field] ? join[field](sum[field], value) : sum[field] + value;
            }
        }
        return {
            ...Object.fromEntries(this.names.map((name, field) => [name, sum[field]])),
            rest: [...sum.slice(this.names.length)],
        };
    }
}

/* Wilson's interval of a share, 95 %: as in the page itself. */
function wilson(hits, samples) {
    const z = 1.959963984540054;
    const share = hits / samples;
    const middle = (share + (z * z) / (2 * samples)) / (1 + (z * z) / samples);
    const half = (z * Math.sqrt((share * (1 - share)) / samples + (z * z) / (4 * samples * samples)))
        / (1 + (z * z) / samples);

    return [hits ? Math.max(0, middle - half) : 0, hits === samples ? 1 : Math.min(1, middle + half)];
}

const SVG = Object.assign(make("template"), { innerHTML: "<svg/>" }).content.firstChild.namespaceURI;

function makeSvg(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);

    for (const [key, value] of Object.entries(attributes)) {
        element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
}

function intervalPicture(share, [low, high]) {
    const text = `95 % interval: ${percent(low)}-${percent(high)} %`;

    return makeSvg("svg", { class: "ci", viewBox: "0 0 100 12", preserveAspectRatio: "none", role: "img",
        "aria-label": text }, makeSvg("title", {}, text),
    makeSvg("rect", { class: "bar", y: 2, width: 100 * share, height: 8 }),
    makeSvg("path", { d: `M${100 * low} 6H${100 * high}M${100 * low} 1v10M${100 * high} 1v10` }));
}

const NONE = { text: "-", value: -1 };

/* The words of `data-of` of a column: what a cell is made of. Operands are fields of the row, or with
 * "all." of the whole range, or two of them with + or - between. */
const CELLS = {
    count: (n) => ({ text: grouped.format(n), value: n }),
    share: (part, whole) => (whole ? { text: percent(part / whole), value: part / whole } : NONE),
    mean: (sum, samples) => (samples ? { text: (sum / samples).toFixed(1), value: sum / samples } : NONE),
    interval: (hits, samples) => (samples ? { text: percent(hits / samples), value: hits / samples,
        picture: intervalPicture(hits / samples, wilson(hits, samples)) } : NONE),
    threads: (thread) => ({ text: !thread ? "" : thread === SEVERAL ? "several" : "one" }),
};

/* Everything that a range of the time line changes. */
class Range {
    constructor(data, bins) {
        this.data = data;
        this.bins = bins;
        this.lists = null; /* made when the first range is chosen */
        this.kept = new Map(); /* cells as they came */
    }

    prepare() {
        this.lists = new Map(Object.entries(this.data.slices).map(([id, list]) =>
            [id, new Slices(list, this.bins)]));
        for (const table of document.querySelectorAll("table.list")) {
            if (!this.lists.has(table.id.replace(/-table$/, ""))) {
                table.closest(".scroll").classList.add("whole");
            }
        }
    }

    show(from, to, whole) {
        if (whole && !this.lists) {
            return;
        }
        if (!this.lists) {
            this.prepare();
        }
        this.all = this.lists.get("all").sum(0, from, to);
        for (const [id, list] of this.lists) {
            const table = document.getElementById(`${id}-table`);

            if (table) {
                this.showTable(table, list, from, to, whole);
            }
        }
        this.showHistograms(from, to, whole);
    }

    showTable(table, list, from, to, whole) {
        const heads = [...table.tHead.rows[0].cells];

        for (const row of table.tBodies[0].rows) {
            const known = list.rows[row.dataset.r] !== undefined;
            const sum = known && !whole ? list.sum(row.dataset.r, from, to) : null;

            row.classList.toggle("outside", !whole && known && !sum[list.names[0]]);
            heads.forEach((head, i) => this.showCell(row.cells[i], head, sum, whole));
        }
        sortAgain(table, !whole);
    }

    showCell(cell, head, sum, whole) {
        if (head.dataset.of === "keep" || (!head.dataset.of && head.classList.contains("t"))) {
            return;
        }
        if (!this.kept.has(cell)) {
            this.kept.set(cell, { nodes: [...cell.childNodes], value: cell.dataset.v });
        }
        if (whole) {
            this.put(cell, this.kept.get(cell).nodes, this.kept.get(cell).value);
        } else {
            const made = sum && head.dataset.of ? this.make(head.dataset.of, sum) : NONE;

            this.put(cell, made.picture ? [make("span", {}, made.text), made.picture] : [made.text],
                made.value);
        }
    }

    put(cell, nodes, value) {
        cell.replaceChildren(...nodes);
        if (value === undefined) {
            delete cell.dataset.v;
        } else {
            cell.dataset.v = value;
        }
    }

    make(words, sum) {
        const [kind, ...operands] = words.split(" ");

        if (kind === "quantile") {
            return this.quantile(sum, Number(operands[0]));
        }
        if (kind === "largest") {
            return sum.timed ? CELLS.count(sum.max) : NONE;
        }
        return CELLS[kind](...operands.map((operand) => this.operand(operand, sum)));
    }

    operand(text, sum) {
        const [, left, sign, right] = text.match(/^([a-z0-9_.]+)([+-])?(.*)$/);
        const value = (name) => (name.startsWith("all.") ? this.all[name.slice(4)] : sum[name]);

        return value(left) + (sign ? (sign === "-" ? -1 : 1) * value(right) : 0);
    }

    /* The bin of cycles that it is in: a range does not have each latency, only such bins. */
    quantile(sum, permille) {
        const rank = Math.max(1, Math.ceil((sum.timed * permille) / 1000));
        let seen = 0;
        const bin = sum.rest.findIndex((samples) => {
            seen += samples;
            return samples && seen >= rank;
        });

        return bin < 0 ? NONE : { text: this.cycles(bin).replace(" to ", "-"), value: this.data.latency_bins[bin] };
    }

    cycles(bin) {
        const [first, next] = this.data.latency_bins.slice(bin, bin + 2);

        return first === next - 1 ? `${first}` : `${first} to ${next - 1}`;
    }

    showHistograms(from, to, whole) {
        const list = this.lists.get("served");

        for (const picture of document.querySelectorAll("svg.histogram")) {
            const bars = picture.querySelector(".bars");

            if (!this.kept.has(bars)) {
                this.kept.set(bars, { nodes: [...bars.childNodes] });
            }
            bars.replaceChildren(...(whole ? this.kept.get(bars).nodes
                : this.bars(list.sum(picture.dataset.served, from, to))));
        }
    }

    bars(sum) {
        const most = Math.max(1, ...sum.rest);

        return sum.rest.map((samples, bin) => {
            const height = Math.ceil((60 * samples) / most);

            return makeSvg("rect", { x: 10 * bin, y: 60 - height, width: 9, height }, makeSvg("title", {},
                `${this.cycles(bin)} cycles: ${grouped.format(samples)} loads, ${percent(samples / sum.timed)} %`));
        }).filter((_, bin) => sum.rest[bin]);
    }
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
        this.range = new Range(data, this.bins);
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
            + "to choose a range: all tables then show that range.");
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
            this.buildAxis(), this.buildEnds(), this.hover);
        this.buildAnswer(place);
        this.listen();
    }

    /* Below the picture, and as wide. */
    buildAxis() {
        const parts = 4;

        this.axis = make("div", { class: "axis", "aria-hidden": "true" });
        for (let i = 0; i <= parts; i += 1) {
            const seconds = (i * this.bins * this.data.bin_ns) / parts / 1e9;

            this.axis.append(make("span", {}, `${Number(seconds.toPrecision(3))} s`));
        }
        return this.axis;
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
        const whole = make("button", { type: "button" }, "Show the whole recording");

        this.answer = make("p", { class: "readout", role: "status", id: "time-answer" });
        this.bar = make("div", { id: "range-bar", hidden: "" }, make("span"), whole);
        whole.addEventListener("click", () => this.choose(0, this.bins - 1));
        place.append(this.answer);
        document.body.append(this.bar);
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
        this.axis.style.marginLeft = `${this.canvas.offsetLeft - this.axis.parentElement.offsetLeft}px`;
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

    /* The numbers of the range, and everything else on the page. */
    read() {
        const all = sums(this.data.all, this.from, this.to);
        const whole = this.to - this.from === this.bins - 1;
        const text = `From ${this.seconds(this.from)} s to ${this.seconds(this.to + 1)} s: `
            + `${grouped.format(all.samples)} samples, ${mean(all).toFixed(1)} cycles on average`;

        this.answer.textContent = text + (whole ? " (the whole recording)." : ".");
        this.bar.firstChild.textContent = `Tables show a range. ${text}.`;
        this.bar.hidden = whole;
        document.body.classList.toggle("ranged", !whole);
        this.range.show(this.from, this.to, whole);
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
