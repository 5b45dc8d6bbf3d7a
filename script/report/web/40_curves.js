// All curves of a run, or of several runs on the same charts, with the settings that the charts share.

const KEPT = 'lunagrad-report';

function rememberedSettings() {
  const settings = {smooth: USUAL_SMOOTHING, logX: false, logY: null, axis: 'step'};  // logY null: each chart by its values
  try {
    Object.assign(settings, JSON.parse(sessionStorage.getItem(KEPT) || '{}'));
  } catch (none) { /* a page from a file may have no storage */ }
  if (!(settings.smooth >= 0 && settings.smooth < SMOOTHINGS.length)) settings.smooth = USUAL_SMOOTHING;
  return settings;
}

class Curves {
  constructor(runs) {
    this.runs = runs;
    this.hidden = new Set();
    this.filter = '';
    this.settings = rememberedSettings();
    this.charts = new Map();
    this.grid = make('div.grid', {});
    this.none = make('p.quiet.hide', {}, 'No metric has such a name.');
    this.element = make('section', {id: 'curves'}, make('div.head', {}, make('h2', {}, 'Curves'), this.tools()), this.grid, this.none);
    this.watcher = new ResizeObserver(() => {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => { if (this.grid.clientWidth !== this.width) this.draw(); });
    });
    this.watcher.observe(this.grid);
    this.update(true);
  }

  tools() {
    const apply = () => {
      try {
        sessionStorage.setItem(KEPT, JSON.stringify(this.settings));
      } catch (none) { /* as above */ }
      this.draw();
    };
    const level = make('span.num', {style: 'min-width:2.6rem'});
    const tell = () => { level.textContent = this.settings.smooth ? String(SMOOTHINGS[this.settings.smooth]) : 'off'; };
    const slider = make('input', {type: 'range', min: 0, max: SMOOTHINGS.length - 1, step: 1, value: this.settings.smooth, 'aria-label': 'Smoothing',
      title: 'Exponential moving average, as in the window', oninput: () => {
        this.settings.smooth = Number(slider.value);
        slider.setAttribute('aria-valuetext', SMOOTHINGS[this.settings.smooth] || 'off');
        tell();
        apply();
      }});
    tell();
    // A click chooses the next of `states`; null is the page's own choice.
    const toggle = (name, states, text, title) => {
      const pressed = () => (this.settings[name] === null ? 'mixed' : String(this.settings[name]));
      const button = make('button', {type: 'button', title, 'aria-pressed': pressed(), onclick: () => {
        this.settings[name] = states[(states.indexOf(this.settings[name]) + 1) % states.length];
        button.setAttribute('aria-pressed', pressed());
        apply();
      }}, text);
      return button;
    };
    const axis = make('select', {'aria-label': 'Horizontal axis', onchange: () => {
      this.settings.axis = axis.value;
      for (const chart of this.charts.values()) chart.zoom = chart.cursor = null;
      apply();
    }}, make('option', {value: 'step'}, 'over steps'), make('option', {value: 'time'}, 'over time'));
    axis.value = this.settings.axis;
    this.find = make('input', {type: 'search', placeholder: 'find a metric', 'aria-label': 'Find a metric', oninput: () => {
      this.filter = this.find.value.trim().toLowerCase();
      this.update(true);
    }});
    return make('div.tools', {}, make('label.tool', {}, 'Smooth', slider, level),
                toggle('logY', [null, true, false], 'log y', 'Logarithmic vertical axis: of losses that span two decades, of all charts, of none'),
                toggle('logX', [false, true], 'log x', 'Logarithmic horizontal axis'), axis, this.find);
  }

  // Takes over what the runs have now, if that is news.
  update(force) {
    const revision = this.runs.map(run => run.revision).join();
    if (!force && revision === this.revision) return;
    this.revision = revision;
    const groups = new Map();
    this.runs.forEach((run, r) => {
      if (this.hidden.has(r)) return;
      const names = run.curves.map(curve => curve.name);
      for (const curve of run.curves) {
        const alone = this.runs.length > 1 || names.filter(name => stem(name) === stem(curve.name)).length < 2;
        const key = alone ? curve.name : stem(curve.name);
        if (this.filter && !curve.name.toLowerCase().includes(this.filter)) continue;
        const label = this.runs.length > 1 ? short(run.name) : curve.name;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push({label, curve, color: colorOf(this.runs.length > 1 ? r : groups.get(key).length), run});
      }
    });
    const order = [...groups.keys()].sort((a, b) => (isLoss(b) - isLoss(a)) || a.localeCompare(b));
    for (const [key, chart] of this.charts) if (!groups.has(key)) {
      chart.element.remove();
      this.charts.delete(key);
    }
    for (const key of order) {
      if (!this.charts.has(key)) this.charts.set(key, new Chart(key, this.settings));
      const chart = this.charts.get(key);
      chart.series = groups.get(key);
      chart.changes = this.runs.length > 1 ? [] : this.runs[0].changes.map(c => ({step: c.step, text: `${c.name} = ${c.value} from step ${c.step}`}))
        .concat(this.runs[0].reloads.map(step => ({step, text: `script reloaded at step ${step}`})));
      this.grid.append(chart.element);
    }
    this.grid.classList.toggle('wide', order.length < 5);
    this.find.classList.toggle('hide', !this.filter && order.length < 9);
    this.none.classList.toggle('hide', order.length > 0 || !this.filter);
    this.draw();
  }

  draw() {
    this.width = this.grid.clientWidth;
    for (const chart of this.charts.values()) chart.draw();
  }
}
