// Answers each line of standard input by the example in the folder given.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { isSigned } = await import(pathToFileURL(`${process.argv[2]}/check.mjs`));
const keys = new Map([
  ['2026-11', 'a secret that gate and shop share!'],
  ['old', 'the secret that was used before it'],
]);
for (const line of readFileSync(0, 'latin1').split('\n').slice(0, -1)) {
  const [method, url, session, signature, now] = line.split('\t');
  const headers = { 'ropeline-signature': signature };
  if (session) headers['ropeline-session'] = session;
  const [byMap, byObject] = [keys, Object.fromEntries(keys)].map(ring => isSigned({ method, url, headers }, ring, Number(now)));
  console.log(byMap !== byObject ? 'an object and a Map differ' : byMap ? 'yes' : 'no');
}
