"""How CherryPy reads a request. Served by gunicorn: `gunicorn cherrypy_app:application`."""

import cherrypy

from readings import lines


def texts(value):
    """The values of a field, without those that are files."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def answer(event, arguments):
    cherrypy.response.headers["Content-Type"] = "text/plain"
    request = cherrypy.request
    said = lines("event", "arguments", event)
    for name in ("id", "event_id"):
        said += lines(name, "arguments", texts(arguments.get(name)))
        said += lines(name, "body", texts(request.body.params.get(name)))
    said += lines("user", "headers", request.headers.get("X-User"))
    sid = request.cookie.get("sid")
    said += lines("sid", "cookie", sid and sid.value)
    said += lines("email", "arguments", texts(arguments.get("email")))
    body = getattr(request, "json", None)
    said += lines("email", "json", body.get("email") if isinstance(body, dict) else None)
    return said.encode("ascii")


class Shop:
    @cherrypy.expose
    def event(self, event, *rest, **arguments):
        return answer(event, arguments)

    @cherrypy.expose
    def default(self, *rest, **arguments):
        return answer(None, arguments)


cherrypy.config.update({"environment": "embedded", "log.screen": False})
application = cherrypy.tree.mount(Shop(), "", {"/": {"tools.json_in.on": True, "tools.json_in.force": False}})
