// Places the boxes of a tape in layers, inputs before the ops that read them, with few crossings.

// `boxes`: [{id, width, height, from: [ids]}]; sets x and y. Layers run left to right.
function layOut(boxes, gapAcross, gapAlong) {
  const byId = new Map(boxes.map(box => [box.id, box]));
  const into = new Map(boxes.map(box => [box.id, []]));
  for (const box of boxes) {
    box.from = box.from.filter(id => byId.has(id) && id !== box.id);
    for (const id of box.from) into.get(id).push(box.id);
  }
  // Layers by a walk in topological order; a cycle, which a closed module can make, is cut where it is met.
  const state = new Map();
  const order = [];
  for (const first of boxes) {
    if (state.has(first.id)) continue;
    const stack = [[first, 0]];
    state.set(first.id, 1);
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top[1] === top[0].from.length) {
        order.push(top[0]);
        state.set(top[0].id, 2);
        stack.pop();
        continue;
      }
      const next = byId.get(top[0].from[top[1]++]);
      if (state.has(next.id)) continue;
      state.set(next.id, 1);
      stack.push([next, 0]);
    }
  }
  const rank = new Map(order.map((box, i) => [box.id, i]));
  for (const box of order) {
    box.layer = 0;
    for (const id of box.from) if (rank.get(id) < rank.get(box.id)) box.layer = Math.max(box.layer, byId.get(id).layer + 1);
  }
  // What has no input stands next to its first reader.
  for (const box of order) {
    if (box.from.length || !into.get(box.id).length) continue;
    box.layer = Math.max(0, Math.min(...into.get(box.id).map(id => byId.get(id).layer)) - 1);
  }
  const layers = [];
  for (const box of order) (layers[box.layer] = layers[box.layer] || []).push(box);
  const filled = layers.filter(Boolean);
  filled.forEach((layer, l) => layer.forEach((box, i) => { box.layer = l; box.place = i; }));
  const sweep = (list, near) => {
    for (const layer of list) {
      const weight = new Map(layer.map(box => {
        const places = near(box).map(id => byId.get(id)).map(other => other.place / Math.max(filled[other.layer].length - 1, 1));
        return [box, places.length ? places.reduce((a, b) => a + b, 0) / places.length : box.place / Math.max(layer.length - 1, 1)];
      }));
      layer.sort((a, b) => weight.get(a) - weight.get(b));
      layer.forEach((box, i) => { box.place = i; });
    }
  };
  for (let round = 0; round < 4; ++round) {
    sweep(filled, box => box.from);
    sweep([...filled].reverse(), box => into.get(box.id));
  }
  let x = 0;
  const heights = filled.map(layer => layer.reduce((sum, box) => sum + box.height + gapAcross, -gapAcross));
  const tallest = Math.max(...heights, 0);
  filled.forEach((layer, l) => {
    let y = (tallest - heights[l]) / 2;
    for (const box of layer) {
      box.x = x;
      box.y = y;
      y += box.height + gapAcross;
    }
    x += Math.max(...layer.map(box => box.width)) + gapAlong;
  });
  // Boxes move towards their neighbours as far as there is room.
  for (let round = 0; round < 6; ++round)
    for (const layer of round % 2 ? [...filled].reverse() : filled)
      layer.forEach((box, i) => {
        const near = box.from.concat(into.get(box.id)).map(id => byId.get(id));
        if (!near.length) return;
        const wanted = near.reduce((sum, other) => sum + other.y + other.height / 2, 0) / near.length - box.height / 2;
        const least = i ? layer[i - 1].y + layer[i - 1].height + gapAcross : -Infinity;
        const most = i + 1 < layer.length ? layer[i + 1].y - gapAcross - box.height : Infinity;
        box.y = Math.min(Math.max(wanted, least), Math.max(most, least));
      });
  const top = Math.min(...boxes.map(box => box.y), 0);
  for (const box of boxes) box.y -= top;
}
