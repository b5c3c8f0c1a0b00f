// Where the page's script fails before it has begun, the browser does what one without a script does from the beginning.
onerror = function () {
  onerror = null;
  setTimeout(function () {
    var e = document.querySelector('noscript');
    e.outerHTML = e.textContent;
  }, 99);
};
