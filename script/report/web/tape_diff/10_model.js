// The data of the page: pairs of nodes, each with what is said of it in the ranking.
const data = JSON.parse(document.getElementById('data').textContent);

const STATES = {
  removed: 'only in A', added: 'only in B', changed: 'changed', cause: 'moved on its own', renamed: 'changed, as follows from others', moved: 'moved, as follows from others', same: 'the same',
};

const isMove = finding => finding.kind === 'value' || finding.kind === 'gradient';

function stateOfFinding(finding) {
  if (finding.kind === 'removed' || finding.kind === 'added') return finding.kind;
  if (isMove(finding)) return finding.cause ? 'cause' : 'moved';
  return finding.cause ? 'changed' : 'renamed';
}

const KINDS = {removed: 'removed', added: 'added', changed: 'changed', value: 'value moved', gradient: 'gradient moved'};

const pairsOf = data.pairs.map(pair => ({...pair, findings: [], state: 'same'}));
data.ranked.forEach((finding, rank) => {
  finding.rank = rank;
  for (const p of finding.nodes) {
    // The ranking has the more important first.
    if (!pairsOf[p].findings.length) pairsOf[p].state = stateOfFinding(finding);
    pairsOf[p].findings.push(finding);
  }
});
const nodeA = pair => (pair.a < 0 ? null : data.a.tape[pair.a]);
const nodeB = pair => (pair.b < 0 ? null : data.b.tape[pair.b]);

function pairNumbers(side) {
  const numbers = [];
  pairsOf.forEach((pair, p) => { if (pair[side] >= 0) numbers[pair[side]] = p; });
  return numbers;
}
const pairOf = {a: pairNumbers('a'), b: pairNumbers('b')};

// The tape of one side, newest node first as graphs draw it. A node's `pair` leads back to its pair.
function tapeOf(side) {
  const tape = data[side].tape, last = tape.length - 1;
  const nodes = tape.map((node, i) => ({...node, pair: pairOf[side][i], in: node.in.filter(from => from >= 0).map(from => [last - from])})).reverse();
  return {step: side, nodes};
}

// Both tapes as one. Inputs say in which tapes they are: 'a', 'b' or 'ab'.
function mergedTape() {
  const last = pairsOf.length - 1;
  const nodes = pairsOf.map((pair, p) => {
    const inputs = new Map();
    for (const side of ['a', 'b']) {
      if (pair[side] < 0) continue;
      for (const from of data[side].tape[pair[side]].in)
        if (from >= 0) inputs.set(pairOf[side][from], (inputs.get(pairOf[side][from]) || '') + (inputs.get(pairOf[side][from]) === side ? '' : side));
    }
    return {...(nodeB(pair) || nodeA(pair)), pair: p, in: [...inputs].map(([from, sides]) => [last - from, sides])};
  }).reverse();
  return {step: 'merged', nodes};
}
