// The page: head, ranking with the details of what is chosen, graphs, scripts.

const sideName = side => `${side.name}${side.step === undefined ? '' : `, step ${Number(side.step).toLocaleString('en')}`}`;

function drawHead() {
  const counts = data.counts, moved = counts.values + counts.gradients;
  const causes = data.ranked.filter(finding => isMove(finding) && finding.cause).length;
  const facts = [count(counts.matched, 'node').replace(/ node/, ' matched node'), `${counts.removed} removed`, `${counts.added} added`, `${counts.changed} changed`];
  if (!data.structure) facts.push(`${count(moved, 'value')} and gradients moved${moved ? `, ${causes} on their own` : ''}`);
  const side = (name, of) => make('span', {}, make('b', {}, `${name} `), sideName(of), ` (${count(of.nodes, 'node')})`);
  return [make('div.title', {}, make('h1', {}, 'Tape diff'), make(`span.state.${data.equal ? 'good' : 'warn'}`, {}, data.equal ? 'equal' : 'different')),
    make('div.facts', {}, side('A', data.a), side('B', data.b)), make('div.facts', {}, ...facts.map(fact => make('span', {}, fact)),
      ...(data.rtol || data.atol ? [make('span', {}, `rtol ${data.rtol}, atol ${data.atol}`)] : [])),
    ...data.notes.map(note => make('p.quiet', {}, `Note: ${note}.`))];
}

class Ranking {
  constructor(page) {
    this.search = make('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search in the differences', oninput: () => this.fill()});
    this.list = make('tbody', {});
    this.more = make('p.quiet', {});
    this.page = page;
    this.details = make('div.card.details', {'aria-live': 'polite', tabindex: 0, role: 'region', 'aria-label': 'What is chosen'});
    const explain = data.structure ? 'What only one tape has, then what changed; below it what follows.' : 'Causes first: what only one tape has, what changed, what moved although its inputs did not. Below them what follows.';
    this.element = make('section', {id: 'ranking'}, make('div.head', {}, make('h2', {}, 'Differences'), make('span.quiet', {}, explain), this.search),
      make('div.ranking', {}, make('div.card.scroll.list', {tabindex: 0, role: 'region', 'aria-label': 'Ranked differences'}, make('table', {}, make('thead', {}, make('tr', {}, make('th.num', {}, ''), make('th', {}, 'difference'), make('th', {}, 'node'), make('th', {}, 'A → B'), make('th', {}, 'line'))), this.list), this.more), this.details));
    this.fill();
  }

  placeOf(finding) {
    const pair = pairsOf[finding.nodes[0]], node = nodeB(pair) || nodeA(pair);
    return node.file ? `${String(node.file).split('/').pop()}:${node.line}` : '';
  }

  fill() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = data.ranked.filter(finding => {
      const text = `${KINDS[finding.kind]} ${finding.name} ${finding.text} ${this.placeOf(finding)} ${finding.cause ? 'cause' : 'follows'}`.toLowerCase();
      return words.every(word => text.includes(word));
    });
    const shown = found.slice(0, 500);
    this.rows = new Map(shown.map(finding => {
      const choose = () => this.page.choose(finding.nodes, this);
      const row = make('tr.pick', {tabindex: 0, onclick: choose, onkeydown: event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose();
      }}, make('td.num', {}, String(finding.rank + 1)), make('td', {}, make(`span.tag.${stateOfFinding(finding)}`, {}, KINDS[finding.kind])), make('td', {}, finding.name), make('td', {}, finding.text), make('td', {}, this.placeOf(finding)));
      return [finding, row];
    }));
    this.list.replaceChildren(...this.rows.values());
    this.more.textContent = !data.ranked.length ? 'There is no difference.' : !found.length ? 'Nothing matches.' : found.length > shown.length ? `and ${found.length - shown.length} more; the search finds them` : '';
    this.mark();
  }

  mark() {
    const chosen = this.page.chosen;
    for (const [finding, row] of this.rows) row.classList.toggle('chosen', chosen.length > 0 && finding.nodes.includes(chosen[0]) && (chosen.length === 1 || finding.nodes.length > 1));
  }

  show(pairs) {
    this.mark();
    this.details.replaceChildren(...(pairs.length === 1 ? describePair(pairsOf[pairs[0]]) : describePairs(pairs, chosen => this.page.choose(chosen))));
    this.details.scrollTop = 0;
  }
}

class Graphs {
  constructor(page) {
    this.views = {
      'Merged': [new DiffGraph(page, mergedTape(), '')],
      'Side by side': [new DiffGraph(page, tapeOf('a'), `A: ${sideName(data.a)}`), new DiffGraph(page, tapeOf('b'), `B: ${sideName(data.b)}`)],
    };
    this.buttons = Object.keys(this.views).map(name => make('button', {type: 'button', onclick: () => this.show(name)}, name));
    this.body = make('div.graphs', {});
    const used = new Set(pairsOf.map(pair => pair.state));
    const legend = Object.entries(STATES).filter(([state]) => used.has(state)).map(([state, text]) => make('span.key', {}, make(`i.swatch.${state}`, {}), make('span', {}, text)));
    this.element = make('section', {id: 'graphs'}, make('div.head', {}, make('h2', {}, 'Graph'), make('div.legend', {}, ...legend), make('div.tools', {role: 'group', 'aria-label': 'View'}, ...this.buttons)), this.body);
  }

  show(name) {
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.textContent === name));
    this.shown = this.views[name];
    this.body.className = `graphs${this.shown.length > 1 ? ' two' : ''}`;
    this.body.replaceChildren(...this.shown.map(graph => graph.canvas));
    for (const graph of this.shown) graph.show();
  }

  follow(pairs, origin) {
    for (const graph of this.shown || []) if (graph !== origin) graph.follow(pairs);
  }
}

// The scripts of the runs; the lines of what is chosen are marked.
class Sources {
  constructor() {
    this.parts = ['a', 'b'].filter(side => data[side].script).map(side => {
      const lines = data[side].script.replace(/\n$/, '').split('\n').slice(0, 20000).map((line, n) => make('span', {'data-line': n + 1}, line || ' '));
      return {side, name: data[side].script_name, lines, source: make('pre.card.source', {tabindex: 0, 'aria-label': `Script of ${side.toUpperCase()}`}, ...lines)};
    });
    const body = this.parts.length ? make('div.grid.wide', {}, ...this.parts.map(part => make('div', {}, make('p.quiet', {}, `${part.side.toUpperCase()}: ${part.name}`), part.source)))
      : make('p.quiet', {}, 'The scripts are not known: they are in the folders of runs, and a file with a tape has none.');
    this.element = make('section', {id: 'script'}, make('div.head', {}, make('h2', {}, 'Script')), body);
  }

  show(pairs) {
    for (const part of this.parts) {
      for (const line of part.lines) line.classList.remove('mark');
      const nodes = pairs.map(p => (part.side === 'a' ? nodeA : nodeB)(pairsOf[p])).filter(node => node && node.file === part.name);
      const marked = [...new Set(nodes.map(node => node.line))].map(line => part.lines[line - 1]).filter(Boolean);
      for (const line of marked) line.classList.add('mark');
      if (marked.length) part.source.scrollTop = marked[0].offsetTop - part.source.offsetTop - part.source.clientHeight / 2;
    }
  }
}

class Page {
  constructor() {
    this.chosen = [];
    this.ranking = new Ranking(this);
    this.graphs = new Graphs(this);
    this.sources = new Sources();
    document.getElementById('top').replaceChildren(...drawHead());
    document.getElementById('main').replaceChildren(this.ranking.element, this.graphs.element, this.sources.element,
      make('p.foot', {}, `Written by Lunagrad ${data.version} on ${moment(data.made)}. This file needs no network.`));
    const last = pairsOf.length - 1;
    this.choose(data.ranked.length ? data.ranked[0].nodes : [last]);
    this.graphs.show('Merged');
  }

  // Everything shows these pairs. `origin`: the part that the reader used, which shows them already.
  choose(pairs, origin) {
    this.chosen = pairs;
    this.ranking.show(pairs);
    this.graphs.follow(pairs, origin);
    this.sources.show(pairs);
  }
}

new Page();
