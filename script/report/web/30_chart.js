// A chart of curves: hover and arrow keys read values, a drag zooms, a double click shows everything.

addEventListener('beforeprint', () => { for (const card of document.querySelectorAll('.chart')) if (card.chart) card.chart.draw(true); });

// An axis reaches no further, so that its length is a number.
const MOST = 4e307;

// Round numbers between two bounds.
function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= rough * 0.999) || power * 10;
  if (!(step > 0) || !((high - low) / step < 100)) return [low, high];  // at the ends of the range of numbers
  const found = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = 0; k < 100 && (first + k) * step <= high + step * 1e-9; ++k) found.push(Number(((first + k) * step).toPrecision(12)));
  return [...new Set(found)];
}

// Powers of ten, or with few of them the numbers between them, so that labels differ.
function logTicks(low, high, most) {
  const found = [], first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const each = Math.max(1, Math.ceil((last - first) / most));
  for (let p = first; p <= last; p += each) found.push(Math.pow(10, p));
  const inside = found.filter(x => x >= low * 0.999 && x <= high * 1.001);
  if (inside.length >= 3) return inside;
  const finer = [];
  for (let p = first; p <= last; ++p) for (const k of [1, 2, 5]) finer.push(Number((k * Math.pow(10, p)).toPrecision(3)));
  const within = finer.filter(x => x >= low * 0.999 && x <= high * 1.001);
  return within.length >= 2 ? within : ticks(low, high, most);
}

function axisFigure(x) {
  const size = Math.abs(x);
  if (size >= 1e4 && size < 1e6 && x % 1000 === 0) return `${x / 1000}k`;
  if (size >= 1e6 && size < 1e9) return `${Number((x / 1e6).toPrecision(4))}M`;
  return figure(x, 4);
}

function badText(bad) {
  const first = `${figure(bad.value)} at step ${Number(bad.first).toLocaleString('en')}`;
  return bad.count === 1 ? first : `${first}, ${Number(bad.count - 1).toLocaleString('en')} more`;
}

class Chart {
  // `settings`: {smooth, logX, logY, axis} shared by the charts of a page. `series`: [{label, curve, color, run}].
  constructor(name, settings) {
    this.name = name;
    this.settings = settings;
    this.series = [];
    this.zoom = null;
    this.cursor = null;
    this.svg = make('svg:svg', {tabindex: 0, role: 'img'});
    this.legend = make('div.legend', {'aria-live': 'off'});
    this.range = make('span.range.quiet', {});
    this.scale = make('span.range.quiet', {title: 'The values of this loss span at least two decades. "log y" chooses another scale.'});
    this.logY = false;
    this.reset = make('button.plain.hide', {type: 'button', onclick: () => this.show(null)}, 'show all');
    this.element = make('div.card.chart', {}, make('div.top', {}, make('h3', {}, name), this.scale, this.range, this.reset), this.svg, this.legend);
    this.listen();
    Chart.watcher = Chart.watcher || new IntersectionObserver(entries => {
      for (const {target, isIntersecting} of entries) {
        target.chart.seen = isIntersecting;
        if (isIntersecting && target.chart.waits) target.chart.draw();
      }
    }, {rootMargin: '400px'});
    this.element.chart = this;
    Chart.made = (Chart.made || 0) + 1;
    this.seen = Chart.made <= 12;  // until the browser says so
    Chart.watcher.observe(this.element);
  }

  x(curve, i) { return this.settings.axis === 'time' ? curve.time[i] : curve.step[i]; }

  show(zoom) {
    this.zoom = zoom;
    this.draw();
    this.svg.focus({preventScroll: true});
  }

  // Whether y is logarithmic. While the reader has not chosen: for a loss whose values are positive and span two decades, as in the window;
  // it stays so down to a decade and a half: otherwise a growing chart near the limit would change to and fro.
  logarithmic() {
    if (this.settings.logY !== null) return this.settings.logY;
    if (!isLoss(this.name)) return false;
    let least = Infinity, most = 0;
    for (const {curve} of this.series)
      for (let i = 0; i < curve.step.length; ++i)
        for (const y of curve.each > 1 ? [curve.low[i], curve.high[i]] : [curve.value[i]]) {
          if (!Number.isFinite(y)) continue;
          least = Math.min(least, y);
          most = Math.max(most, y);
        }
    return least > 0 && most >= (this.logY ? 30 : 100) * least;
  }

  // Bounds of what is shown. A curve of buckets has their true extremes.
  bounds() {
    const {smooth, logX} = this.settings, {logY} = this;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (const {curve} of this.series)
      for (let i = 0; i < curve.step.length; ++i) {
        const x = this.x(curve, i);
        if (!(Math.abs(x) <= MOST) || (logX && x <= 0)) continue;
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
      }
    const view = this.zoom || [x0, x1];
    let below = 0;  // points that a logarithmic axis cannot show
    for (const {curve} of this.series) {
      const values = smoothValues(curve, smooth);
      for (let i = 0; i < curve.step.length; ++i) {
        const x = this.x(curve, i);
        if (!(x >= view[0] && x <= view[1])) continue;
        const raw = curve.each > 1 ? [curve.low[i], curve.high[i]] : [curve.value[i]];
        const all = smooth === 0 ? raw : [...raw, values[i]];
        for (const [k, y] of all.entries()) {
          if (!Number.isFinite(y)) continue;
          if (logY && y <= 0) {
            below += k === 0 ? 1 : 0;
            continue;
          }
          y0 = Math.min(y0, Math.max(y, -MOST));
          y1 = Math.max(y1, Math.min(y, MOST));
        }
      }
    }
    return {x0, x1, view, y0, y1, below};
  }

  // A chart that is far from what is seen waits: a page may have hundreds.
  draw(whether = this.seen) {
    const width = Math.max(this.element.clientWidth - 29, 240), height = Math.round(Math.min(Math.max(width * 0.5, 150), 230));
    const {smooth, logX} = this.settings, logY = this.logY = this.logarithmic();
    this.scale.textContent = logY && this.settings.logY === null ? 'automatic log scale' : '';
    const box = {left: 46, right: width - 8, top: 8, bottom: height - 20};
    this.box = box;
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.waits = !whether;
    if (this.waits) return;
    this.svg.replaceChildren();
    this.reset.classList.toggle('hide', !this.zoom);
    const b = this.bounds();
    this.summarize(b.below);
    if (!Number.isFinite(b.x0)) {
      this.svg.append(make('svg:text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'}, 'no values to draw'));
      this.toX = null;
      return;
    }
    let [v0, v1] = b.view;
    if (v0 === v1) [v0, v1] = logX ? [v0 / 2, v1 * 2] : [v0 - 1, v1 + 1];
    let {y0, y1} = b;
    const drawn = Number.isFinite(y0);
    if (!drawn) [y0, y1] = logY ? [0.1, 1] : [0, 1];
    if (logY) {
      if (y0 === y1) [y0, y1] = [y0 / 2, y1 * 2];
      [y0, y1] = [y0 * Math.pow(y0 / y1, 0.04), y1 * Math.pow(y1 / y0, 0.04)];
    } else {
      const pad = y1 > y0 ? (y1 - y0) * 0.05 : Math.abs(y0) * 0.1 || 1;
      [y0, y1] = [y0 >= 0 && y0 - pad < 0 ? 0 : y0 - pad, y1 + pad];
    }
    const scale = (a, c, log) => (log ? x => (Math.log(x) - Math.log(a)) / (Math.log(c) - Math.log(a)) : x => (x - a) / (c - a));
    const sx = scale(v0, v1, logX), sy = scale(y0, y1, logY);
    const px = x => box.left + sx(x) * (box.right - box.left);
    const py = y => box.bottom - Math.min(Math.max(sy(y), -2), 3) * (box.bottom - box.top);
    this.toX = px;
    this.toY = py;
    this.fromX = p => {
      const t = (p - box.left) / (box.right - box.left);
      return logX ? v0 * Math.pow(v1 / v0, t) : v0 + t * (v1 - v0);
    };
    for (const y of (logY ? logTicks(y0, y1, 5) : ticks(y0, y1, 5))) {
      const at = py(y);
      this.svg.append(make('svg:line.rule', {x1: box.left, x2: box.right, y1: at, y2: at}),
                      make('svg:text', {x: box.left - 6, y: at + 4, 'text-anchor': 'end'}, axisFigure(y)));
    }
    const labels = logX ? logTicks(v0, v1, Math.floor(width / 90)) : ticks(v0, v1, Math.floor(width / 80));
    for (const x of labels) {
      const text = this.settings.axis === 'time' ? duration(x) || '0' : axisFigure(x);
      const at = px(x), anchor = at > box.right - 18 ? 'end' : at < box.left + 8 ? 'start' : 'middle';
      this.svg.append(make('svg:text', {x: Math.min(at, box.right), y: height - 4, 'text-anchor': anchor}, text));
    }
    this.svg.append(make('svg:line.axis', {x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom}));
    const clip = `clip${Chart.number = (Chart.number || 0) + 1}`;
    const inner = make('svg:g', {'clip-path': `url(#${clip})`});
    this.svg.append(make('svg:clipPath', {id: clip}, make('svg:rect', {x: box.left, y: 0, width: box.right - box.left, height: box.bottom})), inner);
    for (const change of this.changes || []) {
      if (this.settings.axis === 'time') continue;
      inner.append(make('svg:line.change', {x1: px(change.step), x2: px(change.step), y1: box.top, y2: box.bottom},
                        make('svg:title', {}, change.text)));
    }
    for (const one of this.series) this.drawSeries(inner, one, smooth, logX, logY, px, py);
    this.mark = make('svg:g', {});
    this.svg.append(this.mark);
    if (!drawn) this.svg.append(make('svg:text', {x: (box.left + box.right) / 2, y: height / 2, 'text-anchor': 'middle'},
                                     logY ? 'nothing above 0 to draw' : 'no finite values here'));
    this.drawCursor();
  }

  drawSeries(into, {curve, color}, smooth, logX, logY, px, py) {
    const ok = y => Number.isFinite(y) && (!logY || y > 0);
    const okX = x => Number.isFinite(x) && (!logX || x > 0);
    const style = `stroke:${color};stroke-linecap:round`;
    let alone = '';  // points without neighbours
    const path = values => {
      let text = '', open = false, points = 0, start = '';
      const close = () => { if (points === 1) alone += `${start}h0.01`; };
      for (let i = 0; i < values.length; ++i) {
        const x = this.x(curve, i);
        if (!ok(values[i]) || !okX(x)) {
          close();
          open = false;
          points = 0;
          continue;
        }
        const point = `${px(x).toFixed(1)} ${py(values[i]).toFixed(1)}`;
        if (!open) start = `M${point}`;
        text += (open ? 'L' : 'M') + point;
        open = true;
        ++points;
      }
      close();
      return text;
    };
    if (curve.each > 1) {
      // From lowest to highest of each bucket.
      let up = '', down = '';
      const flush = () => {
        if (up) into.append(make('svg:path.band', {d: `M${up.slice(1)}${down}Z`, style: `fill:${color};stroke:${color}`}));
        up = down = '';
      };
      for (let i = 0; i < curve.step.length; ++i) {
        const x = this.x(curve, i), low = logY && curve.low[i] <= 0 ? curve.high[i] : curve.low[i];
        if (!ok(low) || !ok(curve.high[i]) || !okX(x)) {
          flush();
          continue;
        }
        up += `L${px(x).toFixed(1)} ${py(curve.high[i]).toFixed(1)}`;
        down = `L${px(x).toFixed(1)} ${py(low).toFixed(1)}${down}`;
      }
      flush();
    }
    if (smooth > 0 && curve.each === 1) into.append(make('svg:path.raw', {d: path(curve.value), style}));
    into.append(make('svg:path.line', {d: path(smoothValues(curve, smooth)), style}));
    if (alone) into.append(make('svg:path.line', {d: alone, style: `${style};stroke-width:5`}));
    let last = -9;
    for (let i = 0; i < curve.step.length; ++i) {
      const bad = curve.each > 1 ? curve.bads[i] > 0 : !Number.isFinite(curve.value[i]);
      const x = this.x(curve, i);
      if (!bad || !okX(x)) continue;
      const at = px(x);
      if (at - last < 3) continue;
      last = at;
      into.append(make('svg:path.badmark', {d: `M${at.toFixed(1)} 8l-4 -7h8Z`}, make('svg:title', {}, `${figure(curve.value[i])} at step ${curve.step[i]}`)));
    }
  }

  summarize(below) {
    const texts = this.series.map(({label, curve}) => {
      const last = curve.value.length ? figure(curve.value[curve.value.length - 1]) : 'none';
      return `${label}: ${count(curve.count, 'value')}, last ${last}` + (curve.min ? `, lowest ${figure(curve.min.value)} at step ${curve.min.step}, ` +
        `highest ${figure(curve.max.value)} at step ${curve.max.step}` : '') + (curve.bad ? `, ${curve.bad.count} not finite, first at step ${curve.bad.first}` : '');
    });
    this.svg.setAttribute('aria-label', `Chart of ${this.name}. ${texts.join('. ')}. Left and right arrow keys read values, plus and minus zoom.`);
    const bad = this.series.filter(({curve}) => curve.bad);
    this.range.replaceChildren();
    this.range.title = '';
    if (bad.length) {
      const {curve} = bad[0];
      this.range.append(make('span.badtext', {title: `${count(curve.bad.count, 'value')} of ${curve.name} not finite`}, badText(curve.bad)));
    } else if (below) {
      this.range.append(`${count(below, 'point')} at or below 0`);
    } else if (this.series.length === 1 && this.series[0].curve.min) {
      const {min, max} = this.series[0].curve;
      this.range.append(`${figure(min.value)} to ${figure(max.value)}`);
      this.range.title = `lowest ${figure(min.value, 6)} at step ${min.step}, highest ${figure(max.value, 6)} at step ${max.step}`;
    }
  }

  // The last point whose x is not beyond `x`, or the nearest of a point at either side.
  indexAt(curve, x) {
    let low = 0, high = curve.step.length - 1;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.x(curve, mid) < x) low = mid + 1;
      else high = mid;
    }
    if (low > 0 && Math.abs(this.x(curve, low - 1) - x) <= Math.abs(this.x(curve, low) - x)) --low;
    return low;
  }

  drawCursor() {
    this.legend.replaceChildren();
    if (this.mark) this.mark.replaceChildren();
    const {smooth} = this.settings, at = this.cursor;
    if (at !== null && this.toX && this.series.length) {
      const main = this.series[0].curve, i = this.indexAt(main, at);
      const where = this.settings.axis === 'time' ? duration(main.time[i]) : main.each > 1 && main.first[i] !== main.step[i]
        ? `steps ${main.first[i].toLocaleString('en')} to ${main.step[i].toLocaleString('en')}` : `step ${Number(main.step[i]).toLocaleString('en')}`;
      this.legend.append(make('span.key', {}, make('b', {}, where)));
      const px = this.toX(this.x(main, i));
      this.mark.append(make('svg:line.cursor', {x1: px, x2: px, y1: this.box.top, y2: this.box.bottom}));
    }
    for (const {label, curve, color} of this.series) {
      const i = at === null ? curve.step.length - 1 : this.indexAt(curve, at);
      if (i < 0) continue;
      const shown = smoothValues(curve, smooth)[i];
      let text = figure(curve.value[i], 5);
      if (at !== null && curve.each > 1) text = `${figure(curve.low[i])} to ${figure(curve.high[i])}, last ${figure(curve.value[i])}`;
      if (smooth > 0) text += `, smoothed ${figure(shown, 5)}`;
      const bad = !Number.isFinite(curve.value[i]);
      this.legend.append(make('span.key', {}, make('i', {style: `background:${color}`}), make('span', {}, label), make(`b${bad ? '.badtext' : ''}`, {}, text)));
      // On the raw curve, which has the peaks.
      const y = curve.value[i];
      if (at !== null && this.toX && Number.isFinite(y) && !(this.logY && y <= 0))
        this.mark.append(make('svg:circle', {cx: this.toX(this.x(curve, i)), cy: this.toY(y), r: 3, style: `fill:${color}`}));
    }
  }

  pointer(event) {
    const rect = this.svg.getBoundingClientRect();
    return (event.clientX - rect.left) * (this.svg.viewBox.baseVal.width / Math.max(rect.width, 1));
  }

  move(x) {
    this.cursor = x;
    this.drawCursor();
  }

  listen() {
    let from = null;
    this.svg.addEventListener('pointermove', event => {
      if (!this.toX) return;
      const at = this.pointer(event);
      this.move(this.fromX(Math.min(Math.max(at, this.box.left), this.box.right)));
      if (from !== null && Math.abs(at - from) > 4)
        this.mark.append(make('svg:rect.pick', {x: Math.min(at, from), width: Math.abs(at - from), y: this.box.top, height: this.box.bottom - this.box.top}));
    });
    this.svg.addEventListener('pointerleave', () => { if (from === null) this.move(null); });
    this.svg.addEventListener('pointerdown', event => {
      if (event.button !== 0 || !this.toX || event.pointerType === 'touch') return;
      from = this.pointer(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener('pointerup', event => {
      if (from === null) return;
      const a = Math.max(Math.min(from, this.pointer(event)), this.box.left), c = Math.min(Math.max(from, this.pointer(event)), this.box.right);
      from = null;
      if (c - a > 6) this.show([this.fromX(a), this.fromX(c)]);
    });
    this.svg.addEventListener('pointercancel', () => { from = null; });
    this.svg.addEventListener('dblclick', () => this.show(null));
    this.svg.addEventListener('blur', () => this.legend.setAttribute('aria-live', 'off'));
    this.svg.addEventListener('keydown', event => this.key(event));
  }

  key(event) {
    if (!this.series.length || !this.toX || event.ctrlKey || event.altKey || event.metaKey) return;
    const {curve} = this.series[0], [v0, v1] = this.zoom || [this.bounds().x0, this.bounds().x1];
    const now = this.cursor === null ? curve.step.length - 1 : this.indexAt(curve, this.cursor);
    const to = i => this.x(curve, Math.min(Math.max(i, 0), curve.step.length - 1));
    const far = event.shiftKey ? Math.max(Math.round(curve.step.length / 20), 1) : 1;
    const middle = this.cursor === null ? (v0 + v1) / 2 : this.cursor;
    const zoomed = factor => [middle - (middle - v0) * factor, middle + (v1 - middle) * factor];
    const keys = {
      ArrowLeft: () => this.move(to(now - far)), ArrowRight: () => this.move(to(now + far)),
      Home: () => this.move(to(0)), End: () => this.move(to(curve.step.length - 1)),
      '+': () => this.show(zoomed(0.5)), '=': () => this.show(zoomed(0.5)),
      '-': () => { const [a, c] = zoomed(2), all = this.zoom ? (this.zoom = null, this.bounds()) : this.bounds(); this.show(a <= all.x0 && c >= all.x1 ? null : [a, c]); },
      0: () => this.show(null), Escape: () => { this.move(null); this.show(null); },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    this.legend.setAttribute('aria-live', 'polite');
    keys[event.key]();
  }
}
