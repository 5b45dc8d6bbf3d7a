// A run as the page holds it, and how news of a running one are added.

const SMOOTHINGS = [0, 0.6, 0.9, 0.97, 0.99, 0.997];
const USUAL_SMOOTHING = 1;  // 0.6, with which the window begins, too

// The same moving average as in the window: its memory is measured in steps.
function smoothed(steps, values, beta) {
  let mean = 0, missing = 1, last = 0;
  return values.map((y, i) => {
    if (!Number.isFinite(y)) return y;
    const decay = Math.pow(beta, missing === 1 ? 1 : Math.max(steps[i] - last, 1e-6));
    last = steps[i];
    mean = decay * mean + (1 - decay) * y;
    missing *= decay;
    return mean / (1 - missing);
  });
}

function readCurve(raw) {
  const list = name => (Array.isArray(raw[name]) ? raw[name].map(number) : []);
  const curve = {
    name: String(raw.name), count: raw.count, each: raw.each || 1, min: raw.min, max: raw.max, bad: raw.bad,
    step: list('step'), time: list('time'), value: list('value'),
  };
  if (curve.each > 1) {
    for (const name of ['first', 'low', 'high', 'bads']) curve[name] = list(name);
    curve.smooth = raw.smooth.map(values => values.map(number));
  }
  return curve;
}

// What came after bucket `from` replaces what is there.
function addToCurve(curve, raw) {
  const news = readCurve(raw);
  const from = raw.from || 0;
  if (from > 0 && news.each === curve.each) {
    for (const name of ['step', 'time', 'value', 'first', 'low', 'high', 'bads'])
      if (news[name]) news[name] = curve[name].slice(0, from).concat(news[name]);
    if (news.smooth) news.smooth = news.smooth.map((values, k) => curve.smooth[k].slice(0, from).concat(values));
  }
  Object.assign(curve, news);
  curve.cache = null;
}

function smoothValues(curve, level) {
  if (level === 0) return curve.value;
  if (curve.each > 1) return curve.smooth[level - 1];
  curve.cache = curve.cache || [];
  return curve.cache[level] || (curve.cache[level] = smoothed(curve.step, curve.value, SMOOTHINGS[level]));
}

// The file of tapes may be damaged: what is used below has the form that it should have.
function checkedNode(raw) {
  const node = raw && typeof raw === 'object' ? raw : {};
  const texts = {};
  for (const name of ['op', 'module', 'name', 'file', 'dtype']) texts[name] = node[name] === undefined ? '' : String(node[name]);
  return {...node, ...texts, in: (Array.isArray(node.in) ? node.in : []).filter(input => Array.isArray(input) && Number.isInteger(input[0])),
          attrs: node.attrs && typeof node.attrs === 'object' ? node.attrs : {}};
}

// A tape that refers to an earlier tape has its nodes; if that step has several tapes, the latest counts. A line whose step is not later than the
// lines above voids them: the run went back.
function addTapes(run, lines) {
  for (const tape of lines) {
    if (Array.isArray(tape.nodes)) tape.nodes = tape.nodes.map(checkedNode);
    if (!Array.isArray(tape.values)) tape.values = [];
    tape.values = tape.values.map(pair => (Array.isArray(pair) ? pair.map(one => (Array.isArray(one) ? one : null)) : [null, null]));
    const same = run.allTapes.findLast(other => other.step === tape.like && other.nodes);
    if (!tape.nodes && same) tape.nodes = same.nodes;
    if (tape.nodes && !Array.isArray(tape.nodes)) continue;
    run.allTapes.push(tape);
    run.tapes = run.tapes.filter(other => other.step < tape.step);
    run.tapes.push(tape);
  }
}

function readRun(raw) {
  const run = {...raw, allTapes: [], tapes: []};
  run.curves = (raw.curves || []).map(readCurve);
  addTapes(run, raw.tapes || []);
  run.log = {begin: '', missing: 0, end: '', ...(raw.log || {})};
  return run;
}

// Adds what a running run wrote since; `thin`: a page that stays open keeps a bounded number of pictures.
function addNews(run, raw) {
  const kept = {curves: run.curves, images: run.images, histograms: run.histograms, texts: run.texts, log: run.log,
                tapes: run.tapes, allTapes: run.allTapes, scripts: run.scripts, left_out: run.left_out};
  const log = raw.log, tapes = raw.tapes;
  Object.assign(run, raw, kept);
  run.revision = (run.revision || 0) + (raw.curves.length ? 1 : 0);
  for (const news of raw.curves) {
    const curve = run.curves.find(known => known.name === news.name);
    if (curve) addToCurve(curve, news);
    else run.curves.push(readCurve(news));
  }
  const thin = (list, most) => (list.length <= most ? list : list.filter((_, i) => i === list.length - 1 || i % 2 === 0));
  for (const [kind, most] of [['images', 60], ['histograms', 80], ['texts', 100]])
    for (const [name, items] of Object.entries(raw[kind] || {}))
      run[kind][name] = thin((run[kind][name] || []).concat(items), most);
  addTapes(run, tapes || []);
  if (log) {
    const tail = (log.begin || '') + (log.end || '');
    if (log.missing) run.log.missing = (run.log.missing || 0) + log.missing;
    run.log.end = (run.log.end + tail).slice(-1000000);
  }
}

// Curves that belong on one chart: train_loss and val_loss, train/loss and test/loss.
function stem(name) {
  let rest = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1) || name;
  rest = rest.replace(/^(train|valid|val|test|eval|dev)_(?=.)/, '').replace(/(.)_(train|valid|val|test|eval|dev)$/, '$1');
  return rest === 'acc' ? 'accuracy' : rest;
}

function isLoss(name) { return /loss|nll|perplexity|mse|error|residual/i.test(name); }
