"""How Sanic reads a request, in its own server: `python3 sanic_app.py`."""

import socket
from urllib.parse import unquote

from sanic import Sanic, text
from sanic.exceptions import BadRequest

from readings import lines

app = Sanic("readings", configure_logging=False)


async def view(request, event=None, rest=None):
    # Sanic leaves escapes in a path as they are, and `unquote` of a route does nothing beside `<rest:path>`.
    said = lines("event", "route", event and unquote(event))
    for name in ("id", "event_id"):
        said += lines(name, "args", request.args.get(name))
        said += lines(name, "args.getlist", request.args.getlist(name))
        said += lines(name, "form", request.form.get(name))
    said += lines("user", "headers", request.headers.get("X-User"))
    said += lines("sid", "cookies", request.cookies.get("sid"))
    said += lines("email", "form", request.form.get("email"))
    try:
        body = request.json
    except BadRequest:
        # It takes a body of any type for JSON.
        if "json" in request.headers.get("Content-Type", "").lower():
            raise
        body = None
    said += lines("email", "json", body.get("email") if isinstance(body, dict) else None)
    return text(said)


for number, path in enumerate(("/event/<event:str>", "/event/<event:str>/<rest:path>", "/<rest:path>", "/")):
    app.add_route(view, path, methods=["GET", "POST"], name=f"view{number}")

if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app.run(sock=listener, single_process=True, access_log=False, motd=False)
