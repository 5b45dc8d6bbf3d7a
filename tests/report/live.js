// Stands for the server of a live page whose run prints a line between two looks. Each answer takes a while, and meanwhile the
// page becomes visible again; the fourth cannot be read. At the end a paragraph says what was shown.
let scrollListeners = 0, damaged = false;
const told = new Set();
const add = window.addEventListener;
window.addEventListener = (what, ...rest) => {
  if (what === 'scroll') ++scrollListeners;
  add.call(window, what, ...rest);
};

window.fetch = async address => {
  const asked = new URL(address, 'http://localhost/'), log = Number(asked.searchParams.get('log') || 0);
  await new Promise(done => setTimeout(done, 250));
  const run = {
    name: 'followed', generation: 'g', whole: !asked.searchParams.has('generation'), cursor: {rows: log + 1, log: log + 1, tapes: 0}, steps: 1, seconds: 1,
    outcome: '', alive: true, curves: [], images: {}, histograms: {}, texts: {}, tapes: [], scripts: [], left_out: [], log: {begin: `line ${log}\n`}, runs: [],
  };
  if (log === 3 && !damaged) {
    damaged = true;
    run.curves = null;
  }
  return {ok: true, status: 200, json: async () => run};
};

const looks = setInterval(() => {
  document.dispatchEvent(new Event('visibilitychange'));
  const note = document.querySelector('.note.bad:not(.hide)');
  if (note) told.add(note.textContent);
}, 100);
for (const [i, hash] of ['', '#followed', '', '#followed'].entries()) setTimeout(() => (location.hash = hash), 3000 * (i + 1));
setTimeout(() => {
  clearInterval(looks);
  const lines = document.querySelector('#console pre').textContent.trimEnd().split('\n');
  const result = document.createElement('p');
  result.textContent = `${lines.length} lines, ${lines.every((line, i) => line === `line ${i}`) ? 'in order' : lines}; ${scrollListeners} listener; told: ${[...told].join()}`;
  document.body.append(result);
}, 28000);
