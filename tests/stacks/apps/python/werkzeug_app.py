"""How Werkzeug, and so Flask, reads a request. Served by gunicorn: `gunicorn werkzeug_app:application`."""

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, RequestRedirect, Rule
from werkzeug.wrappers import Request, Response

from readings import lines, of_json

ROUTES = Map(
    [Rule("/event/<event>", endpoint="event"), Rule("/event/<event>/<path:rest>", endpoint="event")],
    strict_slashes=False,
)


@Request.application
def application(request):
    said = ""
    try:
        _, values = ROUTES.bind_to_environ(request.environ).match()
        said += lines("event", "route", values.get("event"))
    except RequestRedirect as elsewhere:
        return elsewhere
    except HTTPException:
        pass
    body = request.get_data(cache=True)
    for name in ("id", "event_id"):
        said += lines(name, "args", request.args.get(name))
        said += lines(name, "values", request.values.get(name))
    said += lines("user", "headers", request.headers.get("X-User"))
    said += lines("sid", "cookies", request.cookies.get("sid"))
    said += lines("email", "form", request.form.get("email"))
    said += of_json(request.headers.get("Content-Type", ""), body)
    return Response(said, content_type="text/plain")
