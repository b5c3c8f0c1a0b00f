onerror=function(){onerror=null,"complete"!==document.readyState&&setTimeout(function(){var e=document.querySelector("noscript");e.outerHTML=e.textContent},99)};
