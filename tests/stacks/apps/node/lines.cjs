// What the programs answer: a line a value, the thing, the reader, the value in hexadecimal digits.
const leaves = (value) =>
  value === null || value === undefined
    ? []
    : typeof value === "object"
      ? Object.values(value).flatMap(leaves)
      : [String(value)];

module.exports = (thing, reader, value) =>
  leaves(value)
    .map((leaf) => `${thing} ${reader} ${Buffer.from(leaf, "utf8").toString("hex")}\n`)
    .join("");
