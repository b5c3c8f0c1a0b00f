onerror=function(){onerror=null,setTimeout(function(){var o=document.querySelector("noscript");o.outerHTML=o.textContent},99)};
