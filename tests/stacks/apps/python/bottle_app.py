"""How Bottle reads a request. Served by gunicorn: `gunicorn bottle_app:application`."""

from bottle import Bottle, request, response

from readings import lines

application = Bottle()


def raw(value):
    """The bytes of a value that Bottle hands on as Latin-1."""
    return value.encode("latin-1").decode("utf-8", "surrogateescape") if isinstance(value, str) else None


def text(fields, name):
    """As `fields.name` reads it; it stands where the name does not, too."""
    return getattr(fields, name) if name in fields else None


def view(event=None, rest=None):
    response.content_type = "text/plain"
    said = lines("event", "route", event)
    for name in ("id", "event_id"):
        said += lines(name, "query", raw(request.query.get(name)))
        said += lines(name, "query.text", text(request.query, name))
        said += lines(name, "forms.text", text(request.forms, name))
        said += lines(name, "params.text", text(request.params, name))
    said += lines("user", "get_header", request.get_header("X-User"))
    said += lines("sid", "get_cookie", request.get_cookie("sid"))
    said += lines("email", "forms", text(request.forms, "email"))
    # Of a multipart form `params.email` is empty where the value is not ASCII.
    said += lines("email", "params", request.params.get("email"))
    body = request.json
    return said + lines("email", "json", body.get("email") if isinstance(body, dict) else None)


for path in ("/event/<event>", "/event/<event>/", "/event/<event>/<rest:path>", "/<rest:path>", "/"):
    application.route(path, method="ANY", callback=view)
