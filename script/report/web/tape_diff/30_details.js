// What both sides have of a pair of nodes, one beside the other.

const plain = text => String(text).replace(/^"(.*)"$/, '$1');

function rowsOfPair(pair) {
  const a = nodeA(pair), b = nodeB(pair);
  const of = (node, read) => (node ? read(node) : undefined);
  const attributes = [...new Set([...Object.keys((a && a.attrs) || {}), ...Object.keys((b && b.attrs) || {})])];
  const rows = [
    ['op', opName], ['module', node => node.module], ['name', node => node.name], ['shape', node => shapeText(node.shape)], ['dtype', node => node.dtype], ['device', node => node.device],
    ...attributes.map(name => [name, node => node.attrs && node.attrs[name] !== undefined && plain(node.attrs[name])]),
    ['line', node => node.file && `${String(node.file).split('/').pop()}:${node.line}`],
  ].map(([name, read]) => [name, of(a, read) || '', of(b, read) || '']);
  return rows.filter(([, left, right]) => left || right);
}

function valueRows(pair, which) {
  const of = node => (node && Array.isArray(node.values[which]) ? node.values[which] : null), a = of(nodeA(pair)), b = of(nodeB(pair));
  if (!a && !b) return [];
  return SUMMARY.map((name, k) => [name, a ? figure(a[k], 5) : '', b ? figure(b[k], 5) : ''])
    .filter(([, left, right], k) => !(k > 0 && k < 4 && (left || '0') === '0' && (right || '0') === '0'));
}

// Rows of [what, A, B]; those that differ are marked.
function sideTable(heading, rows) {
  if (!rows.length) return '';
  return make('table.sides', {}, make('thead', {}, make('tr', {}, make('th', {}, heading), make('th', {}, 'A'), make('th', {}, 'B'))),
    make('tbody', {}, ...rows.map(([name, a, b]) => make(`tr${a === b ? '' : '.differs'}`, {}, make('th', {scope: 'row'}, name), make('td', {}, a), make('td', {}, b)))));
}

function sentenceOf(finding) {
  if (!isMove(finding)) return finding.cause ? '' : 'This follows from other differences, or says nothing about what is computed.';
  if (finding.cause) return 'Nothing that it depends on moved as far: a cause.';
  return 'What it depends on moved, too.';
}

function describePair(pair) {
  const node = nodeB(pair) || nodeA(pair);
  const times = which => [nodeA(pair), nodeB(pair)].map(side => (side ? nanoseconds(side.times[which]) : ''));
  const facts = pair.findings.map(finding => make('p.fact', {}, make(`span.tag.${stateOfFinding(finding)}`, {}, KINDS[finding.kind]), ` ${finding.text}. ${sentenceOf(finding)}`));
  return [make('h3', {}, node.label), ...(facts.length ? facts : [make('p.quiet', {}, 'The same on both sides.')]), sideTable('node', rowsOfPair(pair)),
    sideTable(node.op === LEAF || node.op === 'source' ? 'value' : 'output', valueRows(pair, 0)), sideTable('gradient', valueRows(pair, 1)),
    sideTable('time', [['forward', ...times(0)], ['backward', ...times(1)]].filter(([, a, b]) => a || b).map(row => row))];
}

// Several nodes: what was removed or added at once, or a module of the graph.
function describePairs(pairs, choose) {
  const together = data.ranked.find(finding => finding.nodes.length === pairs.length && finding.nodes[0] === pairs[0]);
  const shown = pairs.slice(0, 200);
  const rows = shown.map(p => {
    const pair = pairsOf[p], node = nodeB(pair) || nodeA(pair);
    return make('tr', {}, make('td', {}, make('button.plain', {type: 'button', onclick: () => choose([p])}, node.label)), make('td', {}, shapeText(node.shape)),
      make('td', {}, make(`span.tag.${pair.state}`, {}, pair.findings.length ? KINDS[pair.findings[0].kind] : 'the same')));
  });
  return [make('h3', {}, together ? together.name : count(pairs.length, 'node')), together ? make('p.fact', {}, make(`span.tag.${stateOfFinding(together)}`, {}, KINDS[together.kind]), ` ${together.text}. ${sentenceOf(together)}`) : '', make('table', {}, make('tbody', {}, ...rows)), pairs.length > shown.length ? make('p.quiet', {}, `and ${count(pairs.length - shown.length, 'node')} more`) : ''];
}
