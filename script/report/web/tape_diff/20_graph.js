// A graph of one tape, or of both merged, in the colours of what differs.

const RANKS = Object.keys(STATES);  // the most important first

class DiffGraph extends Tape {
  constructor(page, tape, title) {
    super({tapes: [tape]});
    this.page = page;
    this.nodeOf = new Map(tape.nodes.map((node, i) => [node.pair, i]));
    this.canvas = make('div.part', {}, title && make('h3', {}, title), this.element.querySelector('.canvas'));
    this.svg.setAttribute('aria-label', title || 'Both tapes in one graph');
  }

  // Once it is in the document.
  show() {
    this.following = true;  // what a new graph picks by itself is no choice of the reader
    if (!this.tape) this.choose(this.run.tapes[0].step);
    this.following = false;
    this.follow(this.page.chosen);
  }

  mostHeight() { return 430; }

  labels(box) {
    if (box.node === null || this.tape.nodes[box.node].op !== 'source') return super.labels(box);
    const node = this.tape.nodes[box.node];
    return [node.name || 'source', shapeText(node.shape)];
  }

  stateOfBox(box) {
    const states = box.members.map(i => pairsOf[this.tape.nodes[i].pair].state);
    return RANKS.find(state => states.includes(state));
  }

  draw(anew) {
    super.draw(anew);
    const boxOf = new Map();
    for (const box of this.boxes) {
      const state = this.stateOfBox(box);
      box.element.classList.add(state);
      box.element.setAttribute('aria-label', `${box.label.join(' ')}, ${STATES[state]}`);
      if (box.node !== null && this.tape.nodes[box.node].op === 'source') box.element.classList.add('leaf');
      for (const i of box.members) boxOf.set(i, box.id);
    }
    const sides = new Map();
    this.tape.nodes.forEach((node, i) => {
      for (const [from, side] of node.in) {
        const key = `${boxOf.get(from)} ${boxOf.get(i)}`;
        sides.set(key, (sides.get(key) || '') + (side || 'ab'));
      }
    });
    for (const [edge, from, to] of this.edges) {
      const side = sides.get(`${from} ${to}`) || '';
      if (!side.includes('b')) edge.classList.add('removed');
      if (!side.includes('a')) edge.classList.add('added');
    }
  }

  pick(id) {
    super.pick(id);
    if (this.following) return;
    const box = this.boxes.find(other => other.id === id);
    this.page.choose(box.members.map(i => this.tape.nodes[i].pair), this);
  }

  describeModule() { return []; }
  describeNode() { return []; }

  // Shows pairs that were chosen elsewhere: the module that they are, or the first of them that this tape has.
  follow(pairs) {
    if (!this.tape || !pairs.length) return;
    const i = pairs.map(pair => this.nodeOf.get(pair)).find(node => node !== undefined);
    if (pairs.length > 1) this.openAround(pairs);
    const all = new Set(pairs), isChosen = box => box.members.every(member => all.has(this.tape.nodes[member].pair));
    const closed = this.boxes.find(box => box.node === null && box.members.length === pairs.length && isChosen(box));
    this.following = true;
    if (closed) {
      this.pick(closed.id);
      this.center(closed);
    } else if (i === undefined) {
      for (const box of this.boxes) box.element.classList.remove('chosen');
      for (const [edge] of this.edges) edge.classList.remove('near');
    } else {
      this.goTo(i);
      this.center(this.boxes.find(box => box.id === this.chosen));
      for (const box of this.boxes) box.element.classList.toggle('chosen', isChosen(box));
    }
    this.following = false;
  }

  // Opens the modules around the innermost one that holds all of the pairs.
  openAround(pairs) {
    const paths = pairs.map(pair => this.nodeOf.get(pair)).filter(i => i !== undefined).map(i => this.moduleOf(this.tape.nodes[i]).split('.').filter(Boolean));
    const [first = []] = paths;
    for (let k = 1; k < first.length && paths.every(path => path.length > k && path.slice(0, k + 1).join('.') === first.slice(0, k + 1).join('.')); ++k)
      this.open.add(first.slice(0, k).join('.'));
    this.draw(false);
  }

  // Moves the graph so that a box is seen.
  center(box) {
    const {x, y, scale} = this.view, width = (this.svg.clientWidth || 800) * scale, height = (this.svg.clientHeight || 400) * scale;
    if (box.x > x && box.y > y && box.x + box.width < x + width && box.y + box.height < y + height) return;
    this.view = {x: box.x + box.width / 2 - width / 2, y: box.y + box.height / 2 - height / 2, scale};
    this.fitted = false;
    this.place();
  }
}
