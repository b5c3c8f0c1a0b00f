// Was this request forwarded by the gate? Pass Node's request as it came, and the secrets by key id, as an object or a Map; docs/guides/back-door.md says more.
import { createHmac, timingSafeEqual } from 'node:crypto';

const FORM = /^v1;k=([a-z0-9-]{1,16});t=([0-9]{1,12});h=([0-9a-f]{64})$/;

export function isSigned(request, keys, now = Date.now() / 1000, within = 60) {
  const part = FORM.exec(request.headers['ropeline-signature'] ?? '');
  const key = part && (keys instanceof Map ? keys.get(part[1]) : Object.hasOwn(keys, part[1]) ? keys[part[1]] : undefined);
  if (!key || Math.abs(now - Number(part[2])) > within) return false;
  const session = request.headers['ropeline-session'] ?? '';
  const text = ['ropeline-signature-v1', part[2], request.method, request.url, session].join('\n');
  const right = createHmac('sha256', key).update(text, 'latin1').digest();
  return timingSafeEqual(right, Buffer.from(part[3], 'hex'));
}
