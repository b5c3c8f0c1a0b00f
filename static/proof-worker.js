// Solves the puzzles of a challenge, one after the other, and says after each which nonces it has. For each part: the first
// nonce such that SHA-256(SHA-256(challenge:part) || nonce) begins with a number that is no more than `most`.
'use strict';
var K = [], first = [], w = new Int32Array(64);

// The first bits of the fractional parts of the cube roots and square roots of the first primes (FIPS 180-4).
(function () {
  var n = 2, i, prime;
  function fraction(x) { return (x - Math.floor(x)) * 4294967296 | 0; }
  for (; K.length < 64; n++) {
    for (prime = true, i = 2; i * i <= n; i++) if (n % i === 0) prime = false;
    if (!prime) continue;
    if (first.length < 8) first.push(fraction(Math.pow(n, 1 / 2)));
    K.push(fraction(Math.pow(n, 1 / 3)));
  }
  K = Int32Array.from(K);
}());

// One block, whose 16 words stand in `w`, added to `h`.
function compress(h) {
  var a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7], i, x, y, t;
  for (i = 16; i < 64; i++) {
    x = w[i - 15];
    y = w[i - 2];
    w[i] = (w[i - 16] + w[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
      + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10)) | 0;
  }
  for (i = 0; i < 64; i++) {
    t = (z + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (g ^ e & (f ^ g)) + K[i] + w[i]) | 0;
    x = (((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ c & (a ^ b))) | 0;
    z = g;
    g = f;
    f = e;
    e = d + t | 0;
    d = c;
    c = b;
    b = a;
    a = t + x | 0;
  }
  h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += z;
}

// The hash of a short text, as eight words.
function digest(text) {
  var bytes = unescape(encodeURIComponent(text)), h = Int32Array.from(first), words = (bytes.length + 8 >> 6) + 1, all, i, j;
  all = new Int32Array(16 * words);
  for (i = 0; i < bytes.length; i++) all[i >> 2] |= bytes.charCodeAt(i) << 24 - i % 4 * 8;
  all[i >> 2] |= 128 << 24 - i % 4 * 8;
  all[all.length - 1] = 8 * bytes.length;
  for (i = 0; i < all.length; i += 16) {
    for (j = 0; j < 16; j++) w[j] = all[i + j];
    compress(h);
  }
  return h;
}

function solve(seed, most) {
  var h = new Int32Array(8), nonce, i;
  for (nonce = 0; nonce < 4294967296; nonce++) {
    for (i = 0; i < 8; i++) {
      w[i] = seed[i];
      h[i] = first[i];
    }
    w[8] = nonce;
    w[9] = 1 << 31;
    for (i = 10; i < 15; i++) w[i] = 0;
    w[15] = 288;
    compress(h);
    if (h[0] >>> 0 <= most) return nonce;
  }
}

onmessage = function (m) {
  var task = m.data, found = [], part;
  for (part = 0; part < task.parts; part++) {
    found.push(solve(digest(task.challenge + ':' + part), task.most).toString(16));
    postMessage(found);
  }
};
