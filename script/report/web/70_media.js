// Histograms, pictures and texts of a run, each with a slider over the steps that it was logged at.

// A card whose content is drawn for one of its items. `items` may grow.
class Slides {
  constructor(name, items, draw, kind) {
    this.items = items;
    this.draw = draw;
    this.at = items.length - 1;
    this.where = make('span.quiet.num', {style: 'min-width:6.5rem'});
    this.slider = make('input', {type: 'range', min: 0, step: 1, 'aria-label': `Step of ${name}`, oninput: () => this.show(Number(this.slider.value))});
    this.body = make('div', {});
    this.bar = make('div.slide', {}, this.slider, this.where);
    this.element = make(`div.card.${kind}`, {}, make('h3', {}, name), this.body, this.bar);
    this.show(this.at);
  }

  set(items) {
    const latest = this.at === this.items.length - 1 || this.at >= items.length;
    if (items === this.items && items.length === this.length) return;
    this.items = items;
    this.show(latest ? items.length - 1 : this.at);
  }

  show(at) {
    this.at = at;
    this.length = this.items.length;
    const item = this.items[at];
    this.slider.max = this.items.length - 1;
    this.slider.value = at;
    this.slider.setAttribute('aria-valuetext', `step ${item.step}`);
    this.where.textContent = `step ${Number(item.step).toLocaleString('en')}`;
    this.slider.classList.toggle('hide', this.items.length < 2);
    this.body.replaceChildren(safely('This', () => this.draw(item)));
  }
}

function drawHistogram(item) {
  const edges = (item.edges || []).map(number), counts = (item.counts || []).map(number), zeros = number(item.zeros) || 0;
  const facts = [`${figure(item.count)} values`, `mean ${figure(item.mean)}`, `std ${figure(item.std)}`];
  const bad = number(item.nan) + number(item.inf) + number(item['-inf']);
  if (zeros) facts.push(`${figure(zeros)} zeros`);
  const text = make('p.quiet', {}, facts.join(' · '));
  if (bad > 0) text.append(' · ', make('span.badtext', {}, `${figure(bad)} NaN or Inf`));
  if (!counts.length) return make('div', {}, text);
  const low = edges[0], high = edges[edges.length - 1];
  if (number(item.min) === number(item.max)) return make('div', {}, make('p', {}, `All are ${figure(item.min, 6)}.`), text);
  // The bins are finer around zero. Bars of equal width compare; a count is spread evenly over its bin. Zeros
  // are in the text alone: one bar of them would flatten all others.
  const bars = 48, each = (high - low) / bars, sums = new Array(bars).fill(0);
  counts.forEach((n, i) => {
    let rest = n;
    if (zeros > 0 && edges[i] <= 0 && edges[i + 1] > 0) rest = Math.max(n - zeros, 0);
    const width = Math.max(edges[i + 1] - edges[i], each * 1e-9);
    for (let k = Math.max(Math.floor((edges[i] - low) / each), 0); k < bars && low + k * each < edges[i + 1]; ++k) {
      const part = Math.min(edges[i + 1], low + (k + 1) * each) - Math.max(edges[i], low + k * each);
      sums[k] += rest * Math.min(Math.max(part / width, 0), 1);
    }
  });
  const width = 300, height = 96, most = Math.max(...sums) || 1;
  const svg = make('svg:svg.bars', {viewBox: `0 0 ${width} ${height + 4}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `Histogram from ${figure(low)} to ${figure(high)}`});
  sums.forEach((n, k) => {
    if (!(n > 0)) return;
    const h = Math.max(n / most * height, 0.8);
    svg.append(make('svg:rect', {x: (k * width / bars).toFixed(2), y: (height - h).toFixed(2), width: (width / bars - 0.6).toFixed(2), height: h.toFixed(2)},
                    make('svg:title', {}, `about ${figure(Math.round(n))} from ${figure(low + k * each)} to ${figure(low + (k + 1) * each)}`)));
  });
  svg.append(make('svg:line', {x1: 0, x2: width, y1: height, y2: height}));
  return make('div', {}, svg, make('div.slide.quiet.num', {style: 'justify-content:space-between;margin:0 0 .3rem'},
                                   make('span', {}, figure(edges[0], 3)), make('span', {}, figure(edges[edges.length - 1], 3))), text);
}

function drawPicture(item, run, name) {
  const image = make('img', {alt: `${name}, step ${item.step}`, loading: 'lazy', src: item.data || pictureAddress(run, item.file),
    onload: () => {
      const small = image.naturalWidth <= 256;
      image.classList.toggle('smooth', !small);
      if (small) image.style.width = `${Math.min(Math.max(Math.ceil(160 / image.naturalWidth), 1), 8) * image.naturalWidth}px`;
    }});
  return image;
}

function drawText(item) {
  const cut = item.bytes ? make('p.quiet', {}, `The first part of ${bytes(item.bytes)}.`) : '';
  return make('div.console', {}, make('pre', {tabindex: 0}, item.text), cut);
}

// One section with a card for each name; update() follows a run that goes on.
class Media {
  constructor(run, kind, title, draw) {
    this.run = run;
    this.kind = kind;
    this.draw = draw;
    this.cards = new Map();
    this.grid = make(`div.grid${kind === 'texts' ? '.wide' : ''}`, {});
    this.more = make('button', {type: 'button', onclick: () => {
      this.all = true;
      this.update();
    }});
    this.element = make('section', {id: kind}, make('div.head', {}, make('h2', {}, title), this.more), this.grid);
    this.update();
  }

  update() {
    const all = this.run[this.kind] || {};
    for (const name of Object.keys(all)) {
      if (!all[name].length) continue;
      if (this.cards.has(name)) {
        this.cards.get(name).set(all[name]);
        continue;
      }
      const card = new Slides(name, all[name], item => this.draw(item, this.run, name), this.kind === 'images' ? 'picture' : 'media');
      this.cards.set(name, card);
      this.grid.append(card.element);
    }
    const most = this.all || this.cards.size < 11 ? this.cards.size : 9;
    [...this.cards.values()].forEach((card, i) => card.element.classList.toggle('hide', i >= most));
    this.more.textContent = `Show all ${this.cards.size}`;
    this.more.classList.toggle('hide', most === this.cards.size);
    this.element.classList.toggle('hide', this.cards.size === 0);
  }
}
