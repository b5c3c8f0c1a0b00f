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
}
console.log(JSON.stringify([asked.length, reloads]));
