"""Runs pretix, and beside it, on another site, the payment provider's page. Both print their address when they listen."""

import html
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = """<!doctype html><meta charset=utf-8><title>Payment</title>
<form method=post action="{back}"><input type=hidden name=paid value=yes><button id=pay>Pay {amount} EUR</button></form>"""


class Provider(BaseHTTPRequestHandler):
    """Any request: a button that posts the customer back to where they came from."""

    def do_GET(self):
        query = {name: html.escape(values[0]) for name, values in parse_qs(urlsplit(self.path).query).items()}
        body = PAGE.format(back=query.get("back", ""), amount=query.get("amount", "")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
# The shop is reached as `localhost`, the provider by its number: to a browser these are two sites.
os.environ["SHOP_PROVIDER"] = f"http://127.0.0.1:{provider.server_port}"

wsgi_app = "pretix.wsgi"
worker_class = "gthread"
workers = 1
threads = 4
graceful_timeout = 2
control_socket_disable = True


def when_ready(server):
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    print("provider:", os.environ["SHOP_PROVIDER"], flush=True)
    print("shop:", "http://127.0.0.1:%d" % server.LISTENERS[0].sock.getsockname()[1], flush=True)
