// Run by said.rs behind world.js: half an hour in which the line moves every five seconds, then two calls.
const place = JSON.parse(blocks.data).p;
const say = (name, data) => sources[0].hears[name]({ data: JSON.stringify(data) });
for (let step = 1; step <= 360; step++) {
  pass(5e3);
  const base = Math.max(0, place - 1200) + step * 2;
  say('status', { waiting: 4000, revision: 1, base, bits: Buffer.alloc(512, 255).toString('base64'), estimate: [[0, 0, 30], [4000, 3000, 6000]] });
}
say('called', { state: 'called', claim_in: 90 });
say('called', { state: 'called', claim_in: 89 });
console.log(JSON.stringify(changes));
