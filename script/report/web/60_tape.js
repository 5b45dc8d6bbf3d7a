// The backward tape of the steps that the run kept: a graph of ops and modules, and the numbers of a node.

const SUMMARY = ['elements', 'zeros', 'NaN', 'Inf', 'lowest', 'highest', 'mean', 'norm'];
const LEAF = 'leaf';

const MARGIN = 16;
const READABLE = 1.45;  // units of the graph for a pixel: letters of eight pixels

const shapeText = shape => (!Array.isArray(shape) ? '' : shape.length ? `[${shape.join(', ')}]` : 'scalar');
// Ops that fuse others have a name with a dash in front, as "_cross_entropy".
const opName = node => String(node.op).replace(/^_(?=[a-z])/, '');
const nodeName = node => (node.op === LEAF ? node.name || 'leaf' : opName(node));

const isBadSummary = summary => Array.isArray(summary) && (summary[2] > 0 || summary[3] > 0);

class Tape {
  constructor(run) {
    this.run = run;
    this.open = new Set();
    this.step = make('select', {'aria-label': 'Step of the tape', onchange: () => this.choose(Number(this.step.value))});
    this.info = make('span.quiet', {});
    this.svg = make('svg:svg', {role: 'group', 'aria-label': 'Graph of the tape'});
    this.side = make('div.card.side', {'aria-live': 'polite'});
    const tool = (text, title, act) => make('button', {type: 'button', title, 'aria-label': title, onclick: act}, text);
    this.table = make('div', {});
    this.element = make('section', {id: 'tape'},
      make('div.head', {}, make('h2', {}, 'Tape'), this.info, make('div.tools', {}, make('label.tool', {}, 'Step', this.step))),
      make('div.tape', {}, make('div.card.canvas', {}, this.svg, make('div.zoom', {}, tool('−', 'Zoom out', () => this.scale(1.3)),
        tool('+', 'Zoom in', () => this.scale(1 / 1.3)), tool('Fit', 'Show the whole graph', () => this.fit(false)))), this.side),
      make('details', {ontoggle: event => { if (event.target.open) this.fillTable(); }}, make('summary', {}, 'All nodes as a table'), this.table));
    this.moving();
    new ResizeObserver(() => {
      if (!this.boxes) return;
      if (this.down !== this.isNarrow()) this.choose(this.tape.step);
      else if (this.fitted) this.fit(this.readable);
    }).observe(this.svg);
  }

  isNarrow() { return (this.svg.clientWidth || 800) < 600; }

  // Once it is in the document, and after news. A new tape is shown if the reader looks at the latest one.
  update() {
    const steps = this.run.tapes.map(tape => tape.step);
    if (String(steps) === String(this.known)) return;
    const latest = !this.tape || this.tape.step === this.known[this.known.length - 1];
    if (!this.svg.isConnected) return;
    this.known = steps;
    this.step.replaceChildren(...steps.map(step => make('option', {value: step}, step.toLocaleString('en'))));
    const wanted = latest ? steps[steps.length - 1] : this.tape.step;
    this.step.value = wanted;
    this.choose(wanted);
  }

  choose(step) {
    const before = this.tape;
    this.tape = this.run.tapes.find(tape => tape.step === step) || this.run.tapes[this.run.tapes.length - 1];
    if (!this.tape.nodes) {
      this.info.textContent = `${count(this.tape.left_out || 0, 'node')}, too many to keep`;
      this.boxes = this.view = null;
      this.svg.replaceChildren();
      this.table.replaceChildren();
      this.side.replaceChildren(make('p.quiet', {}, 'The tape of this step is too large to be kept in the run\'s folder.'));
      return;
    }
    this.info.textContent = count(this.tape.nodes.length, 'node');
    if (!before || before.nodes !== this.tape.nodes) {
      this.findReaders();
      this.openModules();
      this.chosen = null;
    }
    this.draw(!before || before.nodes !== this.tape.nodes);
    const first = this.boxes.find(box => box.id === this.chosen) || this.boxes.find(box => box.bad) || this.boxes.find(box => box.node === 0) || this.boxes[0];
    if (first) this.pick(first.id);
    if (this.table.firstChild) this.fillTable();
  }

  values(i) { return (this.tape.values || [])[i] || [null, null]; }

  // A parameter belongs to the module of the op that reads it, if its name says that it is one of its own.
  moduleOf(node) {
    if (node.module || node.op !== LEAF || !node.name) return node.module || '';
    const reader = this.readers.get(node);
    const own = node.name.includes('.') ? node.name.slice(0, node.name.lastIndexOf('.')) : '';
    return reader && own && reader.module && (reader.module === own || reader.module.endsWith(`.${own}`)) ? reader.module : own;
  }

  findReaders() {
    this.readers = new Map();
    for (const node of this.tape.nodes)
      for (const [from] of node.in || []) {
        const source = this.tape.nodes[from];
        if (source && source.op === LEAF && !this.readers.has(source)) this.readers.set(source, node);
      }
  }

  // Opens modules from the outside as long as the graph can be read at its size: a GPT shows its blocks, a small
  // net everything.
  openModules() {
    this.open = new Set();
    const refused = new Set(), depth = box => box.module.split('.').length;
    const fits = () => {
      const boxes = this.boxesNow();
      if (boxes.length > 60) return false;
      this.arrange(boxes);
      return this.wholeScale(boxes) <= READABLE;
    };
    for (;;) {
      const closed = this.boxesNow().filter(box => box.module && !refused.has(box.module))
        .sort((a, b) => depth(a) - depth(b) || a.members.length - b.members.length);
      if (!closed.length || refused.size > 50) return;
      this.open.add(closed[0].module);
      if (fits()) continue;
      this.open.delete(closed[0].module);
      refused.add(closed[0].module);
    }
  }

  // The outermost closed module that a node is in, or ''.
  closedModuleOf(node) {
    const parts = this.moduleOf(node).split('.').filter(Boolean);
    for (let i = 1; i <= parts.length; ++i) {
      const name = parts.slice(0, i).join('.');
      if (!this.open.has(name)) return name;
    }
    return '';
  }

  boxesNow() {
    const nodes = this.tape.nodes, boxes = new Map(), boxOf = [];
    nodes.forEach((node, i) => {
      const module = this.closedModuleOf(node), id = module ? `m:${module}` : `n:${i}`;
      boxOf.push(id);
      if (!boxes.has(id)) boxes.set(id, {id, module, node: module ? null : i, members: [], from: [], bad: false});
      boxes.get(id).members.push(i);
    });
    for (const [id, box] of boxes) if (box.module && box.members.length === 1) box.node = box.members[0];
    nodes.forEach((node, i) => {
      const box = boxes.get(boxOf[i]);
      box.bad = box.bad || isBadSummary(this.values(i)[0]) || isBadSummary(this.values(i)[1]);
      for (const [from] of node.in || []) if (boxOf[from] && !box.from.includes(boxOf[from])) box.from.push(boxOf[from]);
    });
    return [...boxes.values()];
  }

  labels(box) {
    if (box.node === null) {
      const parts = box.module.split('.');  // "blocks.0", "fc1"
      return [parts.slice(/^\d+$/.test(parts[parts.length - 1]) ? -2 : -1).join('.'), count(box.members.length, 'node')];
    }
    const node = this.tape.nodes[box.node];
    const local = (node.name || 'leaf').split('.').slice(-2).join('.');  // "fc1.weight"
    return [node.op === LEAF ? local : opName(node), shapeText(node.shape)];
  }

  // Sets the place and size of the boxes. On a phone the graph runs downwards.
  arrange(boxes) {
    for (const box of boxes) {
      box.label = this.labels(box);
      box.width = Math.max(64, Math.max(box.label[0].length * 7.2, box.label[1].length * 6.3) + 20);
      box.height = 36;
    }
    this.down = this.isNarrow();
    const turn = () => { for (const box of boxes) [box.width, box.height, box.x, box.y] = [box.height, box.width, box.y, box.x]; };
    if (this.down) turn();
    layOut(boxes, this.down ? 10 : 14, this.down ? 26 : 30);
    if (this.down) turn();
  }

  // Units of the graph for a pixel when all of it is seen.
  wholeScale(boxes) {
    const right = Math.max(...boxes.map(box => box.x + box.width), 1), bottom = Math.max(...boxes.map(box => box.y + box.height), 1);
    return Math.max((right + 2 * MARGIN) / (this.svg.clientWidth || 800), (bottom + 2 * MARGIN) / this.mostHeight());
  }

  mostHeight() { return this.isNarrow() ? 560 : 460; }

  draw(anew) {
    const boxes = this.boxesNow();
    this.arrange(boxes);
    this.boxes = boxes;
    const byId = new Map(boxes.map(box => [box.id, box]));
    this.graph = make('svg:g', {});
    this.edges = [];
    for (const box of boxes)
      for (const id of box.from) {
        const edge = make('svg:path.edge', {d: this.edgePath(byId.get(id), box)});
        this.edges.push([edge, id, box.id]);
        this.graph.append(edge);
      }
    for (const box of boxes) {
      const leaf = box.node !== null && this.tape.nodes[box.node].op === LEAF;
      box.element = make(`svg:g.box${leaf ? '.leaf' : ''}${box.node === null ? '.module' : ''}${box.bad ? '.bad' : ''}`,
        {transform: `translate(${box.x} ${box.y})`, tabindex: 0, role: 'button', 'aria-label': `${box.label.join(' ')}${box.bad ? ', has NaN or Inf' : ''}`,
         onclick: () => this.pick(box.id), onkeydown: event => this.key(event, box)},
        make('svg:rect', {width: box.width, height: box.height, rx: leaf ? 12 : 6}),
        make('svg:text', {x: box.width / 2, y: 15, 'text-anchor': 'middle'}, box.label[0]),
        make('svg:text.sub', {x: box.width / 2, y: 29, 'text-anchor': 'middle'}, box.label[1]));
      this.graph.append(box.element);
    }
    this.svg.replaceChildren(this.graph);
    if (anew) this.fit(true);
    else if (this.fitted) this.fit(this.readable);
    else this.place();
  }

  edgePath(from, to) {
    if (this.down) {
      const x0 = from.x + from.width / 2, y0 = from.y + from.height, x1 = to.x + to.width / 2, y1 = to.y, bend = Math.max((y1 - y0) / 2, 10);
      return `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`;
    }
    const x0 = from.x + from.width, y0 = from.y + 18, x1 = to.x, y1 = to.y + 18, bend = Math.max((x1 - x0) / 2, 14);
    return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
  }

  key(event, box) {
    const near = {ArrowLeft: () => box.from[0], ArrowRight: () => (this.edges.find(([, from]) => from === box.id) || [])[2]}[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.pick(box.id);
    } else if (near) {
      event.preventDefault();
      const next = this.boxes.find(other => other.id === near());
      if (next) {
        next.element.focus();
        this.pick(next.id);
      }
    }
  }

  pick(id) {
    this.chosen = id;
    const box = this.boxes.find(other => other.id === id);
    for (const other of this.boxes) other.element.classList.toggle('chosen', other === box);
    for (const [edge, from, to] of this.edges) edge.classList.toggle('near', from === id || to === id);
    this.side.replaceChildren(...(box.node === null ? this.describeModule(box) : this.describeNode(box.node)));
  }

  describeModule(box) {
    const rows = box.members.map(i => {
      const node = this.tape.nodes[i], gradient = this.values(i)[1];
      return make('tr', {}, make('td', {}, nodeName(node)), make('td.num', {}, gradient ? figure(gradient[7], 3) : ''));
    });
    return [make('h3', {}, box.module), make('button', {type: 'button', onclick: () => {
      this.open.add(box.module);
      this.draw(false);
      const inside = this.boxes.find(other => other.members.includes(box.members[0]));
      this.pick(inside.id);
    }}, 'Open module'), make('table', {}, make('thead', {}, make('tr', {}, make('th', {}, 'node'), make('th.num', {}, 'gradient norm'))), make('tbody', {}, ...rows))];
  }

  // A line of the script that this page shows can be gone to.
  placeOf(node) {
    const text = `${String(node.file).split('/').pop()}:${node.line}`;
    if (node.file !== this.run.script) return text;
    return make('button.plain', {type: 'button', title: node.file, onclick: () => showLine(node.line)}, text);
  }

  describeNode(i) {
    const node = this.tape.nodes[i], [output, gradient] = this.values(i), time = (this.tape.times || [])[i] || [];
    const title = nodeName(node);
    const facts = [['module', this.moduleOf(node)], ['made at', node.file ? this.placeOf(node) : ''],
      ['shape', shapeText(node.shape)], ['dtype', node.dtype],
      ['forward', nanoseconds(time[0])], ['backward', nanoseconds(time[1])],
      ...Object.entries(node.attrs || {}).map(([name, value]) => [name, String(value).replace(/^"(.*)"$/, '$1')])].filter(([, value]) => value);
    const table = rows => make('table', {}, make('tbody', {}, ...rows.map(([name, value]) => make('tr', {}, make('th', {scope: 'row'}, name), make('td', {}, value)))));
    const parts = [make('h3', {}, title), table(facts)];
    const summary = (heading, values) => {
      if (!Array.isArray(values)) return;
      const rows = SUMMARY.map((name, k) => [name, figure(values[k], 5)]).filter(([name, value], k) => !(k > 0 && k < 4 && value === '0'));
      if (values[0] === 1) parts.push(make('h4', {}, heading), table([['value', values[2] ? 'NaN' : values[3] ? 'Inf' : figure(values[4], 6)]]));
      else parts.push(make('h4', {}, heading), table(rows.map(([name, value]) => [name, make(`span${name === 'NaN' || name === 'Inf' ? '.badtext' : ''}`, {}, value)])));
    };
    summary(node.op === LEAF ? 'Value' : 'Output', output);
    summary('Gradient', gradient);
    const inputs = (node.in || []).map(([from, name, shape]) => {
      const text = `${name || 'input'} ${shapeText(shape)}`;
      const source = this.tape.nodes[from];
      if (!source) return make('div.quiet', {}, text);
      return make('div', {}, make('button.plain', {type: 'button', onclick: () => this.goTo(from)}, nodeName(source)), ` ${text}`);
    });
    if (inputs.length) parts.push(make('h4', {}, 'Inputs'), ...inputs);
    const open = this.moduleOf(node);
    if (open && this.open.has(open)) parts.push(make('p', {}, make('button', {type: 'button', onclick: () => {
      for (const name of [...this.open]) if (name === open || name.startsWith(`${open}.`)) this.open.delete(name);
      this.draw(false);
      this.pick(`m:${open}`);
    }}, `Fold ${open}`)));
    return parts;
  }

  // Opens the modules around a node, and shows it.
  goTo(i) {
    const parts = this.moduleOf(this.tape.nodes[i]).split('.').filter(Boolean);
    parts.forEach((_, k) => this.open.add(parts.slice(0, k + 1).join('.')));
    this.draw(false);
    this.pick(`n:${i}`);
  }

  fillTable() {
    if (!this.boxes) return;
    const rows = this.tape.nodes.slice(0, 1000).map((node, i) => {
      const [output, gradient] = this.values(i);
      return make('tr.pick', {onclick: () => this.goTo(i)}, make('td', {}, nodeName(node)), make('td', {}, this.moduleOf(node)),
        make('td', {}, shapeText(node.shape)), make('td', {}, node.file ? `${node.file}:${node.line}` : ''),
        make(`td.num${isBadSummary(output) ? '.badtext' : ''}`, {}, output ? figure(output[7], 3) : ''), make(`td.num${isBadSummary(gradient) ? '.badtext' : ''}`, {}, gradient ? figure(gradient[7], 3) : ''));
    });
    const more = this.tape.nodes.length - rows.length;
    this.table.replaceChildren(make('div.card.scroll', {style: 'max-height:24rem'}, make('table', {}, make('thead', {}, make('tr', {}, ...['node', 'module', 'shape', 'line'].map(name => make('th', {}, name)),
      make('th.num', {}, 'output norm'), make('th.num', {}, 'gradient norm'))), make('tbody', {}, ...rows))), more > 0 ? make('p.quiet', {}, `and ${count(more, 'node')} more`) : '');
  }

  // Shows all of the graph, or `readable`: its end with the loss, if all of it would be too small.
  fit(readable) {
    if (!this.boxes) return;
    const right = Math.max(...this.boxes.map(box => box.x + box.width), 1), bottom = Math.max(...this.boxes.map(box => box.y + box.height), 1);
    const room = this.svg.clientWidth || 800, whole = this.wholeScale(this.boxes);
    const scale = Math.max(readable ? Math.min(whole, READABLE) : whole, 0.8);
    // As high as the graph is at that size, within bounds.
    const high = Math.round(Math.min(Math.max((bottom + 2 * MARGIN) / scale, 290), this.mostHeight()));
    this.svg.style.height = `${high}px`;
    this.side.style.maxHeight = room < 600 ? '' : `${high + 2}px`;
    const middle = (size, seen) => (size + 2 * MARGIN <= seen * 1.001 ? size / 2 - seen / 2 : size + MARGIN - seen);
    this.view = {x: this.down ? right / 2 - room * scale / 2 : middle(right, room * scale), y: this.down ? middle(bottom, high * scale) : bottom / 2 - high * scale / 2, scale};
    this.fitted = true;
    this.readable = readable;
    this.place();
  }

  place() {
    const {x, y, scale} = this.view;
    this.svg.setAttribute('viewBox', `${x} ${y} ${(this.svg.clientWidth || 800) * scale} ${(this.svg.clientHeight || 400) * scale}`);
  }

  scale(factor, cx = (this.svg.clientWidth || 800) / 2, cy = (this.svg.clientHeight || 400) / 2) {
    if (!this.view) return;
    const scale = Math.min(Math.max(this.view.scale * factor, 0.3), 30);
    this.view = {x: this.view.x + cx * (this.view.scale - scale), y: this.view.y + cy * (this.view.scale - scale), scale};
    this.fitted = false;
    this.place();
  }

  moving() {
    let held = null;
    this.svg.addEventListener('pointerdown', event => { held = {x: event.clientX, y: event.clientY, id: event.pointerId, far: false}; });
    this.svg.addEventListener('pointermove', event => {
      if (!held || !this.view) return;
      const dx = event.clientX - held.x, dy = event.clientY - held.y;
      if (!held.far && Math.hypot(dx, dy) < 4) return;
      if (!held.far) this.svg.setPointerCapture(held.id);
      Object.assign(held, {x: event.clientX, y: event.clientY, far: true});
      this.svg.classList.add('held');
      this.view.x -= dx * this.view.scale;
      this.view.y -= dy * this.view.scale;
      this.fitted = false;
      this.place();
    });
    const end = () => {
      held = null;
      this.svg.classList.remove('held');
    };
    this.svg.addEventListener('pointerup', end);
    this.svg.addEventListener('pointercancel', end);
    this.svg.addEventListener('wheel', event => {
      if (!event.ctrlKey || !this.view) return;  // a plain wheel scrolls the page
      event.preventDefault();
      const rect = this.svg.getBoundingClientRect();
      this.scale(Math.exp(event.deltaY / 300), event.clientX - rect.left, event.clientY - rect.top);
    }, {passive: false});
  }
}
