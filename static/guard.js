// Where the page's script fails before it has begun, leads to the page without one, by the way of a browser that runs none. What
// stands between the quotes of that address is neither a quote nor an angle bracket.
onerror = function () {
  setTimeout(function () {
    location.replace(/url=([!#-=?-~]+)/.exec(document.getElementsByTagName('noscript')[0].textContent)[1]);
  }, 99);
};
