// Elements and texts. Everything that comes from a run becomes a text node or an attribute, never HTML.
const SVG = 'http://www.w3.org/2000/svg';

// Control characters and the marks that turn the direction of text, as the program shows them on a terminal: \u202e.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// make('a.back', {href: '#'}, 'text', child …): an element; `svg:` in front makes one of a drawing.
function make(what, attributes, ...children) {
  const drawing = what.startsWith('svg:');
  const [tag, ...classes] = (drawing ? what.slice(4) : what).split('.');
  const element = drawing ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== null && child !== false)
    .map(child => (typeof child === 'string' ? visible(child) : child)));
  return element;
}

// Rows write NaN and infinities as texts.
function number(value) {
  if (typeof value === 'number') return value;
  return value === 'Infinity' ? Infinity : value === '-Infinity' ? -Infinity : NaN;
}

function figure(value, digits = 4) {
  const x = number(value);
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? 'Inf' : '-Inf';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e7) return x.toLocaleString('en');
  if (size >= 1e6 || size < 1e-4) return x.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(x.toPrecision(digits)));
}

function count(x, what) { return `${Number(x).toLocaleString('en')} ${what}${x === 1 ? '' : 's'}`; }

function duration(seconds) {
  const s = number(seconds);
  if (!Number.isFinite(s) || s < 0) return '';
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')} min`;
  return `${Math.floor(s / 3600)}:${String(Math.floor(s % 3600 / 60)).padStart(2, '0')} h`;
}

function nanoseconds(ns) {
  if (!(ns > 0)) return '';
  return ns < 1e6 ? `${figure(ns / 1e3, 3)} µs` : `${figure(ns / 1e6, 3)} ms`;
}

function bytes(n) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (n < 1024 || unit === 'GiB') return `${unit === 'B' ? n : n.toFixed(1)} ${unit}`;
    n /= 1024;
  }
}

function ago(seconds) {
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

function moment(text) { return String(text || '').replace('T', ' ').replace(/:\d\dZ$/, ' UTC'); }

// The name without the time that it begins with, unless that is all.
function short(name) { return name.replace(/^\d{8}-\d{6}-/, '') || name; }

function stateOf(run) {
  if (run.alive && !run.outcome) return ['running', 'live'];
  const words = {
    ok: ['finished', 'good'], error: ['error', 'bad'], numeric: ['stopped by NaN or Inf', 'bad'], stopped: ['stopped', 'warn'],
    memory: ['out of memory', 'bad'], file: ['file error', 'bad'], device: ['device error', 'bad'], usage: ['usage error', 'bad'],
  };
  return (Object.hasOwn(words, run.outcome) && words[run.outcome]) || [run.outcome || 'unfinished', 'warn'];
}

function badge(run) {
  const [word, kind] = stateOf(run);
  const bad = kind === 'good' && (run.curves || []).some(curve => curve.bad);
  return make(`span.state.${bad ? 'warn' : kind}`, {}, bad ? `${word}, with NaN or Inf` : word);
}
const colorOf = i => `var(--c${i % 8})`;

// Draws a part again only if its content has changed, so that a selection in it stays.
function renew(place, key, draw) {
  const text = JSON.stringify(key);
  if (place.shownKey === text) return;
  place.shownKey = text;
  const drawn = draw();
  place.replaceChildren(...(drawn ? [drawn].flat() : []));
}

// A section must not take the others down with it: what a run's folder holds may be damaged.
function safely(what, draw) {
  try {
    return draw();
  } catch (problem) {
    return make('p.note.bad', {}, `${what} cannot be shown: ${problem && problem.message}`);
  }
}
