// The page of one run, section by section.

function consoleText(log) {
  // What a terminal would show: a carriage return goes back to the start of the line; colours are left out.
  const clean = text => text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').split('\n').map(line => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1)).join('\n');
  return [clean(log.begin || ''), log.missing ? `\n  … ${bytes(log.missing)} left out …\n\n` : '', clean(log.end || '')].join('');
}

class Console {
  constructor(run) {
    this.run = run;
    this.text = make('pre', {});
    this.box = make('div.card.console', {tabindex: 0, role: 'region', 'aria-label': 'Output of the script'}, this.text);
    this.element = make('section', {id: 'console'}, make('div.head', {}, make('h2', {}, 'Console')), this.box);
    this.update();
  }

  update() {
    const text = consoleText(this.run.log);
    const atEnd = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 20;
    if (text !== this.shown) this.text.textContent = visible(text);
    if (atEnd && this.shown !== undefined) this.box.scrollTop = this.box.scrollHeight;
    this.shown = text;
    this.element.classList.toggle('hide', !text.trim());
  }
}

function pairs(rows) {
  return make('table.pairs', {}, make('tbody', {}, ...rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => make('tr', {}, make('th', {scope: 'row'}, name), make('td', {}, value instanceof Node ? value : String(value))))));
}

function drawConfiguration(run) {
  const config = run.config || {}, versions = config.versions || {}, devices = config.devices || {};
  const set = Object.keys(run.set || {});
  const params = Object.entries(run.params || {}).map(([name, value]) => [name, set.includes(name) ? `${value} (set on the command line)` : value]);
  const facts = [['script', run.script], ['arguments', (run.arguments || []).join(' ')], ['command line', run.command_line], ['seed', run.seed],
    ['device', run.device], ...Object.entries(devices).filter(([, text]) => text).map(([name, text]) => [name, String(text)]), ['threads', config.threads],
    ['started', moment(run.started)], ['time', duration(run.seconds)], ['steps', `${run.steps}${run.steps_total ? ` of ${run.steps_total}` : ''}`],
    ['outcome', stateOf(run)[0]], ['exit code', config.exit_code], ['commit', run.git_commit],
    ['versions', Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')],
    ['deterministic', config.deterministic ? 'yes' : ''], ['sandbox', config.sandbox ? 'yes' : ''],
    ['not limited by the kernel', (config.unguarded || []).join('; ')],
    ['resumed from', config.resumed && config.resumed.checkpoint], ['checkpoints', (run.checkpoints || []).length ? `at steps ${run.checkpoints.join(', ')}` : '']];
  const changes = (run.changes || []).map(change => `${change.name} = ${change.value} from step ${change.step}`);
  const parts = [];
  if (params.length) parts.push(make('div.card', {}, make('h3', {}, 'Parameters'), pairs(params), changes.length ? make('p.quiet', {}, `Changed while it ran: ${changes.join('; ')}`) : ''));
  parts.push(make('div.card', {}, make('h3', {}, 'Run'), pairs(facts)));
  return make('div.grid.wide.top', {}, ...parts);
}

function drawWatched(run) {
  const parts = Object.entries(run.watched || {});
  if (!parts.length) return null;
  const names = [...new Set(parts.flatMap(([, numbers]) => Object.keys(numbers)))].sort();
  return make('section', {id: 'watched'}, make('div.head', {}, make('h2', {}, 'Parts of the model')), make('div.card.scroll', {}, make('table', {},
    make('thead', {}, make('tr', {}, make('th', {}, 'part'), ...names.map(name => make('th.num', {}, name)))),
    make('tbody', {}, ...parts.map(([part, numbers]) => make('tr', {}, make('th', {scope: 'row'}, part), ...names.map(name =>
      make(`td.num${name in numbers && !Number.isFinite(number(numbers[name])) ? '.badtext' : ''}`, {}, name in numbers ? figure(numbers[name]) : ''))))))));
}

function drawScripts(run) {
  const scripts = run.scripts || [];
  if (!scripts.length) return null;
  return make('section', {id: 'script'}, make('div.head', {}, make('h2', {}, 'Script')), ...scripts.map((script, i) => {
    const isDiff = script.file.endsWith('.diff');
    const lines = script.text.replace(/\n$/, '').split('\n').slice(0, 20000).map((line, n) =>
      make(`span${isDiff && line.startsWith('+') ? '.add' : isDiff && line.startsWith('-') ? '.del' : ''}`, {'data-line': n + 1}, line || ' '));
    const source = make('pre.card.source', {tabindex: 0, 'aria-label': script.title || script.file}, ...lines);
    return i === 0 ? make('div', {}, make('p.quiet', {}, script.title || script.file), source) : make('details', {}, make('summary', {}, script.title), source);
  }));
}

// Marks a line of the script and brings it into view.
function showLine(line) {
  const source = document.querySelector('#script .source');
  const span = source && source.children[line - 1];
  if (!span) return;
  for (const other of source.querySelectorAll('.mark')) other.classList.remove('mark');
  span.classList.add('mark');
  span.scrollIntoView({block: 'center'});
}

function drawLeftOut(run) {
  const list = (run.left_out || []).map(text => make('li', {}, text));
  return list.length ? make('details.note', {}, make('summary', {}, 'What this page leaves out'), make('ul', {}, ...list)) : null;
}

class RunPage {
  constructor(run) {
    this.run = run;
    this.element = make('div', {});
    this.followers = [];
    const add = (what, make) => {
      const part = safely(what, make);
      if (!part) return;
      this.element.append(part instanceof Node ? part : part.element);
      if (part.update) this.followers.push([what, part]);
    };
    this.nothing = make('p.note.hide', {}, 'The run has logged nothing yet.');
    this.element.append(this.nothing);
    if (run.note) this.element.append(make('p.note', {}, run.note));
    add('The curves', () => (this.curves = new Curves([run])));
    this.tapePlace = make('div', {});
    this.element.append(this.tapePlace);
    this.followers.push(['The tape', {update: () => this.followTape()}]);
    this.watchedPlace = make('div', {});
    this.element.append(this.watchedPlace);
    add('The histograms', () => new Media(run, 'histograms', 'Histograms', drawHistogram));
    add('The images', () => new Media(run, 'images', 'Images', drawPicture));
    add('The texts', () => new Media(run, 'texts', 'Texts', drawText));
    add('The console', () => new Console(run));
    this.configuration = make('div', {});
    this.element.append(make('section', {id: 'configuration'}, make('div.head', {}, make('h2', {}, 'Configuration')), this.configuration));
    add('The script', () => drawScripts(run));
    this.leftOut = make('div', {});
    this.element.append(this.leftOut);
    this.settle();
  }

  followTape() {
    if (!this.run.tapes.length) return;
    if (this.tape) return this.tape.update();
    if (!this.element.isConnected) return;
    this.tape = new Tape(this.run);
    this.tapePlace.append(this.tape.element);
    this.tape.update();
  }

  // After it was put into the document, and after each news.
  update() {
    for (const [what, part] of this.followers)
      try {
        part.update();
      } catch (problem) {
        if (!part.broken) this.element.append(make('p.note.bad', {}, `${what} cannot be shown: ${problem && problem.message}`));
        part.broken = true;
      }
    this.settle();
  }

  settle() {
    const run = this.run;
    renew(this.configuration, [run.config, run.params, run.changes, run.checkpoints, run.outcome, run.outcome ? run.seconds : 0, run.outcome ? run.steps : 0],
          () => safely('The configuration', () => drawConfiguration(run)));
    renew(this.watchedPlace, run.watched, () => safely('The parts of the model', () => drawWatched(run)));
    renew(this.leftOut, run.left_out, () => drawLeftOut(run));
    const curves = this.run.curves.length > 0;
    if (this.curves) this.curves.element.classList.toggle('hide', !curves);
    this.nothing.classList.toggle('hide', curves || !!this.run.log.begin || this.run.tapes.length > 0);
  }
}

function headOf(run) {
  const facts = [['', moment(run.started)], ['', `${count(run.steps, 'step')}${run.steps_total > run.steps ? ` of ${Number(run.steps_total).toLocaleString('en')}` : ''}`],
    ['', duration(run.seconds)], ['', run.device], ['seed ', run.seed], ['', run.script]].filter(([, value]) => value);
  return [make('div.title', {}, make('h1', {}, `${run.starred ? '★ ' : ''}${run.name}`), badge(run)),
          make('p.facts', {}, ...facts.map(([name, value]) => make('span', {}, `${name}${value}`)))];
}

const PARTS = [['compare', 'Settings'], ['curves', 'Curves'], ['tape', 'Tape'], ['watched', 'Model'], ['histograms', 'Histograms'], ['images', 'Images'], ['texts', 'Texts'],
  ['console', 'Console'], ['configuration', 'Configuration'], ['script', 'Script']];

// Links to the sections of the page; the section in view is marked.
class PartLinks {
  constructor() {
    this.element = make('nav.parts', {'aria-label': 'Parts of this page'});
    addEventListener('scroll', () => this.mark(), {passive: true});
  }

  update() {
    const there = PARTS.filter(([id]) => document.getElementById(id) && !document.getElementById(id).classList.contains('hide'));
    const key = there.map(([id]) => id).join();
    if (key === this.key) return;
    this.key = key;
    // A link to a place would replace the address of a live page.
    this.element.replaceChildren(...there.map(([id, title]) => make('a', {href: `#${id}`, onclick: event => {
      event.preventDefault();
      const part = document.getElementById(id);
      part.scrollIntoView();
      part.tabIndex = -1;
      part.focus({preventScroll: true});
    }}, title)));
    this.element.classList.toggle('hide', there.length < 2);
    this.mark();
  }

  mark() {
    let now = null;
    for (const link of this.element.children) {
      const part = document.getElementById(link.getAttribute('href').slice(1));
      if (!now || (part && part.getBoundingClientRect().top < innerHeight * 0.35)) now = link;
    }
    for (const link of this.element.children) {
      if (link === now) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }
}
