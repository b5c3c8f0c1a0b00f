// Where the page's script fails before it has begun, the browser does what one without a script does from the beginning. Once the page
// is complete the script has.
onerror = function () {
  onerror = null;
  if (document.readyState !== 'complete') setTimeout(function () {
    var e = document.querySelector('noscript');
    e.outerHTML = e.textContent;
  }, 99);
};
