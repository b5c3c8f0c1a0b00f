// Where the page's script fails before it has begun, leads to the page without one, by the way of a browser that runs none and as
// late. What stands between the quotes of that address is neither a quote nor an angle bracket.
onerror = function () {
  setTimeout(function () {
    var way = /(\d+);url=([!#-=?-~]+)/.exec(document.getElementsByTagName('noscript')[0].textContent);
    setTimeout(function () { location.replace(way[2]); }, 1e3 * way[1]);
  }, 99);
};
