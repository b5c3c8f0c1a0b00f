// Counts the time down that stands in the page's element of that name. Seconds count from when the page came, in sleep
// too, whatever the visitor's own clock says. At the end the page asks how things stand, within five seconds, so that not all do at once:
// it does so too when the network is back, and listens for that. In line nothing is asked: what was counted to is over, and
// goes.
(function () {
'use strict';
var e = document.getElementById('countdown'), from = now(), over;
function now() { return Date.now(); }
function two(n) { return (n < 10 ? '0' : '') + n; }

// Hours, minutes and seconds, and days before them, as the gate writes it.
function clock(left) {
  var time = two(Math.floor(left / 3600) % 24) + ':' + two(Math.floor(left / 60) % 60) + ':' + two(left % 60);
  return left < 86400 ? time : e.getAttribute('data-days').replace('{n}', Math.floor(left / 86400)).replace('{time}', time);
}
function count() {
  var left = Math.max(0, Math.ceil(e.getAttribute('data-left') - (now() - from) / 1000)), text = clock(left);
  if (e.textContent !== text) e.textContent = text;
  if (!left && !over) {
    over = true;
    if (e.hasAttribute('data-ends')) hide(e.parentNode, document.getElementById('opens'));
    else setTimeout(function () { dispatchEvent(new Event('online')); }, 5000 * Math.random());
  }
}
function hide(section, opens) {
  section.hidden = true;
  if (opens) opens.hidden = true;
}
if (e) {
  count();
  setInterval(count, 250);
}
}());
