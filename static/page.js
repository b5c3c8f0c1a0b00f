// Keeps a waiting page up to date and moves it on. Written for old WebViews (ES5); whatever fails ends in polling.
// Lines that are comments are left out of the page; a comment never shares a line with code.
(function () {
'use strict';
// Pure part: no document, no clock. The tests run it by itself.
var max = Math.max, min = Math.min;

// Present places before `place`: bits for the first 4,096 places, then a count for each run of 4,096, in which people
// are taken to stand evenly. Null when the frame does not reach so far.
function countBefore(frame, place) {
  var bits = atob(frame.bits), counts = atob(frame.counts || ''), rest = place - frame.base, n = 0, i, b;
  if (frame.end && place > frame.end) return null;
  for (i = 0; i < bits.length && i * 8 < rest; i++) {
    b = bits.charCodeAt(i);
    if (rest - i * 8 < 8) b &= (1 << (rest - i * 8)) - 1;
    for (; b; b &= b - 1) n++;
  }
  for (i = 0, rest -= 4096; i < counts.length && rest > 0; i += 2, rest -= 4096) {
    b = counts.charCodeAt(i) + 256 * counts.charCodeAt(i + 1);
    n += rest < 4096 ? Math.round(b * rest / 4096) : b;
  }
  return n;
}

// [low, high] seconds for somebody with `ahead` before them, from rising [ahead, low, high]; null when nothing is known.
function estimateAt(points, ahead) {
  var i = 0, a, b, part;
  if (!points.length) return null;
  while (i < points.length - 2 && points[i + 1][0] < ahead) i++;
  a = points[i];
  b = points[i + 1] || a;
  part = b[0] > a[0] ? max(0, min(1, (ahead - a[0]) / (b[0] - a[0]))) : 0;
  return [a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2])];
}

// What is shown of an estimate: the latest moment that was told stands within a minute, and an eighth of what is left. When
// it must be later, `slow` is until when that is said. As the gate has it for pages without a script (src/pages/kept.rs).
function keep(kept, range, paused, now) {
  var left = kept.by - now, low = range ? range[0] * 1e3 : 0, high = range ? range[1] * 1e3 : 1 / 0;
  if (range ? !(Math.abs(high - left) <= max(6e4, left / 8) && low <= left) : paused || !(left > 0)) {
    if (kept.by && !paused && high > max(left, 6e4)) kept.slow = now + 3e5;
    kept.by = range && now + high;
    left = high;
  }
  return kept.by && [min(low, left) / 1e3, left / 1e3];
}

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, function (all, name) { return name in values ? values[name] : all; });
}

// Minutes, from an hour and a half hours: the unit, its bounds, and whether to show both.
function span(low, high) {
  var unit = high > 5400 ? 3600 : 60;
  low = Math.floor(low / unit);
  high = Math.ceil(high / unit);
  return { hours: unit > 60, low: low, high: high, range: low > 0 && low < high };
}
// End of the pure part.

var doc = document, page = JSON.parse(doc.getElementById('data').textContent), words = page.words, hasTurn = 'waited' in page;
var key = 'ropeline:' + page.api + page.query, place = key + page.reference;
var born = Date.now(), heard = born, asked = born, said = born, live, slept, gone, asking, fails = 0, hold = 0, credit = 100, timer, channel, kept;

function $(id) { return doc.getElementById(id); }
function on(what, name, then) { what.addEventListener(name, then); }
function text(id, value) { var e = $(id); if (e && e.textContent !== value) e.textContent = value; }
function shown(n) { try { return new Intl.NumberFormat(page.lang).format(n); } catch (e) { return '' + n; } }
function form(forms, n) {
  var which = 'other';
  try { which = new Intl.PluralRules(page.lang).select(n); } catch (e) {}
  return forms[which] || forms.other || forms;
}
function time(date, day) {
  var shape = day ? { dateStyle: 'long', timeStyle: 'short' } : { hour: 'numeric', minute: '2-digit' };
  try { return date.toLocaleString(page.lang, shape); } catch (e) { return date.toLocaleTimeString(); }
}
function load(key) { try { return JSON.parse(sessionStorage.getItem(key)) || {}; } catch (e) { return {}; } }
function save(key, value) { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch (e) {} }

function waitText(range) {
  var s;
  if (!range) return words.unknown;
  if (range[1] <= 60) return words.soon;
  s = span(range[0], range[1]);
  return fill(form(words[(s.hours ? 'hours' : 'minutes') + (s.range ? '_range' : '')], s.high),
    { low: shown(s.low), high: shown(s.high) });
}

function why(s) {
  return (words[s.why] || '') + (s.resumes ? ' ' + fill(words.rest, { time: waitText([0, s.resumes]) }) : '');
}

// Shows the lowest place yet: who comes back to a place ahead costs nobody theirs, and the page says so. While a line is
// put back in order only those count who are back: the place from before stands. Nobody called is no progress: it is made
// while there is nothing to say, and while the room is full or busy.
function show(ahead, range, s) {
  var now = Date.now(), waited = page.waited + (now - born) / 1e3, done, line, low = ahead, n, wait;
  var healing = s.why == 'healing', moves = /^u|u[ls]/.test(s.why);
  wait = waitText(range = keep(kept, range, !moves || page.lot & 4, now));
  if (kept.low < ahead || healing && kept.low >= 0) low = kept.low;
  if (!healing) {
    kept.start = max(kept.start || 0, ahead);
    kept.low = low;
  }
  if (moves) {
    done = range ? waited / (waited + range[1] + 1) : 1 - ahead / (kept.start || 1);
    kept.done = max(kept.done || 0, min(99, Math.floor(100 * done)));
  }
  save(place, kept);
  line = low ? fill(form(words.ahead, low), { n: shown(low) }) : words.first;
  text('position', n = shown(low + 1));
  text('ahead', line);
  text('estimate', wait);
  $('progress').value = kept.done || 0;
  $('progress').hidden = !range;
  text('let_in', s.let_in == null ? '' : fill(form(words.let_in, s.let_in), { n: shown(s.let_in) }));
  doc.title = fill(words.title, { n: n });
  text('why', ahead > low && !healing ? words.back : why(s) || (now < kept.slow ? words.slower : ''));
  if (now - said >= 3e4) {
    said = now;
    text('said', line + '. ' + wait);
  }
}

// Every word from the gate comes through here. After a silence in which a turn may have been missed, only a new page
// tells the whole story; but one that nobody sees can wait.
function hear() {
  var now = Date.now();
  slept = slept || now - heard > 9e4;
  heard = now;
  fails = hold = 0;
  text('updated', fill(words.updated, { time: new Date().toLocaleTimeString(page.lang) }));
  if (slept && !doc.hidden) go();
}

// Loads the address that was asked for, from the gate and not from the browser's cache, and never what was posted to it, which is
// forgotten first; more and more slowly if that changes nothing.
function go() {
  var now = Date.now(), last = load('ropeline:go');
  if (gone) return;
  gone = true;
  last = [now, now - last[0] < 6e4 ? min(5, last[1] + 1) : 0];
  save('ropeline:go', last);
  setTimeout(function () {
    gone = false;
    if (page.post) history.replaceState(null, '', location.href);
    location.reload();
    plan();
  }, last[1] && 1e3 * Math.pow(2, last[1]) * (1 + Math.random()) / 2);
}

function state(s) {
  hear();
  if (s.refresh) page.refresh = s.refresh;
  if (s.state != page.kind || s.lot != page.lot || page.begins && s.begins_at != page.begins || page.opens && s.opens_at && s.opens_at != page.opens) {
    if (s.state == 'called') text('said', words.turn);
    if (s.state == 'none' && page.check) location.replace(page.check);
    else go();
    return;
  }
  if (page.opens && !s.opens_at && $('countdown') && $('opens')) $('countdown').parentNode.hidden = $('opens').hidden = true;
  if ($('message')) {
    text('message', s.message || '');
    $('message').parentNode.hidden = !s.message;
  }
  if (s.ahead != null && hasTurn) show(s.ahead, s.estimate && [s.estimate.low, s.estimate.high], s);
  else text('why', why(s));
}

function frame(f) {
  var n = countBefore(f, page.place);
  hear();
  if (f.revision != page.revision) {
    page.revision = f.revision;
    setTimeout(ask, 3e3 * Math.random());
  }
  if (n != null) show(n, estimateAt(f.estimate, n), f);
}

// From the stream, or from the tab that has it.
function take(json) {
  var s = JSON.parse(json);
  if (s.left) return leave();
  live = true;
  if (s.state) state(s); else frame(s);
}
function tell(json) { try { channel.postMessage(json); } catch (e) {} }

function leave() {
  gone = true;
  clearTimeout(timer);
  text('why', words.left);
}

// One question at a time, at the gate's pace; a hundred in a row, then four a minute, so that an hour stays small.
function plan() {
  var wait = page.refresh, now = Date.now();
  if (live) wait = max(wait, 30) - (now - heard) / 1e3;
  else if (credit < 1) wait = max(wait, 15);
  if (fails) wait = max(wait, min(60, Math.pow(2, fails)), hold);
  clearTimeout(timer);
  timer = setTimeout(function () {
    if (live && Date.now() - heard < 1e3 * max(page.refresh, 30)) plan(); else ask();
  }, 1e3 * max(1, wait) * (.9 + .2 * Math.random()));
}
function send(method, what, then) {
  var x = new XMLHttpRequest();
  x.open(method, page.api + what + page.query);
  x.timeout = 1e4;
  x.onloadend = function () { then && then(x); };
  x.send();
}
function ask() {
  var now = Date.now();
  if (asking || gone) return plan();
  asking = true;
  credit = min(100, credit + (now - asked) / 15e3) - 1;
  asked = now;
  send('GET', '/status', function (x) {
    var s;
    asking = false;
    try { s = x.status == 200 && JSON.parse(x.responseText); } catch (e) {}
    if (s && s.state) {
      tell(x.responseText);
      state(s);
    } else if (x.status == 404) {
      go();
    } else {
      fails++;
      live = false;
      hold = min(120, +(x.status && x.getResponseHeader('Retry-After')) || 0);
      if (fails > 1 && x.status != 429) text('why', words.offline);
    }
    plan();
  });
}

// The tab that holds the lock has the stream; the others hear it from there.
function listen() {
  var source = new EventSource(page.api + '/events' + page.query);
  on(source, 'status', function (e) { tell(e.data); take(e.data); });
  on(source, 'called', function (e) { source.close(); tell(e.data); take(e.data); });
  source.onerror = function () {
    live = false;
    plan();
    if (source.readyState == 2) setTimeout(listen, 3e4 * (1 + Math.random()));
  };
  return source;
}
function lead() {
  listen();
  if (page.check_in) setInterval(function () { if (live) send('POST', '/check-in'); }, 1e3 * page.check_in);
  return new Promise(function () {});
}

kept = load(place);
[].forEach.call(doc.getElementsByTagName('time'), function (e) {
  var at = new Date(e.getAttribute('datetime'));
  if (+at) e.textContent = time(at, e.hasAttribute('data-day'));
});
if (navigator.cookieEnabled === false && page.check) location.replace(page.check);
if (page.ahead != null) show(page.ahead, page.high != null && [page.low, page.high], page);
on(window, 'online', ask);
on(window, 'pageshow', function (e) { if (e.persisted) ask(); });
on(doc, 'visibilitychange', function () {
  if (!doc.hidden) { if (slept) go(); else if (Date.now() - heard > 2000) ask(); }
});
// The line tells that the place is gone before the answer comes: a reload then would cut the answer off and join anew.
if ($('leave')) on($('leave'), 'submit', function () {
  gone = true;
  setTimeout(function () { gone = false; }, 15e3);
  tell('{"left":1}');
});
plan();
// What has locks has the other two.
if (page.place != null && navigator.locks) {
  channel = new BroadcastChannel(key);
  channel.onmessage = function (e) { if (!gone) take(e.data); };
  navigator.locks.request(key, lead).catch(function () {});
}
}());
