// Several runs side by side: what they were given, and their curves on the same charts.

function settingsOf(run) {
  return {script: String(run.script || '').split('/').pop(), arguments: (run.arguments || []).join(' '), seed: run.seed, device: run.device, commit: (run.git_commit || '').slice(0, 12), ...run.params};
}

class Comparison {
  constructor(runs) {
    this.runs = runs;
    this.curves = new Curves(runs);
    const all = runs.map(settingsOf), names = [...new Set(all.flatMap(Object.keys))];
    const differing = names.filter(name => new Set(all.map(one => one[name])).size > 1);
    const metrics = [...new Set(runs.flatMap(run => run.curves.map(curve => curve.name)))].sort((a, b) => isLoss(b) - isLoss(a)).slice(0, 4);
    const rows = runs.map((run, r) => {
      const box = make('input', {type: 'checkbox', checked: true, 'aria-label': `Curves of ${run.name}`, onchange: () => {
        if (box.checked) this.curves.hidden.delete(r);
        else this.curves.hidden.add(r);
        this.curves.update(true);
      }});
      const name = make('a', {href: `#${r}`, onclick: event => { event.preventDefault(); openRun(r); }}, short(run.name));
      return make('tr', {}, make('td', {}, box), make('td', {}, make('span.key', {}, make('i', {style: `display:inline-block;width:.7rem;height:.7rem;border-radius:50%;margin-right:.5rem;background:${colorOf(r)}`}), name)),
        make('td', {}, badge(run)), make('td.num', {}, Number(run.steps).toLocaleString('en')), ...differing.map(key => make('td', {}, all[r][key] === undefined ? '' : String(all[r][key]))),
        ...metrics.map(metric => {
          const curve = run.curves.find(one => one.name === metric);
          const last = curve && curve.value.length ? curve.value[curve.value.length - 1] : undefined;
          return make(`td.num${last !== undefined && !Number.isFinite(last) ? '.badtext' : ''}`, {}, last === undefined ? '' : figure(last));
        }));
    });
    const table = make('table', {}, make('thead', {}, make('tr', {}, make('th', {}, ''), make('th', {}, 'run'), make('th', {}, 'state'), make('th.num', {}, 'steps'), ...differing.map(key => make('th', {}, key)),
      ...metrics.map(metric => make('th.num', {}, metric)))), make('tbody', {}, ...rows));
    this.element = make('div', {}, make('section', {id: 'compare'}, make('div.head', {}, make('h2', {}, 'Runs'), make('p.quiet', {}, differing.length ? 'Settings that differ, and the last values' : 'All settings are the same')),
      make('div.card.scroll', {}, table)), this.curves.element);
  }

  update() { this.curves.update(); }
}
