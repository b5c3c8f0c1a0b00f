// What is wrong with the page as it is shown now: an array of sentences.
var wrong = [], width = document.documentElement.clientWidth, texts = [];
document.querySelectorAll('details').forEach(function (one) { one.open = true; });
document.querySelectorAll('.kept').forEach(function (one) { one.classList.remove('kept'); });
if (document.documentElement.scrollWidth > width) wrong.push('it is wider than the screen: ' + document.documentElement.scrollWidth + ' px');

function parse(colour) {
  var parts = colour.match(/[\d.]+/g).map(Number);
  return parts.length == 3 ? parts.concat(1) : parts;
}
// WCAG 2.2, relative luminance.
function luminance(colour) {
  var parts = colour.slice(0, 3).map(function (part) {
    part /= 255;
    return part <= .04045 ? part / 12.92 : Math.pow((part + .055) / 1.055, 2.4);
  });
  return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
}
function behind(element) {
  for (; element; element = element.parentElement) {
    var colour = parse(getComputedStyle(element).backgroundColor);
    if (colour[3] == 1) return colour;
  }
  return matchMedia('(prefers-color-scheme: dark)').matches && getComputedStyle(document.documentElement).colorScheme.indexOf('dark') >= 0 ?
    [18, 18, 18, 1] : [255, 255, 255, 1];
}
function contrast(a, b) {
  a = luminance(a) + .05;
  b = luminance(b) + .05;
  return Math.max(a, b) / Math.min(a, b);
}

// In a language made for tests each sentence stands in brackets, apart from what a shop and the gate write and what CLDR has.
var isPseudo = /-X[AB]$/.test(document.documentElement.lang);
var OTHERS = 'bdi,#host,#message,#reference,#request,#figures,header,time';

var walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), node;
while ((node = walker.nextNode())) {
  var text = node.textContent.trim(), holder = node.parentElement, style = getComputedStyle(holder), range = document.createRange();
  if (!text || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(holder.tagName) || style.visibility != 'visible' || holder.closest('.hidden')) continue;
  if (isPseudo && /[a-z]{3}/i.test(text.replace(/\[!!!.*!!!\]/g, '')) && !holder.closest(OTHERS)) wrong.push('in no catalogue: ' + text);
  range.selectNodeContents(node);
  [].forEach.call(range.getClientRects(), function (box) {
    if (box.width < 1) return;
    texts.push([box, text, holder]);
    if (box.left < -1 || box.right > width + 1) wrong.push('beyond the edge: ' + text);
    for (var outer = holder; outer && outer != document.body; outer = outer.parentElement) {
      var frame = outer.getBoundingClientRect();
      if (getComputedStyle(outer).overflowX != 'visible' && (box.left < frame.left - 1 || box.right > frame.right + 1)) {
        wrong.push('cut off: ' + text);
        break;
      }
    }
  });
  var large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
  var ratio = contrast(parse(style.color), behind(holder));
  if (ratio < (large ? 3 : 4.5)) wrong.push('a contrast of ' + ratio.toFixed(2) + ': ' + text);
}
// Lines of text share at most the space that letters do not use.
texts.forEach(function (one, at) {
  texts.slice(at + 1).forEach(function (other) {
    var a = one[0], b = other[0];
    var across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > .4 * Math.min(a.height, b.height)) wrong.push('one over the other: ' + one[1] + ' / ' + other[1]);
  });
});
// WCAG 2.2, 2.5.8 asks for 24 px; the page promises 44. A link in a sentence is as high as its line.
document.querySelectorAll('a, button, summary, label').forEach(function (target) {
  var height = target.getBoundingClientRect().height;
  if (getComputedStyle(target).display != 'inline' && height > 0 && height < 43.5) wrong.push('only ' + height + ' px high: ' + target.textContent.trim());
});
return wrong;
