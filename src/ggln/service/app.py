"""HTTP: which call does what."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ggln.service import checks, constants, requests
from ggln.service.auth import Guard
from ggln.service.deadlines import Deadlines
from ggln.service.errors import RefusedError, bad_request, unavailable
from ggln.service.evaluation import evaluate
from ggln.service.figures import json_of
from ggln.service.live import Live
from ggln.service.log.operations import ModelRow
from ggln.service.metrics import Metrics
from ggln.service.model import Model
from ggln.service.openapi import description
from ggln.service.service import Service

logger = logging.getLogger("ggln.service")
Call = Callable[[Request], Awaitable[Response]]
PAGE = {"page.js": "text/javascript", "plots.js": "text/javascript", "style.css": "text/css"}
POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
JSON = b"application/json"
SAFE = {"x-content-type-options": "nosniff", "cache-control": "no-store"}


def answer(value: Any, status: int = 200) -> Response:
    """Return a response of JSON."""
    return Response(json_of(value), status, SAFE, "application/json")


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


DECODER = json.JSONDecoder(parse_constant=_no_number)


class Endpoint:
    """A call that is refused to those who may not, is counted, and fails in one sentence.

    It speaks ASGI itself: what Starlette wraps around functions takes as long as a tenth of an answer.
    """

    def __init__(self, api: "Api", name: str, call: Call, role: str | None) -> None:
        self.name, self.call, self.role = name, call, role
        self.guard, self.metrics, self.deadlines = api.guard, api.metrics, api.deadlines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        start = time.perf_counter()
        response = await self.answered(Request(scope, receive, send))
        self.metrics.answered(self.name, response.status_code, time.perf_counter() - start)
        await response(scope, receive, send)

    async def answered(self, request: Request) -> Response:
        """Return the response, whatever happens."""
        task = self.deadlines.begin()
        try:
            headers = request.scope["given"] = dict(request.scope["headers"])
            if self.role is not None:
                self.guard.check(headers, self.role)
            return await self.call(request)
        except RefusedError as error:
            response = answer(error.body(), error.status)
            if error.status == 401:
                response.headers["www-authenticate"] = "Bearer"
            return response
        except asyncio.CancelledError:
            if not self.deadlines.is_late(task):
                raise
            return answer(unavailable("the request took too long").body(), 503)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception:
            logger.exception("%s failed", self.name)
            message = "this should not happen: the log of the service says more"
            return answer(RefusedError(500, "internal", message).body(), 500)
        finally:
            self.deadlines.end(task)


class Api:
    """The calls of a service."""

    def __init__(self, service: Service, guard: Guard, metrics: Metrics) -> None:
        self.service, self.guard, self.metrics, self.live = service, guard, metrics, Live(service)
        self.deadlines = Deadlines()

    # What calls have in common -------------------------------------------------------------------------

    async def body(self, request: Request, most: int) -> bytes:
        """Return the body of a request that is not too long."""
        length = request.scope["given"].get(b"content-length", b"0")
        parts, size = [], int(length) if length.isdigit() else 0
        if size <= most:
            size = 0
            async for part in request.stream():
                size += len(part)
                if size > most:
                    break
                parts.append(part)
        if size > most:
            raise RefusedError(413, "too_large", f"the body is longer than {most:,} bytes")
        return b"".join(parts)

    async def json(self, request: Request) -> Any:
        """Return the body of a request as JSON."""
        kind = request.scope["given"].get(b"content-type", b"")
        if kind != JSON and kind.partition(b";")[0].strip().lower() != JSON:
            raise RefusedError(415, "not_json", "the body must be JSON: Content-Type: application/json")
        content = await self.body(request, self.service.limits.body_bytes)
        try:
            return DECODER.decode(content.decode())
        except (ValueError, RecursionError) as error:
            raise bad_request(f"the body is not JSON: {str(error)[:120]}") from error

    async def row(self, request: Request) -> ModelRow:
        """Return what is known of the model that a call is about; a log may be a network away."""
        name, models = request.path_params["name"], self.service.models
        found = models.known(name)
        return await run_in_threadpool(models.row, name) if found is None else found

    async def model(self, request: Request) -> Model:
        """Return the model that a call is about."""
        row = await self.row(request)
        found = self.service.models.here(row)
        return await run_in_threadpool(self.service.models.get, row) if found is None else found

    # Calls ---------------------------------------------------------------------------------------------

    async def put_model(self, request: Request) -> Response:
        """Make a model."""
        name, body = request.path_params["name"], await self.json(request)
        new, row = await run_in_threadpool(self.service.create, name, body)
        return answer(await run_in_threadpool(self.service.described, row), 201 if new else 200)

    async def list_models(self, request: Request) -> Response:
        """Give all models."""
        del request
        return answer({"models": await run_in_threadpool(self.service.outlines)})

    async def get_model(self, request: Request) -> Response:
        """Give a model."""
        row = await self.row(request)
        return answer(await run_in_threadpool(self.service.described, row))

    def acting(self, call: str, asks: bool) -> Call:
        """Return the call that asks a model something, or tells it."""

        async def endpoint(request: Request) -> Response:
            body, given = await self.json(request), request.scope["given"].get(b"idempotency-key")
            key = None if given is None else given.decode("latin-1")
            if key is not None and not 0 < len(key) <= constants.KEY_LENGTH:
                raise bad_request(f"Idempotency-Key must have 1 to {constants.KEY_LENGTH} characters")
            model = await self.model(request)
            requests.check_call(model, call)
            make = requests.ask_job if asks else requests.tell_job
            names = requests.features_of(model, call, body)
            job = make(model, call, body, key, names)
            if model.row.features is None:  # what is refused until here has changed nothing
                known = await self.service.desk.submit(requests.features_job(model, names))
                self.service.models.set_features(model.row.name, known)
                job = make(model, call, body, key, known)
            found = await self.service.desk.submit(job)
            return Response(found, 200, SAFE, "application/json")

        return endpoint

    async def export(self, request: Request) -> Response:
        """Give the file of a model."""
        row = await self.row(request)
        content = await run_in_threadpool(self.service.export, row)
        headers = {**SAFE, "content-disposition": f'attachment; filename="{row.name}.ggln"'}
        return Response(content, 200, headers, "application/octet-stream")

    async def take_file(self, request: Request) -> Response:
        """Let a model be what a file holds."""
        row = await self.row(request)
        content = await self.body(request, self.service.limits.import_bytes)
        return answer(await run_in_threadpool(self.service.take_file, row, content))

    async def evaluate(self, request: Request) -> Response:
        """Give values of policies, and comparisons."""
        model = await self.model(request)
        rows = self.service.models.watchers(model.row)
        watchers = [await run_in_threadpool(self.service.models.get, row) for row in rows]
        return answer(await run_in_threadpool(evaluate, model, watchers))

    async def events(self, request: Request) -> Response:
        """Give figures as they change."""
        model = await self.model(request)
        return StreamingResponse(self.live.stream(model.row), 200, SAFE, "text/event-stream")

    async def get_metrics(self, request: Request) -> Response:
        """Give what Prometheus reads."""
        del request
        text = await run_in_threadpool(self.metrics.text, self.service)
        return Response(text, 200, SAFE, "text/plain; version=0.0.4; charset=utf-8")

    async def healthz(self, request: Request) -> Response:
        """Say that the process is there."""
        del request
        return answer({"status": "ok"})

    async def readyz(self, request: Request) -> Response:
        """Say whether calls will be answered, and everything is learnt that can be."""
        del request
        failed = len(self.service.learner.failed)
        ready = self.service.ready and not failed
        learns = await run_in_threadpool(self.service.lease.held)
        found = {"status": "ok" if ready else "not ready", "learner": learns, "failed_models": failed}
        return answer(found, 200 if ready else 503)

    async def openapi(self, request: Request) -> Response:
        """Describe all calls."""
        del request
        return answer(description())

    async def page(self, request: Request) -> Response:
        """Give the page, or a part of it."""
        name = request.path_params.get("file", "index.html")
        kind = "text/html" if name == "index.html" else PAGE.get(name)
        if kind is None:
            raise RefusedError(404, "not_found", f"there is no file {checks.shown(name)}")
        content = resources.files("ggln.service").joinpath("page", name).read_bytes()
        return Response(content, 200, {**SAFE, "content-security-policy": POLICY}, kind)

    def routes(self) -> list[Route]:
        """Return all calls, and who may make them."""
        model = "/v1/models/{name}"
        table: list[tuple[str, str, str, Call, str | None]] = [
            ("POST", f"{model}/predict", "predict", self.acting("predict", True), "read"),
            ("GET", "/healthz", "healthz", self.healthz, None),
            ("GET", "/readyz", "readyz", self.readyz, None),
            ("GET", "/", "page", self.page, None),
            ("GET", "/page/{file}", "page", self.page, None),
            ("GET", "/openapi.json", "openapi", self.openapi, None),
            ("GET", "/metrics", "metrics", self.get_metrics, "read"),
            ("POST", f"{model}/learn", "learn", self.acting("learn", False), "learn"),
            ("POST", f"{model}/decide", "decide", self.acting("decide", True), "learn"),
            ("POST", f"{model}/reward", "reward", self.acting("reward", False), "learn"),
            ("GET", f"{model}/evaluate", "evaluate", self.evaluate, "read"),
            ("GET", f"{model}/events", "events", self.events, "read"),
            ("GET", f"{model}/export", "export", self.export, "read"),
            ("PUT", f"{model}/import", "import", self.take_file, "admin"),
            ("GET", "/v1/models", "models", self.list_models, "read"),
            ("GET", model, "model", self.get_model, "read"),
            ("PUT", model, "create", self.put_model, "admin"),
        ]
        return [
            Route(path, Endpoint(self, name, call, role), methods=[method])
            for method, path, name, call, role in table
        ]


async def _refused(request: Request, error: Exception) -> Response:
    """Answer what no call is there for, in the words of all others."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
    message = f"there is no {request.method} {request.url.path}"
    return answer(RefusedError(error.status_code, code, message).body(), error.status_code)


def make_app(service: Service, guard: Guard, metrics: Metrics) -> Starlette:
    """Return the application."""
    api = Api(service, guard, metrics)
    app = Starlette(routes=api.routes(), exception_handlers={HTTPException: _refused})
    app.state.ending = api.live.ending
    return app
