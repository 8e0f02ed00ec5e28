"""The description of all calls for programs: OpenAPI."""

from typing import Any

from ggln import __version__

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
MAYBE: Schema = {"type": ["number", "null"]}
LABEL: Schema = {"type": ["string", "integer"]}
FEATURES: Schema = {
    "description": "names and numbers, null where one is missing; or a list in the order of the first row",
    "type": ["object", "array"],
    "additionalProperties": MAYBE,
    "items": MAYBE,
}
EVENT: Schema = {"type": "string", "description": "an id of your own; asked again, the answer is the same"}


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _or_rows(item: Schema) -> Schema:
    return {"oneOf": [item, _object(("rows",), rows={"type": "array", "items": item, "minItems": 1})]}


ERROR = _object(("error",), error=_object(("code", "message"), code=TEXT, message=TEXT))
ACCEPTED = _object(
    ("accepted", "sequence"), event=TEXT, accepted={"type": "integer"}, sequence={"type": "integer"}
)
PREDICTION = _object(
    ("event",),
    event=TEXT,
    mean=MAYBE,
    std=MAYBE,
    quantiles={"type": ["object", "null"], "additionalProperties": NUMBER},
    probabilities={"type": ["object", "null"], "additionalProperties": NUMBER},
    version={"type": "integer", "description": "the number of the log up to which the model had learnt"},
    **{"class": {"type": ["string", "integer", "null"]}},
)
DECISION = _object(
    ("event", "arm", "propensity", "expectations"),
    event=TEXT,
    arm=LABEL,
    propensity=NUMBER,
    expectations={"type": "object", "additionalProperties": NUMBER},
    would=LABEL,
    apprentice={"type": "boolean"},
    version={"type": "integer"},
)
MODEL = _object(
    ("kind",),
    kind={"enum": ["regressor", "classifier", "bandit"]},
    settings={"type": "object", "description": "of GGLNRegressor, GLNClassifier or GLCB"},
    arms={"type": "array", "items": LABEL},
    classes={"type": "array", "items": LABEL},
    features={"type": "array", "items": TEXT},
    wait_seconds=NUMBER,
    default_reward=MAYBE,
    watches={"type": "string", "description": "a model whose events this one learns, without acting"},
)
ANY: Schema = {"type": "object"}
CALLS: list[tuple[str, str, str, str, Schema | None, Schema]] = [
    ("put", "/v1/models/{name}", "Make a model; the same again changes nothing", "admin", MODEL, ANY),
    ("get", "/v1/models/{name}", "A model: rows, pending events, scores, version", "read", None, ANY),
    ("get", "/v1/models", "All models", "read", None, ANY),
    (
        "post",
        "/v1/models/{name}/predict",
        "Predict; the features are kept under the id of the event",
        "read",
        _or_rows(_object(("features",), features=FEATURES, event=EVENT)),
        {
            "oneOf": [
                PREDICTION,
                _object(("predictions",), predictions={"type": "array", "items": PREDICTION}),
            ]
        },
    ),
    (
        "post",
        "/v1/models/{name}/learn",
        "Learn a target, of an event or with its features; answered when it is on disk",
        "learn",
        _or_rows(_object(("target",), event=TEXT, features=FEATURES, target={"type": ["number", "string"]})),
        ACCEPTED,
    ),
    (
        "post",
        "/v1/models/{name}/decide",
        "Decide; with an arm, note a decision that was made elsewhere",
        "learn",
        _or_rows(_object(("context",), context=FEATURES, event=EVENT, arm=LABEL, propensity=NUMBER)),
        {"oneOf": [DECISION, _object(("decisions",), decisions={"type": "array", "items": DECISION})]},
    ),
    (
        "post",
        "/v1/models/{name}/reward",
        "Learn the reward of a decision; answered when it is on disk",
        "learn",
        _or_rows(_object(("event", "reward"), event=TEXT, reward=NUMBER)),
        ACCEPTED,
    ),
    (
        "get",
        "/v1/models/{name}/evaluate",
        "What policies would earn, how watchers compare",
        "read",
        None,
        ANY,
    ),
    ("get", "/v1/models/{name}/events", "Live figures (server-sent events)", "read", None, TEXT),
    ("get", "/v1/models/{name}/export", "The model as a .ggln file", "read", None, TEXT),
    ("put", "/v1/models/{name}/import", "Let the model be what a .ggln file holds", "admin", TEXT, ANY),
    ("get", "/metrics", "Metrics for Prometheus", "read", None, TEXT),
    ("get", "/healthz", "Whether the process is there", "", None, ANY),
    ("get", "/readyz", "Whether calls are answered", "", None, ANY),
]
MEDIA = {"events": "text/event-stream", "export": "application/octet-stream", "metrics": "text/plain"}


def _media(path: str) -> str:
    return MEDIA.get(path.rpartition("/")[2], "application/json")


def _call(path: str, summary: str, role: str, body: Schema | None, found: Schema) -> Schema:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    done = {"description": "done", "content": {_media(path): {"schema": found}}}
    operation: Schema = {
        "summary": summary,
        "responses": {
            "200": done,
            **({"201": done | {"description": "made"}} if body is MODEL else {}),
            "4XX": {"description": "refused: nothing was changed", "content": error},
            "5XX": {
                "description": "not now: no room, or not ready",
                "content": error,
            },
        },
        "security": [{"bearer": [role]}] if role else [],
        "parameters": [],
    }
    if "{name}" in path:
        operation["parameters"].append({"name": "name", "in": "path", "required": True, "schema": TEXT})
    if body is not None:
        media = "application/octet-stream" if path.endswith("/import") else "application/json"
        operation["requestBody"] = {"required": True, "content": {media: {"schema": body}}}
        if path.endswith(("/predict", "/learn", "/decide", "/reward")):
            key = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": TEXT}
            operation["parameters"].append(key)
    return operation


def description() -> Schema:
    """Return the description."""
    paths: dict[str, Schema] = {}
    for method, path, summary, role, body, found in CALLS:
        paths.setdefault(path, {})[method] = _call(path, summary, role, body, found)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ggln serve", "version": __version__, "description": "A service that learns."},
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }
