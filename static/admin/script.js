'use strict';
// The operator's page: asks the admin API every two seconds and shows what it says. Nothing it shows is made from markup.
const API = 'api/v1', KEY = 'ropeline-token', EVERY_MS = 2000;
const by = id => document.getElementById(id);
const cards = new Map();
let token = sessionStorage.getItem(KEY) || '', timer;

const make = (tag, props = {}, ...inner) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...inner);
  return element;
};
const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const tell = text => put(by('told'), text);

async function ask(path, method = 'GET', body) {
  const headers = { accept: 'application/json' };
  if (token) headers.authorization = 'Bearer ' + token;
  if (body) headers['content-type'] = 'application/json';
  const answer = await fetch(`${API}/${path}`, { method, headers, body: body && JSON.stringify(body), cache: 'no-store' });
  const told = await answer.json().catch(() => ({ detail: 'the answer is not from a gate' }));
  if (!answer.ok) throw Object.assign(new Error(told.detail || answer.statusText), { status: answer.status });
  return told;
}

const at = name => 'rooms/' + encodeURIComponent(name);
const count = number => number.toLocaleString('en');
const clock = date => date ? new Date(date).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' }) : '-';
const span = secs => secs < 90 ? `${secs} s` : secs < 5400 ? `${Math.round(secs / 60)} min` : `${(secs / 3600).toFixed(1)} h`;
const wait = estimate => estimate ? `${span(estimate.low)} to ${span(estimate.high)}` : '-';
const shown = value => value === null ? 'none' : String(value);

// One figure with its name.
function figure(list, name) {
  const value = make('dd', {}, '-');
  list.append(make('div', {}, make('dt', {}, name), value));
  return value;
}

function field(name, input) { return make('label', {}, name, input); }
const input = (props = {}) => make('input', { autocomplete: 'off', ...props });
const reasonOf = form => form.elements.reason.value.trim();
const reasonField = () => field('Reason', input({ name: 'reason', maxLength: 200, placeholder: 'optional' }));

// A form that changes something: what it asks for, and how it is carried out.
function changing(title, fields, button, act) {
  const form = make('form', { className: 'set' }, ...fields, reasonField(), make('button', {}, button));
  form.addEventListener('submit', event => {
    event.preventDefault();
    carryOut(() => act(form.elements, reasonOf(form)), form);
  });
  return [make('h3', {}, title), form];
}

async function carryOut(act, form) {
  tell('…');
  try {
    const said = await act();
    if (said === null) return tell('Nothing was changed.');
    if (form) form.reset();
    tell(said);
    look();
  } catch (error) { tell('Refused: ' + error.message); }
}

// Asks for a reason, and for the room's name where that is wanted. Null where the operator thinks better of it.
function sure(what, means, name) {
  const dialog = by('sure'), wrong = by('sure-wrong');
  put(by('sure-what'), what); put(by('sure-means'), means); put(wrong, '');
  by('sure-name-label').hidden = !name;
  by('sure-name').value = by('sure-reason').value = '';
  return new Promise(done => {
    by('sure-yes').onclick = () => {
      const confirm = by('sure-name').value.trim(), reason = by('sure-reason').value.trim();
      if (name && confirm !== name) return put(wrong, `Type ${name} to confirm.`);
      if (!reason) return put(wrong, 'Say why.');
      done({ confirm, reason });
      dialog.close();
    };
    dialog.onclose = () => done(null);
    dialog.showModal();
  });
}

async function patch(name, change, reason) {
  const grave = change.mode === 'closed' || change.mode === 'off';
  if (grave && !reason) {
    const means = change.mode === 'off' ? 'Everybody goes straight to the shop: there is no line.' : 'Nobody joins and nobody is called.';
    const said = await sure(`${name}: ${change.mode}`, means);
    if (!said) return null;
    reason = said.reason;
  }
  if (reason) change.reason = reason;
  await ask(at(name), 'PATCH', change);
  return `${name} is changed.`;
}

function switches(name) {
  const modes = ['auto', 'hold', 'closed', 'off'].map(mode => make('option', { value: mode }, mode));
  const mode = make('select', { name: 'mode', required: true }, make('option', { value: '' }, 'choose'), ...modes, make('option', { value: 'default' }, 'as configured'));
  const limits = [
    field('Capacity', input({ name: 'capacity', pattern: '\\d+|default', placeholder: 'as it is' })),
    field('Calls per minute', input({ name: 'rate', pattern: '\\d+|none|default', placeholder: 'as it is; or none' })),
  ];
  const dates = ['prequeue_from', 'opens_at', 'closes_at', 'results_at'].map(key =>
    field(key, input({ name: key, placeholder: 'as it is' })));
  const set = (elements, keys) => {
    const change = {};
    for (const key of keys) {
      const text = elements[key].value.trim();
      if (text) change[key] = text === 'default' ? null : /^\d+$/.test(text) ? Number(text) : text;
    }
    if (!Object.keys(change).length) throw new Error('nothing is filled in');
    return change;
  };
  const removing = make('button', {
    type: 'button', className: 'grave remove', hidden: true, onclick: () => carryOut(async () => {
      const said = await sure(`Remove ${name}`, 'Every session in it ends, everybody waiting loses their place, and its paths are open or another room\'s.', name);
      if (!said) return null;
      await ask(at(name), 'DELETE', said);
      return `${name} is gone.`;
    }),
  }, 'Remove the room…');
  return make('details', { className: 'switches' }, make('summary', {}, 'Change'),
    ...changing('Let visitors in now', [
      field('How many', input({ name: 'count', type: 'number', min: 1, max: 10000, required: true })),
      field('Line', input({ name: 'line', placeholder: 'the only one' })),
      field('Lane', input({ name: 'lane', placeholder: 'by turns' })),
      make('label', { className: 'check' }, input({ name: 'beyond', type: 'checkbox' }), 'above the capacity too'),
    ], 'Call', async (elements, reason) => {
      const body = { count: Number(elements.count.value), beyond_capacity: elements.beyond.checked };
      if (elements.line.value) body.line = elements.line.value;
      if (elements.lane.value.trim()) body.lane = elements.lane.value.trim();
      if (reason) body.reason = reason;
      const told = await ask(at(name) + '/call', 'POST', body);
      return `${told.called ?? '?'} of ${told.asked} called in ${name}.`;
    }),
    ...changing('Mode', [field('Mode', mode)], 'Set', async (elements, reason) =>
      patch(name, set(elements, ['mode']), reason)),
    ...changing('Limits (default: as configured)', limits, 'Set', async (elements, reason) => patch(name, set(elements, ['capacity', 'rate']), reason)),
    ...changing('Message', [
      field('One a line: en: Back at 14:00', make('textarea', { name: 'texts', placeholder: 'en: …\nko: …' })),
    ], 'Tell', async (elements, reason) => {
      const body = reason ? { reason } : {};
      for (const line of elements.texts.value.split('\n').filter(line => line.trim())) {
        const [, tag, text] = /^\s*([A-Za-z0-9-]+)\s*:\s*(.*)$/.exec(line) || [];
        if (!tag) throw new Error('a line is a language, a colon and the text: ' + line);
        body[tag] = text.trim();
      }
      await ask(at(name) + '/message', 'POST', body);
      return `Those who wait in ${name} are told.`;
    }),
    ...changing('Dates (a date with its zone, now, none, default)', dates, 'Set', async (elements, reason) =>
      patch(name, set(elements, ['prequeue_from', 'opens_at', 'closes_at', 'results_at']), reason)),
    make('h3', {}, 'Begin anew'),
    make('button', {
      type: 'button', className: 'grave', onclick: () => carryOut(async () => {
        const said = await sure(`Reset ${name}`, 'Every session ends and everybody waiting loses their place.', name);
        if (!said) return null;
        await ask(at(name) + '/reset', 'POST', said);
        return `${name} has begun anew.`;
      }),
    }, 'Reset…'), ' ', removing);
}

const SVG = 'http://www.w3.org/2000/svg';
function plot(title) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 100 40'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('role', 'img');
  const [limit, path] = ['limit', 'value'].map(name => {
    const line = document.createElementNS(SVG, 'path');
    line.setAttribute('class', name); svg.append(line);
    return line;
  });
  const caption = make('figcaption', {}, title);
  const draw = (times, values, limits = []) => {
    const most = Math.max(1, ...values, ...limits), first = times[0] ?? 0, last = Math.max(times.at(-1) ?? 1, first + 1);
    const line = row => row.map((value, i) => `${i ? 'L' : 'M'}${(100 * (times[i] - first) / (last - first)).toFixed(2)} ${(39 - 38 * value / most).toFixed(2)}`).join('');
    path.setAttribute('d', line(values)); limit.setAttribute('d', line(limits));
    const words = `${title}: now ${count(Math.round(values.at(-1) ?? 0))}, most ${count(Math.round(Math.max(0, ...values)))} in ${span(last - first)}`;
    put(caption, words); svg.setAttribute('aria-label', words);
  };
  return { element: make('figure', {}, svg, caption), draw };
}

function table(element, heads, rows) {
  const cells = (tag, row) => make('tr', {}, ...row.map(cell => make(tag, {}, String(cell))));
  element.replaceChildren(make('thead', {}, cells('th', heads)), make('tbody', {}, ...rows.map(row => cells('td', row))));
}

function card(name) {
  const list = make('dl'), names = ['Waiting', 'Called', 'Inside', 'Parked', 'Rights taken', 'Capacity', 'Above it', 'Calls a minute', 'Limit a minute', 'Wait', 'No-shows', 'Last call', 'Sold', 'Left', 'Under way'];
  const figures = Object.fromEntries(names.map(label => [label, figure(list, label)]));
  const mode = make('span', { className: 'tag' }), notes = make('div');
  const plots = { waiting: plot('Waiting'), inside: plot('Called and inside'), calls: plot('Calls a minute') };
  const lines = make('table'), changes = make('ol', { className: 'changes' });
  const of_lines = make('details', { hidden: true }, make('summary', {}, 'Lines'), make('div', { className: 'wide' }, lines));
  const rehearsal = make('div', { className: 'note', hidden: true }, make('p'), make('button', {
    type: 'button', onclick: () => carryOut(async () => {
      await ask(at(name) + '/rehearsal/end', 'POST', {});
      return `The rehearsal in ${name} is over: every virtual visitor is gone.`;
    }),
  }, 'End the rehearsal'));
  const healing = make('div', { className: 'note', hidden: true }, make('p'), make('button', {
    type: 'button', onclick: () => carryOut(async () => {
      await ask(at(name) + '/healing/end', 'POST', {});
      return `${name} calls again.`;
    }),
  }, 'Wait no longer'));
  const heading = make('h2', { id: 'room-' + name }, name);
  const element = make('section', { className: 'card', 'aria-labelledby': 'room-' + name },
    make('div', { className: 'head' }, heading, mode), list, notes, healing, rehearsal,
    make('div', { className: 'plots' }, ...Object.values(plots).map(one => one.element)),
    switches(name), of_lines,
    make('details', { open: true }, make('summary', {}, 'Last changes'), changes));
  return { element, figures, mode, notes, healing, rehearsal, plots, lines, of_lines, changes, revision: -1, past: 0 };
}

function slowed({ calls_milli, why, since, shop }) {
  const p95 = shop && shop.p95_ms !== null ? `, 95 of 100 within ${shop.p95_ms} ms` : '';
  const hang = shop && shop.hanging ? `, requests of ${shop.hanging} visitors hang` : '';
  const figures = shop ? `; ${shop.requests_per_second} requests a second${p95}, ${shop.errors_permille} of 1000 fail${hang}` : '';
  const calls = calls_milli ? `admission slowed to ${calls_milli / 1000} a step` : 'ADMISSION STOPPED';
  return `${calls} since ${new Date(since).toLocaleTimeString()}: ${why}${figures}`;
}

function notes(room) {
  const list = [];
  if (room.from === 'api') list.push('Added by an operator while the gates ran; in no file.');
  if (room.from === 'elsewhere') list.push('Not in force at this gate.');
  if (room.upstream) list.push('Upstream: ' + room.upstream);
  if (room.schedule) list.push(`${room.schedule.phase}${room.schedule.next_change ? ' until ' + new Date(room.schedule.next_change).toLocaleString() : ''}`);
  if (room.admission && room.admission.why !== 'free') list.push(slowed(room.admission));
  if (room.max_sessions !== null && room.rights >= room.max_sessions) list.push('All rights are taken: nobody is called until a session ends. Raise max_sessions, or shorten session_duration.');
  if (room.message) list.push('Message: ' + room.message);
  for (const [tag, text] of Object.entries(room.messages || {})) list.push(`Message (${tag}): ${text}`);
  if (room.overridden.length) list.push('Set by hand: ' + room.overridden.join(', '));
  if (room.let_past) list.push('The gate is cut off and lets everybody past.');
  return list;
}

const done = change => {
  const keys = (change.keys || []).map(one => `${one.key} ${shown(one.before)} → ${shown(one.after)}`).join(', ');
  if (change.what === 'call') return `called ${change.called} of ${change.asked}${change.beyond_capacity ? ', above the capacity too' : ''}`;
  return change.what === 'set' ? keys || 'set what was in force' : [change.what, keys].filter(Boolean).join(': ');
};

async function update(room, added) {
  let held = cards.get(room.name);
  if (!held) { cards.set(room.name, held = card(room.name)); by('rooms').append(held.element); }
  const is = (name, value) => put(held.figures[name], value);
  is('Waiting', count(room.waiting)); is('Called', count(room.called)); is('Inside', count(room.sessions));
  is('Capacity', count(room.capacity)); is('Above it', count(room.excess)); is('No-shows', count(room.no_shows));
  is('Limit a minute', room.new_users_per_minute === null ? 'none' : count(room.new_users_per_minute));
  is('Wait', wait(room.estimate)); is('Last call', clock(room.last_call));
  is('Sold', count(room.completed)); is('Under way', count(room.unfinished));
  is('Left', count(Math.max(0, (room.stock ?? 0) - room.completed - room.unfinished)));
  is('Parked', count(room.parked)); is('Rights taken', `${count(room.rights)} of ${count(room.max_sessions ?? 0)}`);
  for (const name of ['Sold', 'Left', 'Under way']) held.figures[name].parentElement.hidden = room.stock === null;
  // Sessions may stay parked for a while where slots are no longer active.
  held.figures['Parked'].parentElement.hidden = room.max_sessions === null && !room.parked;
  held.figures['Rights taken'].parentElement.hidden = room.max_sessions === null;
  held.element.querySelector('.remove').hidden = !added;
  put(held.mode, room.mode); held.mode.className = 'tag ' + room.mode;
  held.notes.replaceChildren(...notes(room).map(text => make('p', { className: 'note' }, text)));
  held.healing.hidden = room.healing_secs === undefined;
  const soon = `nobody is called for ${count(room.healing_secs ?? 0)} seconds`;
  put(held.healing.firstChild, room.opening
    ? `The room is opening: ${soon}, in which visitors inside would come back, if a log was lost. If this is the first start, nobody is to be waited for.`
    : `Visitors of a lost log come back: ${soon}.`);
  const told = room.rehearsal;
  held.rehearsal.hidden = !told;
  if (told) put(held.rehearsal.firstChild, `A rehearsal by ${told.by} is under way, until ${clock(told.until)} at most: ${count(told.waiting)} of those waiting, `
    + `${count(told.called)} of those called and ${count(told.sessions)} of those inside are virtual${told.forward ? ', and reach the shop' : ''}.`);
  await Promise.all([past(room, held), changed(room, held), ofLines(room, held)]);
}

// The last hours, as often as there is something new.
async function past(room, held) {
  if (Date.now() >= held.past) {
    held.told = await ask(at(room.name) + '/history');
    held.past = Date.now() + 1000 * held.told.every_secs;
  }
  const now = { at: Math.round(Date.now() / 1000), waiting: room.waiting, called: room.called, inside: room.sessions, capacity: room.capacity, calls: room.calls };
  const told = Object.fromEntries(Object.entries(now).map(([key, value]) => [key, [...held.told[key], value]]));
  const slots = told.called.map((called, i) => called + told.inside[i]);
  // Over half a minute: single samples jump.
  const rate = told.calls.map((calls, i) => {
    const from = Math.max(0, i - 3), secs = told.at[i] - told.at[from];
    return secs > 0 ? Math.max(0, 60 * (calls - told.calls[from]) / secs) : 0;
  });
  held.plots.waiting.draw(told.at, told.waiting);
  held.plots.inside.draw(told.at, slots, told.capacity);
  held.plots.calls.draw(told.at, rate);
  put(held.figures['Calls a minute'], count(Math.round(rate.at(-1) ?? 0)));
}

async function changed(room, held) {
  if (held.revision === room.revision) return;
  const told = await ask(at(room.name) + '/changes');
  held.revision = room.revision;
  const rows = told.changes.slice(0, 10).map(change => make('li', {},
    `${new Date(change.at).toLocaleString()} · ${change.who ?? 'configuration'}: ${done(change)}${change.reason ? ' (' + change.reason + ')' : ''}`));
  held.changes.replaceChildren(...(rows.length ? rows : [make('li', {}, 'None so far.')]));
}

async function ofLines(room, held) {
  held.of_lines.hidden = room.lines < 2;
  if (held.of_lines.hidden || !held.of_lines.open) return;
  const told = await ask(at(room.name) + '/lines?limit=200');
  table(held.lines, ['Line', 'Waiting', 'Called', 'Inside', 'Parked', 'No-shows', 'Last call'],
    told.lines.map(line => [line.line, count(line.waiting), line.called, line.sessions, line.parked, line.no_shows, clock(line.last_call)]));
}

function standing(gate) {
  const words = [gate.condition];
  if (gate.cut_off_secs !== null) words.push(`cut off from its log for ${span(gate.cut_off_secs)}: nobody is called`);
  if (gate.reason) words.push(gate.reason);
  if (gate.healing_secs) words.push(`calls go on in ${span(gate.healing_secs)}`);
  for (const one of gate.untaken || []) words.push(`the room ${one.room} is not taken here: ${one.reasons.join('; ')}`);
  if (gate.refused_reload) words.push('the last configuration was refused');
  put(by('gate'), `Gate: ${words.join(' · ')} · ${new Date().toLocaleTimeString()}`);
  by('gate').className = words.length > 1 ? 'trouble' : '';
}

// The doctor's findings: the worst first, those that are fine folded away.
const EXAMINE_MS = 60000;
let examined = 0, examining = false;
const todo = one => [one.command ?? [one.file, one.line].filter(Boolean).join(':'), one.key].filter(Boolean).join(': ');
const finding = one => make('li', { className: one.severity },
  make('p', {}, make('span', { className: 'tag' }, one.severity), ` ${one.check}: ${one.message}`),
  ...(one.remedy ? [make('p', { className: 'note' }, make('code', {}, todo(one)), `: ${one.remedy}`)] : []));

async function examine() {
  if (examining) return;
  examining = true;
  put(by('doctor-sum'), 'Examining…');
  try {
    const { findings } = await ask('doctor');
    const of = severity => findings.filter(one => one.severity === severity);
    const [faults, warnings, fine] = ['fault', 'warning', 'fine'].map(of);
    by('findings').replaceChildren(...[...faults, ...warnings].map(finding));
    by('doctor-fine').lastElementChild.replaceChildren(...fine.map(finding));
    put(by('doctor-fine').firstElementChild, `Fine: ${fine.map(one => one.check).filter((name, i, all) => all.indexOf(name) === i).join(', ')}`);
    by('doctor-fine').hidden = !fine.length;
    const count = (list, what) => `${list.length} ${what}${list.length === 1 ? '' : 's'}`;
    put(by('doctor-sum'), `${count(faults, 'fault')}, ${count(warnings, 'warning')} at ${new Date().toLocaleTimeString()}`);
    by('doctor-sum').className = faults.length ? 'trouble' : '';
  } catch (error) { put(by('doctor-sum'), 'Not examined: ' + error.message); }
  examined = Date.now();
  examining = false;
}

async function look() {
  clearTimeout(timer);
  try {
    const [rooms, upstreams, gates] = await Promise.all(['rooms', 'upstreams', 'gates'].map(path => ask(path)));
    by('enter').hidden = true; by('around').hidden = by('doctor').hidden = false; by('forget').hidden = !token;
    if (Date.now() - examined > EXAMINE_MS && !document.hidden) examine();
    standing(rooms.gate);
    // One that is not taken here may be the one that is in the way.
    const untaken = new Set((rooms.gate.untaken || []).map(one => one.room));
    await Promise.all(rooms.rooms.map(room => update(room, room.from === 'api' || untaken.has(room.name))));
    const there = new Set(rooms.rooms.map(room => room.name));
    for (const [name, held] of cards) if (!there.has(name)) { held.element.remove(); cards.delete(name); }
    // A single upstream needs no name.
    const first = upstreams.upstreams.some(one => one.upstream) ? 0 : 1;
    table(by('upstreams'), ['Upstream', 'Server', 'State', 'Weight', 'In flight', 'Failures', 'Reason'].slice(first), upstreams.upstreams.map(one =>
      [one.upstream ?? '-', one.origin, one.healthy ? 'in' : 'out', one.weight, one.in_flight, count(one.failures), one.reason ?? '-'].slice(first)));
    table(by('gates'), ['Gate', 'Heard', 'Behind', 'Round trip'], gates.gates.map(one =>
      [one.id.slice(0, 8) + (one.this ? ' (this)' : ''), span(Math.round(one.heard_ms_ago / 1000)) + ' ago', one.behind, `${(one.lag_us / 1000).toFixed(1)} ms`]));
  } catch (error) {
    if (error.status === 401) return enter(token ? 'That token is not taken.' : '');
    put(by('gate'), 'No answer: ' + error.message); by('gate').className = 'trouble';
  }
  clearTimeout(timer);
  timer = setTimeout(look, document.hidden ? 10 * EVERY_MS : EVERY_MS);
}

function enter(why) {
  token = ''; sessionStorage.removeItem(KEY);
  by('rooms').replaceChildren(); cards.clear();
  by('around').hidden = by('doctor').hidden = by('forget').hidden = true; by('enter').hidden = false; examined = 0;
  put(by('gate'), 'Waiting for the token'); tell(why); by('token').focus();
}

by('enter').addEventListener('submit', event => {
  event.preventDefault();
  token = by('token').value.trim(); by('token').value = '';
  sessionStorage.setItem(KEY, token); tell('');
  look();
});
by('examine').addEventListener('click', examine);
by('forget').addEventListener('click', () => { clearTimeout(timer); enter('The token is forgotten.'); });
document.addEventListener('visibilitychange', () => { if (!document.hidden && by('enter').hidden) look(); });
look();
