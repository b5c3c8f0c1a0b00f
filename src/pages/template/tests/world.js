// A browser of the test's own for a page's script, in node: the page on standard input, a clock that `pass` moves.
const vm = require('vm');
const html = require('fs').readFileSync(0, 'utf8');
let clock = 1e12;
let timers = [];
let serial = 0;
let answer = null, reloads = 0;
const asked = [], begin = clock, changes = [], blocks = {}, scripts = [], elements = {}, sources = [];
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
    href: '',
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
    querySelectorAll: () => [],
    createElement: () => element(''),
    addEventListener(name, run) { if (name === 'DOMContentLoaded') run(); },
  },
  EventSource: class {
    constructor() { this.hears = {}; sources.push(this); }
    addEventListener(name, run) { this.hears[name] = run; }
    close() { this.closed = true; }
  },
  XMLHttpRequest: class {
    open(method, address) { this.address = address; }
    send() {
      asked.push(this.address);
      Object.assign(this, answer);
      if (answer) at(() => this.onloadend());
    }
    getResponseHeader() { return null; }
  },
  BroadcastChannel: class { postMessage() {} },
  navigator: { cookieEnabled: true, locks: { request(key, run) { run(); return { catch() {} }; } } },
  sessionStorage: {},
  location: { reload() { reloads++; }, replace() {} },
  history: {},
  addEventListener() {},
  matchMedia: () => ({ matches: false }),
};
page.window = page;
vm.createContext(page);
scripts.forEach((text) => vm.runInContext(text, page));
// Lets so many milliseconds pass, in steps of a tenth of a second.
function pass(ms) {
  for (const end = clock + ms; clock < end;) {
    clock += 100;
    timers.filter((one) => one.at <= clock).sort((a, b) => a.at - b.at || a.id - b.id).forEach((one) => {
      if (!timers.includes(one)) return;
      timers = timers.filter((other) => other !== one);
      one.run();
    });
  }
}
