// What is the same in every page of a trace (views.hpp): how it looks, and the script that draws what the data says.
#pragma once

#include <string_view>

namespace amsim::trace_page {

inline constexpr std::string_view before_data = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A trace</title>
<style>
:root {
  color-scheme: light dark;
  --back: #ffffff; --panel: #f4f6f8; --ink: #1b2430; --soft: #667282; --line: #d5dbe2;
  --idle: #e6eaee; --ramp: #c9dff2,#7fb6e6,#2f7fc4,#0b3a75; --followed: #d6246e; --box: #ffffff; --edge: #9aa6b4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #12161b; --panel: #1b2129; --ink: #e6ebf1; --soft: #98a5b4; --line: #343d48;
    --idle: #262d36; --ramp: #1d4468,#2a73b0,#58aeea,#d3efff; --followed: #ff5c9a; --box: #1e252e; --edge: #5d6a79;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 14px/1.45 system-ui, sans-serif;
  display: flex; flex-direction: column; height: 100vh; padding: 10px 14px; gap: 8px; }
h1 { font-size: 16px; font-weight: 600; margin: 0; }
#missing { color: var(--followed); }
main { display: flex; gap: 14px; flex: 1; min-height: 0; }
#machine { flex: 1; min-width: 0; min-height: 0; }
aside { width: 330px; background: var(--panel); border-radius: 8px; padding: 10px 12px; overflow: auto;
  display: flex; flex-direction: column; gap: 9px; }
footer { display: flex; gap: 10px; align-items: center; }
#times { flex: 1; position: relative; height: 62px; }
#load { position: absolute; left: 8px; right: 8px; top: 0; width: calc(100% - 16px); height: 38px;
  background: var(--panel); border-radius: 4px; }
#time { position: absolute; left: 0; right: 0; bottom: 0; width: 100%; margin: 0; accent-color: var(--followed); }
button, select, input { font: inherit; color: inherit; }
button { min-width: 62px; }
.soft { color: var(--soft); }
.row { display: flex; gap: 6px; align-items: center; flex-wrap: wrap; }
.key { display: inline-flex; align-items: center; gap: 5px; margin-right: 8px; }
.key i { width: 13px; height: 13px; border-radius: 3px; border: 1px solid var(--edge); display: inline-block; }
#scale { height: 11px; flex: 1; border-radius: 3px; }
#messages { width: 100%; min-height: 118px; background: var(--back); border: 1px solid var(--line);
  border-radius: 4px; }
#number { width: 80px; background: var(--back); border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: 1px 6px 1px 0; font-weight: normal; }
th { color: var(--soft); }
tr.hop { cursor: pointer; }
tr.now td { color: var(--followed); font-weight: 600; }
b { font-variant-numeric: tabular-nums; }
.node rect { stroke: var(--edge); stroke-width: 1.5; }
.node text { fill: var(--ink); font: 16px system-ui, sans-serif; text-anchor: middle; }
.link { cursor: pointer; stroke: transparent; stroke-width: 2.5; }
.link.way { stroke: var(--followed); stroke-opacity: .4; }
.link.way.passed { stroke-opacity: 1; }
.node.way rect { stroke: var(--followed); stroke-width: 3.5; }
.flit { fill: var(--back); stroke: var(--ink); stroke-width: 1.6; pointer-events: none; }
.flit.followed { fill: var(--followed); stroke: var(--back); }
.dim .flit:not(.followed) { opacity: .3; }
.held circle { fill: var(--followed); }
.held text { fill: #fff; font: 600 14px system-ui, sans-serif; text-anchor: middle; }
#curve { fill: var(--soft); opacity: .55; }
#span { fill: var(--followed); opacity: .25; }
#cursor { stroke: var(--followed); stroke-width: 2; vector-effect: non-scaling-stroke; }
</style>
</head>
<body>
<header><h1 id="title"></h1><div id="missing"></div></header>
<main>
<svg id="machine" role="img"></svg>
<aside>
<div><b id="now"></b><div id="busy" class="soft"></div></div>
<div class="row"><span class="soft">load of a link</span> 0 <span id="scale"></span> 1</div>
<div class="row"><label for="over" class="soft">over</label><select id="over"></select></div>
<div id="activities"></div>
<div class="soft">in a node: ↑ into the network, ↓ out of it</div>
<div class="row"><label for="number">follow message</label><input id="number" type="number" min="0">
<button id="none">none</button></div>
<label for="messages" class="soft">under way now</label>
<select id="messages" size="6"></select>
<div id="way"></div>
<div id="about" class="soft"></div>
</aside>
</main>
<footer>
<button id="play">play</button>
<select id="speed" aria-label="cycles per second"></select>
<div id="times">
<svg id="load" preserveAspectRatio="none" viewBox="0 0 1000 100"><path id="curve"/><rect id="span" y="0" height="100"/>
<line id="cursor" y1="0" y2="100"/></svg>
<input id="time" type="range" min="0" step="1" aria-label="cycle">
</div>
</footer>
<script type="application/json" id="trace">
)page";

inline constexpr std::string_view behind_data = R"page(
</script>
<script>
'use strict';
window.onerror = (what, file, line) => { document.documentElement.dataset.error = what + ', line ' + line; };
const by = id => document.getElementById(id);
const trace = JSON.parse(by('trace').textContent);
const [columns, rows] = trace.extents;
const injection = trace.ports;
const last = Math.max(trace.cycles - 1, 0);

// -- the record, by message, by link and by node

const messages = [];
for (let i = 0; i < trace.messages.length; i += 3) {
  messages.push({number: i / 3, from: trace.messages[i], to: trace.messages[i + 1], kind: trace.messages[i + 2],
    passages: [], arrivals: [], begin: trace.cycles, end: 0});
}
const links = new Map();  // by node * (ports + 1) + port
const keyOf = (node, port) => node * (injection + 1) + port;
for (let i = 0, now = 0; i < trace.passages.length; i += 5) {
  const [after, message, node, port, flits] = trace.passages.slice(i, i + 5);
  now += after;
  const passage = {begin: now, end: now + flits, message: messages[message], node, port};
  passage.message.passages.push(passage);
  passage.message.begin = Math.min(passage.message.begin, now);
  if (!links.has(keyOf(node, port))) links.set(keyOf(node, port), {passages: [], sum: [0]});
  const link = links.get(keyOf(node, port));
  link.passages.push(passage);
  link.sum.push(link.sum[link.sum.length - 1] + flits);
}
for (let i = 0; i < trace.arrivals.length; i += 3)
  messages[trace.arrivals[i + 1]].arrivals.push({at: trace.arrivals[i], node: trace.arrivals[i + 2]});
for (const message of messages) {
  const ends = message.passages.map(one => one.end).concat(message.arrivals.map(one => one.at));
  message.end = message.arrivals.length ? Math.max(...ends) : trace.cycles;
  message.flits = message.passages.filter(one => one.port === injection).reduce((n, one) => n + one.end - one.begin, 0);
}
const does = Array.from({length: columns * rows}, () => []);
for (let i = 0; i < trace.does.length; i += 4) {
  const [begin, cycles, node, what] = trace.does.slice(i, i + 4);
  does[node].push({begin, end: begin + cycles, what});
}
for (const some of does) some.sort((a, b) => a.begin - b.begin);

// The last of some, in the order of time, that has begun; -1: none has.
function lastBegun(some, time) {
  let low = 0, high = some.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (some[middle].begin <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
function at(some, time) {
  const one = some[lastBegun(some, time)];
  return one && time < one.end ? one : null;
}
function flitsBefore(link, time) {
  const i = lastBegun(link.passages, time);
  return i < 0 ? 0 : link.sum[i] + Math.min(time, link.passages[i].end) - link.passages[i].begin;
}
function loadOf(link, [begin, end]) {
  return (flitsBefore(link, end) - flitsBefore(link, begin)) / Math.max(end - begin, 1);
}

// -- what is drawn once

const directions = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]];
const places = Array.from(does, (_, node) => [node % columns * 100 + 50, Math.floor(node / columns) * 100 + 50]);
function neighbour(node, port) {
  const x = node % columns + directions[port][0], y = Math.floor(node / columns) + directions[port][1];
  const outside = x < 0 || x >= columns || y < 0 || y >= rows;
  if (outside && !trace.wraps[port < 3 ? 0 : 1]) return -1;
  return (x + columns) % columns + (y + rows) % rows * columns;
}
function make(name, attributes, parent) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}
// An arrow from (x, y) in a direction, `length` long.
function arrow(x, y, [dx, dy], length, half, tip) {
  const points = [[0, -half], [length - tip, -half], [length, 0], [length - tip, half], [0, half]];
  return 'M' + points.map(([a, b]) => (x + a * dx - b * dy) + ' ' + (y + a * dy + b * dx)).join('L') + 'Z';
}
// Where a link begins, its direction, and the length of what is drawn there: a link round the edge is drawn as two ends.
function shapeOf(node, port) {
  const [x, y] = places[node];
  if (port === injection) return {d: arrow(x - 11, y + 19, [0, -1], 15, 5, 7), middle: [x - 11, y + 11]};
  if (port === 0) return {d: arrow(x + 11, y + 4, [0, 1], 15, 5, 7), middle: [x + 11, y + 12]};
  const [dx, dy] = directions[port], right = [-dy * 8, dx * 8];
  const from = [x + dx * 26 + right[0], y + dy * 26 + right[1]];
  const there = places[neighbour(node, port)];
  const straight = Math.abs(there[0] - x) + Math.abs(there[1] - y) === 100 &&
    there[0] - x === dx * 100 && there[1] - y === dy * 100;
  if (straight) return {d: arrow(...from, [dx, dy], 48, 5, 9), middle: [from[0] + dx * 24, from[1] + dy * 24]};
  const to = [there[0] - dx * 54 + right[0], there[1] - dy * 54 + right[1]];
  return {d: arrow(...from, [dx, dy], 28, 5, 9) + arrow(...to, [dx, dy], 28, 5, 9),
    middle: [from[0] + dx * 14, from[1] + dy * 14]};
}
const machine = by('machine');
const edge = [trace.wraps[0] ? 8 : 0, trace.wraps[1] ? 8 : 0];
machine.setAttribute('viewBox',
  [-edge[0], -edge[1], columns * 100 + 2 * edge[0], rows * 100 + 2 * edge[1]].join(' '));
const boxes = does.map((_, node) => {
  const [x, y] = places[node];
  const group = make('g', {class: 'node', 'data-node': node}, machine);
  make('rect', {x: x - 24, y: y - 24, width: 48, height: 48, rx: 7}, group);
  make('text', {x, y: y - 6}, group).textContent = node;
  return group;
});
const drawn = [];
for (let node = 0; node < columns * rows; ++node) {
  for (let port = 0; port <= injection; ++port) {
    const between = port !== 0 && port !== injection;
    if (between && (neighbour(node, port) < 0 || trace.extents[port < 3 ? 0 : 1] === 1)) continue;
    const shape = shapeOf(node, port);
    const path = make('path', {class: 'link', d: shape.d, 'data-node': node, 'data-port': port}, machine);
    drawn.push({node, port, between, path, middle: shape.middle,
      link: links.get(keyOf(node, port)) || {passages: [], sum: [0]}});
  }
}
const moving = make('g', {}, machine);  // flits, on top of all
const nameOf = one => one.port === injection ? 'node ' + one.node + ' into the network'
  : one.port === 0 ? 'out of the network to node ' + one.node
  : 'node ' + one.node + ' to node ' + neighbour(one.node, one.port);

const hues = ['#b9c3ce', '#f2b632', '#5cc0b0', '#86c46b', '#a78bda', '#e58f6f', '#7aa7e0', '#c7b26a'];
trace.activities.forEach((name, i) => {
  const key = document.createElement('span'), patch = document.createElement('i');
  key.className = 'key';
  patch.style.background = hues[i % hues.length];
  key.append(patch, name);
  by('activities').append(key);
});
by('title').textContent = document.title = trace.title;
by('missing').textContent = trace.missing;
for (const [list, values, chosen] of [['over', [1, 4, 16, 64, 256, 0], 16], ['speed', [4, 16, 64, 256], 16]]) {
  for (const value of values) {
    const option = document.createElement('option');
    option.value = value;
    option.textContent = list === 'speed' ? value + ' cycles/s'
      : value === 0 ? 'the whole run' : value === 1 ? 'this cycle' : value + ' cycles around it';
    by(list).append(option);
  }
  by(list).value = chosen;
}
by('time').max = last;
by('number').max = messages.length - 1;

// Load of all links between routers, over the run.
{
  const bins = Math.min(500, Math.max(trace.cycles, 1)), width = Math.max(trace.cycles, 1) / bins;
  const sums = Array.from({length: bins}, (_, i) => drawn.filter(one => one.between && one.link.passages.length)
    .reduce((sum, one) => sum + loadOf(one.link, [i * width, (i + 1) * width]) * width, 0) / width);
  const most = Math.max(...sums, 1);
  by('curve').setAttribute('d', 'M0 100' + sums.map((sum, i) => 'L' + i / bins * 1000 + ' ' + (100 - sum / most * 94) +
    'L' + (i + 1) / bins * 1000 + ' ' + (100 - sum / most * 94)).join('') + 'L1000 100Z');
}

// -- what is drawn for a cycle and a message

let time = 0, followed = null;
let ramp = [], idle = '';
function readColours() {
  const style = getComputedStyle(document.documentElement);
  ramp = style.getPropertyValue('--ramp').split(',').map(text => text.trim())
    .map(text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16)));
  idle = style.getPropertyValue('--idle').trim();
  by('scale').style.background = 'linear-gradient(90deg,' + style.getPropertyValue('--ramp') + ')';
}
function colourOf(load) {
  if (load <= 0) return idle;
  const place = Math.min(load, 1) * (ramp.length - 1), i = Math.min(Math.floor(place), ramp.length - 2);
  return 'rgb(' + [0, 1, 2].map(c => Math.round(ramp[i][c] + (ramp[i + 1][c] - ramp[i][c]) * (place - i))) + ')';
}
function window_() {
  const over = Number(by('over').value);
  if (over === 0) return [0, trace.cycles];
  const begin = Math.max(0, time - Math.floor(over / 2));
  return [begin, Math.min(begin + over, Math.max(trace.cycles, 1))];
}
// Flits of a message in the router of a node: come by one link, and not yet gone by all.
function heldBy(message, node) {
  const passed = one => Math.min(Math.max(time - one.begin, 0), one.end - one.begin);
  let come = 0;
  const gone = new Map();
  for (const one of message.passages) {
    const between = one.port !== 0 && one.port !== injection;
    if (between ? neighbour(one.node, one.port) === node : one.port === injection && one.node === node)
      come += passed(one);
    if (one.port !== injection && one.node === node) gone.set(one.port, (gone.get(one.port) || 0) + passed(one));
  }
  return gone.size === 0 ? come : come - Math.min(...gone.values());
}
function drawLinks() {
  const over = window_();
  let busy = 0;
  moving.replaceChildren();
  machine.classList.toggle('dim', followed !== null);
  for (const one of drawn) {
    const load = loadOf(one.link, over);
    one.path.setAttribute('fill', colourOf(load));
    one.path.dataset.load = load.toFixed(3);
    const ways = followed === null ? [] : followed.passages.filter(p => p.node === one.node && p.port === one.port);
    one.path.classList.toggle('way', ways.length !== 0);
    one.path.classList.toggle('passed', ways.some(p => p.begin <= time));
    const passage = at(one.link.passages, time);
    if (!passage) continue;
    if (one.between) ++busy;
    const mine = passage.message === followed;
    make('circle', {class: mine ? 'flit followed' : 'flit', cx: one.middle[0], cy: one.middle[1], r: mine ? 7 : 3.5},
      moving);
  }
  return busy;
}
function drawNodes() {
  does.forEach((some, node) => {
    const now = at(some, time);
    boxes[node].firstChild.setAttribute('fill', now ? hues[now.what % hues.length] : 'var(--box)');
    boxes[node].lastChild.style.fill = now ? '#1b2430' : '';
    boxes[node].dataset.does = now ? trace.activities[now.what] : '';
    const ends = followed !== null && (followed.from === node || followed.arrivals.some(one => one.node === node));
    boxes[node].classList.toggle('way', ends);
    const held = followed === null ? 0 : heldBy(followed, node);
    if (held <= 0) return;
    const group = make('g', {class: 'held', 'data-node': node}, moving), [x, y] = places[node];
    make('circle', {cx: x + 22, cy: y - 22, r: 11}, group);
    make('text', {x: x + 22, y: y - 17}, group).textContent = held;
  });
}
const nameOfMessage = one =>
  one.number + ': ' + (trace.kinds[one.kind] || '?') + ', node ' + one.from + ' → ' + one.to;
function drawList() {
  const list = by('messages'), shown = 200;
  const some = messages.filter(one => one.begin <= time && time < one.end);
  list.replaceChildren(...some.slice(0, shown).map(one => {
    const option = document.createElement('option');
    option.value = one.number;
    option.textContent = nameOfMessage(one);
    option.selected = one === followed;
    return option;
  }));
  return some.length;
}
function drawWay() {
  const way = by('way');
  way.replaceChildren();
  by('span').setAttribute('width', 0);
  by('number').value = followed === null ? '' : followed.number;
  if (followed === null) return;
  const x = cycle => cycle / Math.max(trace.cycles, 1) * 1000;
  by('span').setAttribute('x', x(followed.begin));
  by('span').setAttribute('width', Math.max(x(followed.end) - x(followed.begin), 1.5));
  const table = document.createElement('table');
  const row = (cells, time_, now) => {
    const tr = table.insertRow();
    tr.className = 'hop' + (now ? ' now' : '');
    for (const cell of cells) tr.insertCell().textContent = cell;
    tr.onclick = () => show(time_, followed);
  };
  const head = document.createElement('div');
  head.append('message ' + nameOfMessage(followed) + ', ' + followed.flits + (followed.flits === 1 ? ' flit' : ' flits'));
  const hops = new Map();  // a link's first and last flit, in the order in which the first ones went
  for (const one of followed.passages) {
    const before = hops.get(nameOf(one));
    hops.set(nameOf(one), {begin: before ? before.begin : one.begin, end: one.end});
  }
  for (const [name, one] of hops)
    row([one.begin + (one.end - one.begin > 1 ? '–' + (one.end - 1) : ''), name], one.begin,
      one.begin <= time && time < one.end);
  for (const one of followed.arrivals) row([one.at, 'all of it at node ' + one.node], one.at, one.at === time);
  way.append(head, table);
}
function show(cycle, message) {
  time = Math.min(Math.max(Math.round(cycle) || 0, 0), last);
  followed = message || null;
  const busy = drawLinks();
  drawNodes();
  const under = drawList();
  drawWay();
  by('time').value = time;
  by('now').textContent = 'cycle ' + time + ' of ' + trace.cycles;
  by('busy').textContent = busy + ' of ' + drawn.filter(one => one.between).length + ' links carry a flit, ' +
    under + ' of ' + messages.length + ' messages under way';
  for (const end of ['x1', 'x2']) by('cursor').setAttribute(end, (time + .5) / Math.max(trace.cycles, 1) * 1000);
}
function remember() {
  history.replaceState(null, '', '#t=' + time + (followed ? '&message=' + followed.number : '') + '&over=' +
    by('over').value);
}
function showAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has('over')) by('over').value = asked.get('over');
  if (!by('over').value) by('over').value = 16;
  show(Number(asked.get('t')), asked.has('message') ? messages[asked.get('message')] : null);
}

// -- what people do

const choose = (cycle, message) => { show(cycle, message); remember(); };
by('time').oninput = () => choose(by('time').value, followed);
by('over').onchange = () => choose(time, followed);
by('messages').onchange = () => choose(time, messages[by('messages').value]);
by('number').onchange = () => {
  const message = by('number').value === '' ? null : messages[by('number').value];
  choose(message ? message.begin : time, message);
};
by('none').onclick = () => choose(time, null);
machine.onclick = event => {
  const one = drawn.find(some => some.path === event.target), passage = one && at(one.link.passages, time);
  if (passage) choose(time, passage.message);
};
machine.onmouseover = event => {
  const one = drawn.find(some => some.path === event.target);
  const box = boxes.find(some => some.contains(event.target));
  by('about').textContent = one ? nameOf(one) + ': load ' + one.path.dataset.load
    : box ? 'node ' + box.dataset.node + (box.dataset.does ? ': ' + box.dataset.does : '') : '';
};
let playing = null;
function step() {
  if (playing === null) return;
  const cycle = playing.cycle + (performance.now() - playing.since) / 1000 * Number(by('speed').value);
  if (Math.floor(cycle) !== time) show(Math.floor(cycle), followed);
  if (cycle >= last) return stop();
  setTimeout(step, 25);
}
function stop() {
  playing = null;
  by('play').textContent = 'play';
  remember();
}
by('play').onclick = () => {
  if (playing !== null) return stop();
  playing = {cycle: time >= last ? 0 : time, since: performance.now()};
  by('play').textContent = 'stop';
  setTimeout(step, 25);
};
by('speed').onchange = () => {
  if (playing !== null) playing = {cycle: time, since: performance.now()};
};
window.onhashchange = showAddress;
matchMedia('(prefers-color-scheme: dark)').onchange = () => { readColours(); show(time, followed); };
readColours();
showAddress();
document.documentElement.dataset.ready = 'yes';
</script>
</body>
</html>
)page";

}  // namespace amsim::trace_page
