// Run by said.rs behind world.js: what goes wrong around a page, and how often it asks or reloads then.
const fault = process.argv[1];
if (fault === 'cut') {
  // A box on the way ends every stream at once, and the browser tries again every three seconds.
  answer = { status: 200, responseText: '{"state":"waiting","ahead":5,"waiting":9,"estimate":null,"refresh":20}' };
  for (let second = 0; second < 300; second += 3) {
    sources[sources.length - 1].onerror();
    pass(3e3);
  }
} else if (fault === 'other-account') {
  answer = { status: 403, responseText: '{}' };
  pass(120e3);
} else if (fault === 'no-sound') {
  elements.sound.checked = true;
  sources[0].hears.called({ data: JSON.stringify({ state: 'called', claim_in: 60 }) });
  pass(5e3);
} else if (fault === 'late') {
  // The machine slept for a minute, and nobody looks.
  page.document.hidden = true;
  clock += 60e3;
  sources[0].hears.called({ data: JSON.stringify({ state: 'called', claim_in: 90 }) });
  pass(5e3);
} else if (fault === 'schedule') {
  // An operator gives the room an opening while people wait.
  answer = { status: 200, responseText: '{"state":"waiting","ahead":5,"waiting":9,"estimate":null,"refresh":20,"begins_at":"2026-12-01T08:00:00Z","opens_at":"2026-12-01T09:00:00Z"}' };
  pass(60e3);
} else if (fault === 'error' || fault === 'late-error') {
  // Counts as a reload that the page leads to the one without a script.
  page.document.readyState = fault === 'error' ? 'interactive' : 'complete';
  page.document.querySelector = () => { reloads++; return {}; };
  page.onerror();
  pass(1e3);
} else if (fault === 'reason') {
  // Events name a reason whose sentence the page has not; the first question for it fails. Counts as a reload what it shows then.
  const place = JSON.parse(blocks.data).p;
  const say = (why) => sources[0].hears.status({ data: JSON.stringify({ waiting: 9, revision: 1, base: place, why, estimate: [] }) });
  answer = { status: 0, responseText: '' };
  pass(5e3);
  say('held');
  pass(31e3);
  answer = { status: 200, responseText: '{"state":"waiting","ahead":0,"waiting":9,"estimate":null,"why":"held","why_text":"Paused.","refresh":20}' };
  for (let at = 0; at < 4; at++) {
    say('held');
    pass(20e3);
  }
  reloads += elements.why.textContent === 'Paused.' ? 1 : 0;
}
console.log(JSON.stringify([asked.length, reloads]));
