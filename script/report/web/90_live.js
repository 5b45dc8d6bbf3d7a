// A page of `lunagrad serve`: the list of runs, and a run that is followed while it is written.

const TOKEN = new URLSearchParams(location.search).get('token') || '';
const address = (path, query) => `${path}?${new URLSearchParams({...query, token: TOKEN})}`;
const pictureAddress = (run, file) => address(`api/picture/${encodeURIComponent(run.name)}/${encodeURIComponent(file)}`);

class ServerError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(path, query) {
  const answer = await fetch(address(path, query), {cache: 'no-store'}).catch(() => { throw new ServerError('The server does not answer. It may have been stopped.', 0); });
  if (answer.status === 403) throw new ServerError('This address is not valid any more. Open the address that lunagrad serve printed.', 403);
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(json.problem || `The server answered ${answer.status}.`, answer.status);
  return json;
}

class Live {
  constructor() {
    this.note = make('p.note.bad.hide', {role: 'status'});
    this.links = new PartLinks();
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.poll(); });
    addEventListener('hashchange', () => this.open());
    this.open();
  }

  // "#NAME" in the address: that run; otherwise the list.
  open() {
    this.name = null;
    try {
      this.name = decodeURIComponent(location.hash.slice(1)) || null;
    } catch (none) { /* a damaged address: the list */ }
    this.page = this.run = this.rows = null;
    this.generation = (this.generation || 0) + 1;
    scrollTo(0, 0);
    this.poll();
  }

  async poll() {
    const generation = this.generation;
    if (this.busy === generation) return;  // a second answer to the same cursor would be added, too
    this.busy = generation;
    clearTimeout(this.timer);
    let pause = 1000;
    try {
      if (this.name) await this.pollRun(generation);
      else await this.pollList(generation);
      if (generation === this.generation) this.note.classList.add('hide');
      if (this.run && this.run.outcome) pause = 5000;
    } catch (problem) {
      if (generation !== this.generation) return;
      const known = problem instanceof ServerError;
      this.tell(known ? problem.message : `The server's answer cannot be shown: ${problem && problem.message}`);
      if (!known) this.run = this.rows = null;  // a part of it may have been added: begin again
      pause = problem.status === 403 ? 0 : 3000;
    } finally {
      if (this.busy === generation) this.busy = null;
    }
    if (generation === this.generation && pause && !document.hidden) this.timer = setTimeout(() => this.poll(), pause);
  }

  tell(text) {
    if (!this.note.isConnected) document.getElementById('main').prepend(this.note);
    this.note.textContent = text;
    this.note.classList.remove('hide');
  }

  back() { return make('a.back', {href: '#', onclick: event => { event.preventDefault(); location.hash = ''; }}, '← all runs'); }

  async pollRun(generation) {
    const cursor = this.run ? {rows: this.run.cursor.rows, log: this.run.cursor.log, tapes: this.run.cursor.tapes, generation: this.run.generation} : {};
    const raw = await ask(`api/run/${encodeURIComponent(this.name)}`, cursor).catch(problem => {
      if (generation === this.generation && !this.run) {
        renew(document.getElementById('top'), [this.name], () => [this.back(), make('h1', {}, this.name)]);
        document.getElementById('main').replaceChildren();
      }
      throw problem;
    });
    if (generation !== this.generation) return;
    if (this.run && !raw.whole) {
      addNews(this.run, raw);
    } else {
      this.run = readRun(raw);
      this.page = new RunPage(this.run);
      document.getElementById('main').replaceChildren(this.note, this.page.element);
    }
    document.title = this.run.name;
    renew(document.getElementById('top'), [this.run.name, this.run.steps, this.run.seconds, this.run.outcome, this.run.alive, this.run.starred, this.run.curves.some(curve => curve.bad)],
          () => [this.back(), ...headOf(this.run)]);
    if (!this.links.element.isConnected) document.getElementById('main').prepend(this.links.element);
    this.page.update();
    this.links.update();
  }

  async pollList(generation) {
    const {runs, folder} = await ask('api/runs', {});
    if (generation !== this.generation) return;
    document.title = `Runs in ${folder}`;
    if (!this.rows) {
      this.rows = make('tbody', {});
      this.filter = make('input', {type: 'search', placeholder: 'find a run', 'aria-label': 'Find a run', oninput: () => this.drawList()});
      this.columns = make('thead', {});
      this.count = make('p.facts', {});
      renew(document.getElementById('top'), ['list', generation], () => [make('div.title', {}, make('h1', {}, 'Runs'), this.filter), this.count]);
      document.getElementById('main').replaceChildren(this.note, make('section', {}, make('div.card.scroll', {}, make('table', {}, this.columns, this.rows))));
    }
    this.all = runs;
    this.count.replaceChildren(make('span', {}, `${count(runs.length, 'run')} in ${folder}`));
    this.drawList();
  }

  drawList() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const runs = this.all.filter(run => words.every(word => JSON.stringify([run.name, run.script, run.outcome, run.note, run.params]).toLowerCase().includes(word)))
      .sort((a, b) => (b.started || b.name).localeCompare(a.started || a.name));
    // The metrics that most runs have.
    const often = new Map();
    for (const run of this.all) for (const name of Object.keys(run.metrics)) often.set(name, (often.get(name) || 0) + 1);
    const metrics = [...often.keys()].sort((a, b) => (isLoss(b) - isLoss(a)) || often.get(b) - often.get(a) || a.localeCompare(b)).slice(0, 4);
    this.columns.replaceChildren(make('tr', {}, ...['run', 'state'].map(name => make('th', {}, name)), ...['steps', 'time'].map(name => make('th.num', {}, name)),
      ...metrics.map(name => make('th.num', {}, name)), make('th', {}, 'last written'), make('th', {}, 'note')));
    const focused = document.activeElement && document.activeElement.getAttribute('href');
    this.rows.replaceChildren(...runs.map(run => {
      if (run.problem) return make('tr', {}, make('td', {}, run.name), make('td.badtext', {colspan: metrics.length + 5}, run.problem));
      return make('tr', {}, make('td', {}, make('a', {href: `#${encodeURIComponent(run.name)}`}, `${run.starred ? '★ ' : ''}${run.name}`)), make('td', {}, badge(run)),
        make('td.num', {}, `${Number(run.steps).toLocaleString('en')}${run.steps_total ? ` / ${Number(run.steps_total).toLocaleString('en')}` : ''}`), make('td.num', {}, duration(run.seconds)),
        ...metrics.map(name => make(`td.num${name in run.metrics && !Number.isFinite(number(run.metrics[name])) ? '.badtext' : ''}`, {}, name in run.metrics ? figure(run.metrics[name]) : '')),
        make('td', {}, ago(run.age)), make('td', {}, String(run.note || '').split('\n')[0]));
    }));
    if (!runs.length) this.rows.append(make('tr', {}, make('td', {colspan: metrics.length + 6}, this.all.length ? 'No run matches.' : 'No runs yet. A run appears here when it logs its first value.')));
    if (focused) for (const link of this.rows.querySelectorAll('a')) if (link.getAttribute('href') === focused) link.focus({preventScroll: true});
  }
}
