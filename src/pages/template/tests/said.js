// Run by said.rs: node, with the page on its standard input.
const vm = require('vm');
const html = require('fs').readFileSync(0, 'utf8');
let clock = 1e12;
let timers = [];
let serial = 0;
const begin = clock, changes = [], blocks = {}, scripts = [], elements = {}, sources = [];
for (const [, attributes, text] of html.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)) {
  const id = /id="(\w+)"/.exec(attributes);
  if (id) blocks[id[1]] = text; else scripts.push(text);
}
function element(id) {
  let text = blocks[id] || '';
  return {
    get textContent() { return text; },
    set textContent(value) {
      text = value;
      if (id === 'said') changes.push([Math.round((clock - begin) / 1e3), value]);
    },
    parentNode: { hidden: false, classList: { toggle() {} } },
    appendChild(child) { text += child.textContent; },
    addEventListener() {},
    getAttribute: () => '',
    setAttribute() {},
  };
}
function at(run, ms) { timers.push({ run, at: clock + (ms || 0), id: ++serial }); return serial; }
class Clock extends Date {
  constructor(...given) { if (given.length) super(...given); else super(clock); }
  static now() { return clock; }
}
const page = {
  Date: Clock, Math, JSON, Intl, Promise, atob,
  setTimeout: at,
  clearTimeout(id) { timers = timers.filter((one) => one.id !== id); },
  setInterval() {},
  document: {
    hidden: false,
    title: '',
    getElementById(id) {
      if (!elements[id] && new RegExp(`id="${id}"`).test(html)) elements[id] = element(id);
      return elements[id] || null;
    },
    getElementsByTagName: () => [],
    createElement: () => element(''),
    addEventListener(name, run) { if (name === 'DOMContentLoaded') run(); },
  },
  EventSource: class {
    constructor() { this.hears = {}; sources.push(this); }
    addEventListener(name, run) { this.hears[name] = run; }
    close() {}
  },
  XMLHttpRequest: class { open() {} send() {} },
  BroadcastChannel: class { postMessage() {} },
  navigator: { cookieEnabled: true, locks: { request(key, run) { run(); return { catch() {} }; } } },
  sessionStorage: { getItem: () => null, setItem() {} },
  location: { reload() {} },
  history: {},
  addEventListener() {},
  matchMedia: () => ({ matches: false }),
};
page.window = page;
vm.createContext(page);
scripts.forEach((text) => vm.runInContext(text, page));
const place = JSON.parse(blocks.data).place;
const say = (name, data) => sources[0].hears[name]({ data: JSON.stringify(data) });
for (let step = 1; step <= 360; step++) {
  clock += 5e3;
  timers.filter((one) => one.at <= clock).forEach((one) => {
    timers = timers.filter((other) => other !== one);
    one.run();
  });
  const base = Math.max(0, place - 1200) + step * 2;
  say('status', { waiting: 4000, revision: 1, base, bits: Buffer.alloc(512, 255).toString('base64'), estimate: [[0, 0, 30], [4000, 3000, 6000]] });
}
say('called', { state: 'called', claim_in: 90 });
say('called', { state: 'called', claim_in: 89 });
console.log(JSON.stringify(changes));
