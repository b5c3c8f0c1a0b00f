// Has the proof of work done in a worker, joins with it and goes on. Written for old WebViews (ES5). Where there is no
// worker, or whatever fails, it waits for as long as a page without a script does, and joins by that way.
document.addEventListener('DOMContentLoaded', function () {
'use strict';
var page = JSON.parse(document.getElementById('data').textContent), shown = document.getElementById('why');
var born = Date.now(), tries = 0, worker;

function go(to) { location.replace(to); }
function wait() {
  setTimeout(function () { go(page.enter); }, Math.max(0, 1000 * (page.wait + 1) - (Date.now() - born)));
}
function solve(task) {
  try {
    worker = worker || new Worker(page.worker);
  } catch (e) {
    return wait();
  }
  worker.onerror = wait;
  worker.onmessage = function (m) {
    if (shown) shown.textContent = Math.round(100 * m.data.length / task.parts) + ' %';
    if (m.data.length == task.parts) join(task.challenge + '.' + m.data.join('.'));
  };
  worker.postMessage(task);
}
function join(proof) {
  var ask = new XMLHttpRequest(), later = function (secs) {
    setTimeout(function () { join(proof); }, 1000 * (secs + 3 * Math.random()));
  };
  ask.open('POST', page.join);
  ask.setRequestHeader('Ropeline-Proof', proof);
  ask.onload = function () {
    var task;
    if (ask.status == 200) {
      // Closed meanwhile, say: there is no ticket to look for.
      if (/"state":"(joining|waiting|called|inside)"/.test(ask.responseText)) go(page.check);
      else go(location.pathname + location.search);
    } else if (ask.status == 428 && tries++ < 3) {
      try { task = JSON.parse(ask.responseText); } catch (e) { return wait(); }
      solve(task);
    } else if (ask.status == 429) later(+ask.getResponseHeader('Retry-After') || 5);
    else wait();
  };
  ask.onerror = function () { later(3); };
  ask.send();
}
solve(page);
});
