// A file holds its runs; a page of a server asks for them.
const data = JSON.parse(document.getElementById('data').textContent);
let openRun = () => {};

function startFile() {
  const runs = data.runs.map(readRun), top = document.getElementById('top'), main = document.getElementById('main');
  const links = new PartLinks(), pages = new Map();
  const foot = make('p.foot', {}, `Written by Lunagrad ${data.version} on ${moment(data.made)}. This file needs no network.`);
  const page = at => {
    if (!pages.has(at)) pages.set(at, at < 0 ? new Comparison(runs) : new RunPage(runs[at]));
    return pages.get(at);
  };
  openRun = at => {
    const shown = page(at);
    const tab = (to, text) => make('button', {type: 'button', 'aria-pressed': String(to === at), onclick: () => openRun(to)}, text);
    const tabs = runs.length > 1 ? [make('div.tabs', {role: 'group', 'aria-label': 'Runs'}, tab(-1, 'Compare'), ...runs.map((run, i) => tab(i, short(run.name))))] : [];
    top.replaceChildren(...(at < 0 ? [make('div.title', {}, make('h1', {}, `Comparison of ${count(runs.length, 'run')}`))] : headOf(runs[at])), ...tabs);
    main.replaceChildren(links.element, shown.element, foot);
    shown.update();
    links.update();
  };
  openRun(runs.length > 1 ? -1 : 0);
}

document.querySelector('.skip').addEventListener('click', event => {
  event.preventDefault();  // the address of a live page names its run
  document.getElementById('main').focus();
});

if (data.live) new Live();
else startFile();
