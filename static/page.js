// Keeps a waiting page up to date and moves it on. Written for old WebViews (ES5); whatever fails ends in polling.
// A page has it as `scripts/minify` writes it. It may stand before what it shows.
document.addEventListener('DOMContentLoaded', function () {
'use strict';
// Pure part: no document, no clock. The tests run it by itself.
var max = Math.max, min = Math.min;

// Present places before `place`: from bits, or from a count for each run of places, in which people are taken to stand evenly.
// Null when the frame does not reach so far.
function countBefore(frame, memory) {
  var places = atob(frame.bits || ''), runs = atob(frame.counts || ''), beyond = memory - frame.base, n = 0, i;
  if (frame.end && memory > frame.end) return null;
  for (i = 0; i < min(beyond, 8 * places.length); i++) n += places.charCodeAt(i >> 3) >> (i & 7) & 1;
  for (i = 0; i < runs.length && beyond > 0; i += 2, beyond -= frame.run) {
    n += Math.round((runs.charCodeAt(i) + 256 * runs.charCodeAt(i + 1)) * min(1, beyond / frame.run));
  }
  return n;
}

// [low, high] seconds for somebody with `ahead` before them, from rising [ahead, low, high]; null when nothing is known.
function estimateAt(points, before) {
  var i = 0, a, b, part;
  if (!points.length) return null;
  while (i < points.length - 2 && points[i + 1][0] < before) i++;
  a = points[i];
  b = points[i + 1] || a;
  part = max(0, min(1, (before - a[0]) / (b[0] - a[0] || 1)));
  return [a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2])];
}

// What is shown of an estimate: the latest moment that was told stands within a minute, and an eighth of what is left. When
// it must be later, `slow` is until when that is said. As the gate has it for pages without a script (src/pages/kept.rs).
// `from` is the earliest moment, on a grid of five minutes: it stands while the estimate begins less than 7.5 minutes behind it.
function keep(kept, bounds, paused, instant) {
  var remains = kept.by - instant, from, low = bounds ? bounds[0] * 1e3 : 0, high = bounds ? bounds[1] * 1e3 : 1 / 0;
  if (bounds ? !(Math.abs(high - remains) <= max(6e4, remains / 8) && low <= remains) : paused || !(remains > 0)) {
    if (kept.by && !paused && high > max(remains, 6e4)) kept.slow = instant + 3e5;
    kept.by = bounds && instant + high;
    remains = high;
  }
  low = min(low, remains);
  from = instant + low;
  if (!(kept.from <= from && kept.from > from - 45e4)) kept.from = from - from % 3e5;
  return kept.by && [low / 1e3, remains / 1e3];
}

// The moments between which the turn should come, as `keep` has just left them: outward to five minutes. None for a wait that may end
// within 7.5 minutes, since the earliest could be past, nor from half a day on.
function times(kept, bounds) {
  return bounds && bounds[0] >= 450 && bounds[1] < 43200 && [kept.from, Math.ceil(kept.by / 3e5) * 3e5];
}

// Minutes, from an hour and a half hours: the words for them, by their names in src/pages/script.rs, and the bounds in them.
function span(low, high) {
  var unit = high > 5400 ? 3600 : 60;
  low = Math.floor(low / unit);
  high = Math.ceil(high / unit);
  return { words: (unit > 60 ? 'h' : 'm') + (low > 0 && low < high ? 'r' : ''), low: low, high: high };
}

// Seconds for which a page that nobody sees may leave the turn unclaimed, of those that remain until the claim deadline. A browser may
// let a hidden page's timer run once a minute only, and suspends a phone's page altogether.
function holds(remains, phone) {
  return phone || !(remains > 70) ? 0 : remains - 65;
}
// End of the pure part.

// What many visitors share may stand apart from a visitor's own facts, which the page then has as data only.
var doc = document, common = block('words'), page = merge(common || {}, block('data')), terms = page.words,
  key = 'ropeline:' + page.api + page.query, memory = key + page.reference, kept = load(memory),
  born = now(), heard = born, asked = born, spokenAt = born, fails = 0, hold = 0, credit = 100, spoken = [],
  bell = $('sound') || {}, live, slept, gone, asking, wanted, isCalled, timer, channel, audio, item;

function $(id) { return doc.getElementById(id); }
function block(id) { return $(id) && JSON.parse($(id).textContent); }
function merge(all, more) {
  for (var name in more) all[name] = more[name];
  return all;
}
function on(what, name, then) { if (what) what.addEventListener(name, then); }
function now() { return Date.now(); }
function text(id, wanted) { var e = $(id); if (e && e.textContent !== wanted) e.textContent = wanted; }
function seen(id) { return $(id) && $(id).textContent; }
// Puts values into a text, or into its form for `n` of something; numbers as the language writes them.
function fill(text, values, n) {
  try { text = text[new Intl.PluralRules(page.lang).select(n)] || text; } catch (e) {}
  return (text.other || text).replace(/\{(\w+)\}/g, function (all, name) {
    return name in values ? values[name].toLocaleString(page.lang) : all;
  });
}
// In the visitor's zone, which is named where `zone` is 'short'.
function clock(at, zone, seconds, weekday) {
  var shape = { weekday: weekday, month: weekday, day: weekday && 'numeric', hour: 'numeric', minute: '2-digit', second: seconds, timeZoneName: zone };
  return new Date(at).toLocaleString(page.lang, shape);
}
// Where nothing can be stored, nothing was.
function load(key) { try { return JSON.parse(sessionStorage[key]); } catch (e) { return {}; } }
function save(key, wanted) { try { sessionStorage[key] = JSON.stringify(wanted); } catch (e) {} }

function waitText(bounds) {
  var s;
  if (!bounds) return terms.unknown;
  if (bounds[1] <= 60) return terms.soon;
  s = span(bounds[0], bounds[1]);
  return fill(terms[s.words], s, s.high);
}

// The sentence of a rare reason comes with the answer that names it. An event, which all languages share, has none: the page asks
// for it within half a minute, if no other tab does.
function reason(s) {
  if (s.why_text) terms[s.why] = s.why_text;
  if (s.why && !terms[s.why] && !wanted) {
    wanted = setTimeout(function () {
      wanted = 0;
      if (!terms[s.why]) ask();
    }, 3e4 * Math.random());
  }
  return terms[s.why] ? terms[s.why] + (s.resumes ? ' ' + fill(terms.rest, { time: waitText([0, s.resumes]) }) : '') : '';
}

function stamp() { text('updated', fill(terms.updated, { time: clock(now(), 'short', '2-digit') })); }

// The digits that change roll into their place. Afterwards the number is plain text again.
function turnTo(id, next) {
  var e = $(id), last = e && e.textContent;
  if (!last || last === next) return text(id, next);
  // Digits that roll are boxes, which would stand from right to left.
  e.dir = 'ltr';
  e.innerHTML = next.replace(/./g, function (figure, i) {
    var was = last[last.length - next.length + i] || '';
    return was === figure ? figure : '<span class="roll" data-was="' + was + '">' + figure + '</span>';
  });
  setTimeout(function () { e.textContent = e.textContent; }, 700);
}

// Shows the lowest place yet: who comes back to a place ahead costs nobody theirs, and the page says so. While a line is
// put back in order only those count who are back: the place from before stands. Nobody called is no progress: it is made
// while there is nothing to say, and while the room is full or busy.
function show(before, bounds, s) {
  var instant = now(), waitedFor = page.waited + (instant - born) / 1e3, heals = s.why == 'healing', moves = /^u|u[ls]/.test(s.why),
    low = kept.low < before || heals && kept.low >= 0 ? kept.low : before, bar = $('progress'), share, line, wait, at, n;
  wait = waitText(bounds = keep(kept, bounds, !moves || page.lot & 4, instant));
  if (!heals) {
    kept.start = max(kept.start || 0, before);
    kept.low = low;
  }
  if (moves) {
    share = bounds ? waitedFor / (waitedFor + bounds[1] + 1) : 1 - before / (kept.start || 1);
    kept.done = max(kept.done || 0, min(99, Math.floor(100 * share)));
  }
  at = times(kept, bounds);
  save(memory, kept);
  line = low ? fill(terms.ahead, { n: low }, low) : terms.first;
  turnTo('position', n = (low + 1).toLocaleString(page.lang));
  text('ahead', line);
  text('estimate', wait);
  text('times', at ? '(' + clock(at[0]) + ' – ' + clock(at[1]) + ')' : '');
  if (bar) {
    bar.value = kept.done || 0;
    bar.parentNode.classList.toggle('far', !bounds);
  }
  n = fill(terms.title, { n: n });
  if (doc.title !== n) doc.title = n;
  text('why', before > low && !heals ? terms.back : reason(s) || (instant < kept.slow ? terms.slower : ''));
  text('let_in', s.let_in == null ? '' : fill(terms.let_in, { n: s.let_in }, s.let_in));
  say(line + (bounds ? '. ' + wait : ''));
}

// Tells a screen reader what is new of the place, the reason, the message and the times of day, at most every 30 seconds.
function say(place) {
  var parts = [place, seen('why'), seen('message'), seen('times')], news = parts.filter(function (part, i) { return part && part !== spoken[i]; });
  if (isCalled || !news[0] || now() - spokenAt < 3e4) return;
  spokenAt = now();
  spoken = parts;
  text('said', news.join('. '));
}

// Every word from the gate comes through here. After a silence in which a turn may have been missed, only a new page
// tells the whole story; but one that nobody sees can wait.
function hear() {
  var instant = now();
  slept = slept || instant - heard > 9e4;
  heard = instant;
  fails = hold = 0;
  stamp();
  if (slept && !doc.hidden) go();
}

// Loads the address that was asked for, from the gate and not from the browser's cache, and never what was posted to it, which is
// forgotten first; more and more slowly if that changes nothing.
function go() {
  var instant = now(), last = load('ropeline:go');
  if (gone) return;
  gone = true;
  last = [instant, instant - last[0] < 6e4 ? min(5, last[1] + 1) : 0];
  save('ropeline:go', last);
  setTimeout(function () {
    gone = false;
    if (page.post) history.replaceState(null, '', location.href);
    location.reload();
    plan();
  }, last[1] && 1e3 * Math.pow(2, last[1]) * (1 + Math.random()) / 2);
}

// Leads to where the gate looks for the ticket, which leads back here.
function look() {
  location.replace(page.check != 1 ? page.check : page.api + '/check' + (page.query || '?') + '&to=' + encodeURIComponent(location.pathname + location.search));
}

// A sound that fails must not cost the turn.
function ring() {
  var tone;
  if (bell.checked) try {
    tone = audio.createOscillator();
    tone.connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + .8);
  } catch (e) {}
}

// The turn has come. A page that somebody sees claims it at once, with a reload. One that nobody sees says so in its tab, and
// claims it when it is seen, or so long before the claim deadline that a slow timer is in time. A call that comes late, behind a
// sleep, is claimed at once: what remains was counted when it was sent.
function turnCame(remains, late) {
  var line = fill(terms.turn, { time: clock(now() + 1e3 * remains, 'short', '2-digit') }), sign = $('icon'), wait;
  if (isCalled) return;
  isCalled = true;
  doc.title = line;
  text('said', line);
  text('why', line);
  if (sign) sign.href = sign.href.replace("'none'", "'red'");
  ring();
  wait = doc.hidden && !late && holds(remains, matchMedia('(pointer:coarse)').matches);
  // A hidden tab follows one that goes in.
  if (!wait) tell('{"state":"inside"}');
  setTimeout(go, 1e3 * (wait || bell.checked));
}

function follow(s, late) {
  hear();
  if (s.refresh) page.refresh = s.refresh;
  if (s.state == 'called') return turnCame(s.claim_in || 0, late);
  if (s.state != page.kind || s.lot != page.lot || s.opens_at && (s.opens_at != page.opens || page.begins && s.begins_at != page.begins)) {
    if (s.state == 'none' && page.check) look();
    else go();
    return;
  }
  if (page.opens && !s.opens_at) opened();
  if ($('message')) {
    if (s.message) text('message', s.message);
    $('message').parentNode.hidden = !s.message;
  }
  if (s.ahead != null && page.waited >= 0) show(s.ahead, s.estimate && [s.estimate.low, s.estimate.high], s);
  else {
    text('why', reason(s));
    say('');
  }
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

// The line that formed before the opening: what was counted to is over, and goes.
function opened() {
  if ($('countdown') && $('opens')) $('countdown').parentNode.hidden = $('opens').hidden = true;
}

// From the stream, or from the tab that has it.
function take(json) {
  var s = JSON.parse(json);
  if (gone) return;
  if (s.left) return depart();
  live = true;
  if (s.state) follow(s, now() - heard > 35e3); else frame(s);
}
function tell(json) { if (channel) channel.postMessage(json); }

// The place was given up in another tab: nothing else that the page says is true any more.
function depart() {
  (doc.querySelector('main h1') || {}).textContent = terms.left;
  gone = true;
  clearTimeout(timer);
  doc.title = terms.left;
  text('said', terms.left);
  [].forEach.call(doc.querySelectorAll('main>:not(h1):not(#said):not(.soft)'), function (e) { e.hidden = true; });
}

// One question at a time, at the gate's pace; a hundred in a row, then four a minute, so that an hour stays small.
function plan() {
  var wait = page.refresh, instant = now();
  if (live) wait = max(wait, 30) - (instant - heard) / 1e3;
  else if (credit < 1) wait = max(wait, 15);
  if (fails) wait = max(wait, min(60, Math.pow(2, fails)), hold);
  clearTimeout(timer);
  timer = setTimeout(function () {
    if (live && now() - heard < 1e3 * max(page.refresh, 30)) plan(); else ask();
  }, 1e3 * max(1, wait) * (.9 + .2 * Math.random()));
}
function request(method, what, then) {
  var x = new XMLHttpRequest();
  x.open(method, page.api + what + page.query);
  x.timeout = 1e4;
  x.onloadend = then;
  x.send();
  return x;
}
function ask() {
  var instant = now(), x;
  if (asking || gone) return plan();
  asking = true;
  credit = min(100, credit + (instant - asked) / 15e3) - 1;
  asked = instant;
  x = request('GET', '/status', function () {
    var s;
    asking = false;
    try { s = x.status == 200 && JSON.parse(x.responseText); } catch (e) {}
    if (s && s.state) {
      tell(x.responseText);
      follow(s);
    } else if (x.status == 404 || x.status == 403) {
      go();
    } else {
      fails++;
      live = false;
      hold = min(120, +x.getResponseHeader('Retry-After') || 0);
      if (fails > 1 && x.status != 429) {
        text('why', terms.offline);
        say('');
      }
    }
    plan();
  });
}

function wake() {
  audio = audio || new AudioContext();
  audio.onstatechange = function () { bell.checked = audio.state == 'running' && load('ropeline:sound') == 1; };
}

// The tab that holds the lock has the stream; the others hear it from there.
function listen() {
  var source = new EventSource(page.api + '/events' + page.query);
  function hand(e) {
    if (e.type == 'called') source.close();
    tell(e.data);
    take(e.data);
  }
  on(source, 'status', hand);
  on(source, 'called', hand);
  source.onerror = function () {
    // A stream that never spoke must not put the next question off with each of its tries.
    if (live) {
      live = false;
      plan();
    }
    if (source.readyState == 2) setTimeout(listen, 3e4 * (1 + Math.random()));
  };
  return source;
}
function lead() {
  listen();
  if (page.check_in) setInterval(function () { if (live) request('POST', '/check-in'); }, 1e3 * page.check_in);
  return new Promise(function () {});
}

[].forEach.call(doc.querySelectorAll('time'), function (e) {
  var at = new Date(e.getAttribute('datetime'));
  if (+at) e.textContent = clock(at, 'short', undefined, e.dataset.day);
});
if (page.check && !navigator.cookieEnabled) look();
if (common) {
  text('host', location.hostname);
  for (item in page.text) text(item, page.text[item]);
  text('reference', page.reference);
  if ($('leave')) $('leave').action += page.query;
  stamp();
}
($('lead') || {}).hidden = false;
if (page.ahead != null) show(page.ahead, page.high != null && [page.low, page.high], page);
else if (common && page.why) text('why', reason(page));
on(window, 'online', ask);
on(window, 'pageshow', function (e) { if (e.persisted) ask(); });
on(doc, 'visibilitychange', function () {
  if (!doc.hidden) { if (slept || isCalled) go(); else if (now() - heard > 2000) ask(); }
});
// The line tells that the place is gone before the answer comes: a reload then would cut the answer off and join anew.
on($('leave'), 'submit', function () {
  gone = true;
  setTimeout(function () { gone = false; }, 15e3);
  tell('{"left":1}');
});
on($('stay'), 'click', function (e) {
  e.preventDefault();
  $('leave').parentNode.open = false;
  $('leave').parentNode.firstElementChild.focus();
});
($('copy') || {}).hidden = false;
on($('copy'), 'click', function () {
  getSelection().selectAllChildren($('reference'));
  if (doc.execCommand('copy')) text('copied', '✓');
});
// Browsers let a page sound after a click in it. Whether they let the next one, they say themselves.
if (bell.parentNode && window.AudioContext) {
  bell.parentNode.hidden = false;
  on(bell, 'change', function () {
    save('ropeline:sound', bell.checked);
    if (bell.checked) {
      wake();
      audio.resume();
      ring();
    }
  });
  if (load('ropeline:sound') == 1) wake();
}
spoken = ['', seen('why'), seen('message')];
plan();
// Countdown: a page without one has not this part. Seconds count from when the page came, in sleep too, whatever time the visitor's
// clock shows; a clock that is set meanwhile moves them. At the end a page outside the line asks how things stand, within five seconds, so that not all do at once; in line
// nothing is asked.
var left = page.left || $('countdown').dataset.left, ticks = setInterval(count, 250);
function count() {
  var rest = max(0, Math.ceil(left - (now() - born) / 1e3)), time = new Date(1e3 * rest).toISOString().slice(11, 19);
  text('countdown', rest < 86400 ? time : fill($('countdown').dataset.days, { n: Math.floor(rest / 86400), time: time }));
  if (rest) return;
  clearInterval(ticks);
  if (!page.begins) opened();
  else setTimeout(ask, 5e3 * Math.random());
}
count();
// End of the countdown.
// What has locks has the other two.
if (page.place != null && navigator.locks) {
  channel = new BroadcastChannel(key);
  channel.onmessage = function (e) { take(e.data); };
  navigator.locks.request(key, lead).catch(function () {});
}
});
