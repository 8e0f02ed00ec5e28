"""HTTP: every call, and how it is refused."""

import http.client
import json
import socket
import threading

import pytest

from ggln import GGLNRegressor, load
from ggln.service import Client
from ggln.service.auth import read_tokens
from ggln.service.service import Limits


def raw(running, method, path, body=None, **headers):
    """Make a call as a program without our client would; return the status, the headers and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    known = {"Content-Type": "application/json"} if body is not None else {}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, content, known | names)
    response = connection.getresponse()
    found = response.read()
    connection.close()
    return response.status, response.headers, found


def test_making_a_model(running, client, world, refused):
    made = client.create("price", **world.models["price"])
    assert (made["kind"], made["rows"], made["pending"], made["features"]) == ("regressor", 0, 0, None)
    assert client.create("price", **world.models["price"]) == made
    assert refused(client.create, "price", "regressor") == (409, "model_exists")
    assert [model["name"] for model in client.models()] == ["price"]
    assert refused(client.model, "nobody") == (404, "unknown_model")


WRONG_MODELS = [
    ({"kind": "oracle"}, "kind must be one of"),
    ({"kind": "regressor", "settings": {"layers": 3}}, "no such setting"),
    ({"kind": "regressor", "settings": {"n_estimators": -1}}, "n_estimators"),
    ({"kind": "regressor", "settings": {"step": "ogd", "context_dim": 4}}, 'step="newton"'),
    ({"kind": "regressor", "settings": {"random_state": None}}, "random_state"),
    ({"kind": "regressor", "settings": []}, "settings must be an object"),
    ({"kind": "regressor", "arms": ["a"]}, "has no arms"),
    ({"kind": "classifier"}, "needs its classes"),
    ({"kind": "classifier", "classes": ["a"]}, "at least two"),
    ({"kind": "bandit", "arms": ["a", "a"]}, "differ"),
    ({"kind": "bandit", "arms": ["a", 1]}, "all strings or all integers"),
    ({"kind": "bandit", "arms": ["a"], "default_reward": "x"}, "default_reward must be a number"),
    (
        {"kind": "bandit", "arms": ["a"], "settings": {"reward": "bernoulli"}, "default_reward": 3},
        "[0, 1]",
    ),
    ({"kind": "regressor", "default_reward": 0}, "of a bandit"),
    ({"kind": "regressor", "wait_seconds": 0}, "wait_seconds"),
    ({"kind": "regressor", "features": ["a", "a"]}, "differ"),
    ({"kind": "regressor", "features": ["a\x00"]}, "without control characters"),
    ({"kind": "bandit", "arms": ["red", "\ud800"]}, "without control characters"),
    ({"kind": "regressor", "speed": 9}, "unknown field 'speed'"),
    ({"kind": "regressor", "watches": "nobody"}, "no model 'nobody'"),
    ([], "object of JSON"),
]
WRONG_CALLS = [
    ("predict", {}, "'features' is missing"),
    ("predict", {"features": {"u": 1, "w": 2}}, "'w' is no feature"),
    ("predict", {"features": {"u": "warm", "v": 1}}, "must be a number or null"),
    ("predict", {"features": {"u": 1e200, "v": 1}}, "finite number"),
    ("predict", {"features": [1, 2, 3]}, "3 numbers"),
    ("predict", {"features": "u"}, "object of names"),
    ("predict", {"features": {"u": 1}, "colour": 1}, "unknown field 'colour'"),
    ("predict", {"rows": []}, "1 to 10000 rows"),
    ("predict", {"rows": [{"features": [1, 2]}], "event": "e"}, "rows stand alone"),
    ("predict", {"features": [1, 2], "event": "no spaces"}, "event must be"),
    ("predict", {"rows": [{"features": [1, 2], "event": "e"}] * 2}, "differ"),
    ("learn", {"target": 1}, "'event' is missing"),
    ("learn", {"features": [1, 2]}, "'target' is missing"),
    ("learn", {"features": [1, 2], "target": "high"}, "target must be a number"),
    ("learn", {"features": [1, 2], "target": True}, "target must be a number"),
    ("learn", {"features": [1, 2], "target": 10**400}, "finite number"),
    ("decide", {"context": [1, 2]}, "is a regressor"),
    ("reward", {"event": "e", "reward": 1}, "is a regressor"),
]


def test_models_that_cannot_be(running, client):
    for body, words in WRONG_MODELS:
        status, _, found = raw(running, "PUT", "/v1/models/m", body)
        error = json.loads(found)["error"]
        assert status in (400, 404), body
        assert words in error["message"], body
        assert "\n" not in error["message"]
    assert client.models() == []


def test_calls_that_cannot_be(running, client, world):
    client.create("price", features=["u", "v"], **world.models["price"])
    for call, body, words in WRONG_CALLS:
        status, _, found = raw(running, "POST", f"/v1/models/price/{call}", body)
        assert status == 400, body
        assert words in json.loads(found)["error"]["message"], body
    assert client.model("price")["pending"] == 0
    assert running.learn_all("price")["rows"] == 0


def test_a_first_call_that_is_refused_fixes_no_features(running, client, world):
    client.create("price", **world.models["price"])
    client.create("shop", **world.models["shop"])
    late = {"event": "e", "target": 1}
    for name, call, body, expected in (
        ("price", "learn", {"features": {"w": 1}, "target": "bad"}, "bad_request"),
        ("price", "learn", {"rows": [{"features": {"w": 1}, "target": 1}, late]}, "unknown_event"),
        ("price", "learn", late, "unknown_event"),
        ("price", "learn", [], "bad_request"),
        ("shop", "decide", {"context": {"w": 1}, "arm": "green"}, "bad_request"),
        ("shop", "reward", {"event": "e", "reward": 1}, "unknown_event"),
    ):
        status, _, found = raw(running, "POST", f"/v1/models/{name}/{call}", body)
        assert json.loads(found)["error"]["code"] == expected, body
        assert status == {"bad_request": 400, "unknown_event": 404}[expected]
    assert [model["features"] for model in client.models()] == [None, None]


def test_bodies_that_are_no_json(running, client, world):
    client.create("price", **world.models["price"])
    for body in (
        b"{",
        b"NaN",
        b'{"features": {"u": NaN}}',
        b"[" * 100_000,
        b"\xff",
        b'{"features": [1e999]}',
    ):
        status, _, found = raw(running, "POST", "/v1/models/price/predict", body)
        assert status == 400, body
        assert json.loads(found)["error"]["code"] == "bad_request"
    status, _, _ = raw(running, "POST", "/v1/models/price/predict", b"{}", Content_Type="text/plain")
    assert status == 415


def test_places_that_are_not_there(running):
    for method, path, expected in (
        ("GET", "/v2", (404, "not_found")),
        ("DELETE", "/v1/models/m", (405, "method_not_allowed")),
        ("GET", "/page/secret", (404, "not_found")),
        ("GET", "/v1/models/%00", (404, "unknown_model")),
        ("GET", f"/v1/models/{'x' * 5000}", (404, "unknown_model")),
    ):
        status, _, found = raw(running, method, path)
        assert (status, json.loads(found)["error"]["code"]) == expected


def test_limits(start, world, refused):
    running = start(limits=Limits(body_bytes=2000, models=1))
    running.client.create("price", **world.models["price"])
    assert refused(running.client.create, "other", "regressor") == (409, "too_many_models")
    assert refused(running.client.learn_rows, "price", world.rows(100)) == (413, "too_large")
    assert refused(running.client.create, "x" * 65, "regressor") == (400, "bad_request")
    connection = socket.create_connection(("127.0.0.1", running.port))
    head = b"POST /v1/models/price/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection.sendall(
        head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"3e8\r\n" + b"x" * 1000 + b"\r\n") * 4
    )
    assert b" 413 " in connection.recv(100)
    connection.close()


def test_a_body_that_does_not_come_is_not_waited_for(running, client, world, monkeypatch):
    client.create("price", **world.models["price"])
    monkeypatch.setattr("ggln.service.constants.REQUEST_SECONDS", 0.2)
    head = b"POST /v1/models/price/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        connection.sendall(head + b'Content-Length: 50\r\n\r\n{"features"')
        answer = connection.recv(1000)
        while b"took too long" not in answer and (more := connection.recv(1000)):  # it may come in pieces
            answer += more
    assert b" 503 " in answer
    assert b"took too long" in answer


def test_missing_values_are_for_models_that_take_them(running, client, world, refused):
    client.create("price", **world.models["price"])
    client.create("shop", **world.models["shop"])
    client.learn_rows("price", world.rows(5))
    client.learn("price", 1.0, features={"u": 0.5, "v": None})
    client.learn("price", 1.0, features={"v": 0.5})
    assert running.learn_all("price")["rows"] == 7
    client.decide("shop", {"u": 1, "v": 2})
    assert refused(client.decide, "shop", {"u": 1}) == (400, "bad_request")


def test_batches_are_answered_row_by_row(running, client, world):
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(40))
    running.learn_all("price")
    found = client.predict_rows("price", [world.row(i) for i in range(60)])
    assert len({answer["event"] for answer in found}) == 60
    alone = client.predict("price", world.row(7))
    assert found[7]["mean"] == pytest.approx(alone["mean"], rel=1e-12)
    assert found[7]["quantiles"]["0.05"] < found[7]["mean"] < found[7]["quantiles"]["0.95"]
    client.learn_rows("price", [{"event": answer["event"], "target": 1.0} for answer in found])
    assert running.learn_all("price")["rows"] == 100


def test_files_come_and_go(running, client, world, refused, tmp_path):
    client.create("price", **world.models["price"])
    assert refused(client.export, "price") == (409, "nothing_learnt")
    client.learn_rows("price", world.rows(10))
    running.learn_all("price")
    model = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, random_state=3)
    for i in range(30):
        model.learn_one(world.row(i), world.target(i))
    model.save(tmp_path / "sent.ggln")
    content = (tmp_path / "sent.ggln").read_bytes()
    client.send_file("price", content)
    running.learn_all("price")
    assert client.export("price") == content
    client.learn("price", 0.5, features=world.row(30))
    running.learn_all("price")
    model.learn_one(world.row(30), 0.5).save(tmp_path / "sent.ggln")
    assert client.export("price") == (tmp_path / "sent.ggln").read_bytes()
    assert load(tmp_path / "sent.ggln").feature_names_in_.tolist() == ["u", "v"]


def test_files_that_do_not_fit(running, client, world, refused, tmp_path):
    client.create("price", **world.models["price"])
    client.create("mail", **world.models["mail"])
    client.learn_rows("price", world.rows(5))
    running.learn_all("price")
    content = client.export("price")
    assert refused(client.send_file, "mail", content) == (400, "bad_request")
    assert refused(client.send_file, "price", content[:-5] + b"abcde") == (400, "bad_request")
    other = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, random_state=0)
    other.learn_one({"w": 1.0}, 1.0).save(tmp_path / "other.ggln")
    answer = refused(client.send_file, "price", (tmp_path / "other.ggln").read_bytes())
    assert answer == (409, "other_features")
    assert client.export("price") == content


def test_a_file_survives_a_crash(start, world, tmp_path):
    running = start()
    running.client.create("price", **world.models["price"])
    model = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, random_state=3).learn_one(world.row(0), 1.0)
    model.save(tmp_path / "sent.ggln")
    running.client.send_file("price", (tmp_path / "sent.ggln").read_bytes())
    running.client.learn("price", 2.0, features=world.row(1))
    running.learn_all("price")
    expected = running.client.export("price")
    running.crash()
    assert start().client.export("price") == expected


def test_health_metrics_and_description(running, client, world):
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(7))
    client.predict("price", world.row(0))
    running.learn_all("price")
    assert json.loads(raw(running, "GET", "/healthz")[2]) == {"status": "ok"}
    assert json.loads(raw(running, "GET", "/readyz")[2])["learner"] is True
    text = raw(running, "GET", "/metrics")[2].decode()
    assert 'ggln_learnt_events_total{model="price"} 7.0' in text
    assert "ggln_waiting_events 1.0" in text
    assert 'ggln_requests_total{call="predict",status="200"} 1.0' in text
    described = json.loads(raw(running, "GET", "/openapi.json")[2])
    routes = {
        (method.lower(), route.path)
        for route in running.server.config.app.routes
        for method in route.methods - {"HEAD"}
        if not route.path.startswith("/page") and route.path not in ("/", "/openapi.json")
    }
    assert {(m, path) for path, calls in described["paths"].items() for m in calls} == routes


def test_a_slow_log_keeps_nobody_waiting_but_those_who_ask_it(running, client, monkeypatch):
    begun, ending = threading.Event(), threading.Event()

    def slow(*_):
        begun.set()
        assert ending.wait(30)

    monkeypatch.setattr("ggln.service.log.operations.model", slow)
    asking = threading.Thread(target=lambda: raw(running, "GET", "/v1/models/nobody"))
    asking.start()
    assert begun.wait(30)
    assert raw(running, "GET", "/healthz")[0] == 200
    ending.set()
    asking.join()


def test_a_model_that_cannot_learn_says_so(running, client, world, monkeypatch, caplog):
    client.create("price", **world.models["price"])
    model = running.service.models.get(running.service.models.row("price"))

    def broken(*_):
        raise MemoryError("no memory")

    monkeypatch.setattr(model.kind.__class__, "learn", broken)
    client.learn_rows("price", world.rows(3))
    assert "no memory" in running.learn_all("price")["error"]
    assert "cannot learn on" in caplog.text
    assert raw(running, "GET", "/readyz")[0] == 503


def test_live_figures(running, client, world):
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(20))
    running.learn_all("price")
    stream = client.figures("price")
    first = next(stream)
    assert (first["rows"], len(first["recent"])) == (20, 19)
    assert set(first["importance"]) == {"u", "v"}
    client.learn_rows("price", world.rows(5, 20))
    running.learn_all("price")
    assert next(stream)["rows"] == 25
    stream.close()


TOKENS = {"read": "r" * 20, "learn": "l" * 20, "admin": "a" * 20}


@pytest.fixture
def guarded(start, tmp_path):
    lines = [f"{role} {token}" for role, token in TOKENS.items()]
    (tmp_path / "tokens").write_text("# who may\n\n" + "\n".join(lines))
    return start(tokens=read_tokens(tmp_path / "tokens"))


def test_roles(guarded, world, refused):
    clients = {role: Client(guarded.url, token) for role, token in TOKENS.items()}
    calls = [
        ("admin", lambda client: client.create("price", **world.models["price"])),
        ("learn", lambda client: client.learn("price", 1.0, features=world.row(0))),
        ("read", lambda client: client.predict("price", world.row(0))),
        ("read", lambda client: client.model("price")),
        ("admin", lambda client: client.send_file("price", b"")),
    ]
    ranks = list(TOKENS)
    for needed, call in calls:
        for role, client in clients.items():
            if ranks.index(role) < ranks.index(needed):
                assert refused(call, client) == (403, "forbidden"), (needed, role)
        if call is calls[-1][1]:
            assert refused(call, clients[needed]) == (400, "bad_request")  # no longer forbidden
        else:
            call(clients[needed])
    for client in (Client(guarded.url), Client(guarded.url, "x" * 20)):
        assert refused(client.models) == (401, "unauthorized")
        client.close()
    for client in clients.values():
        client.close()
    assert raw(guarded, "GET", "/healthz")[0] == 200
    assert raw(guarded, "GET", "/")[0] == 200
    assert raw(guarded, "GET", "/metrics")[0] == 401


def test_pages_of_others_are_refused(running):
    assert raw(running, "GET", "/v1/models", Host="evil.example")[0] == 403
    assert raw(running, "GET", "/v1/models", Origin="https://evil.example")[0] == 403
    assert raw(running, "GET", "/v1/models", Host="[")[0] == 403
    assert raw(running, "GET", "/v1/models", Origin="http://[")[0] == 403
    assert raw(running, "GET", "/v1/models", Host=f"localhost:{running.port}")[0] == 200
    headers = raw(running, "GET", "/")[1]
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("text", ["", "admin short", "king " + "k" * 20, "admin"])
def test_tokens_that_cannot_be(tmp_path, text):
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(ValueError, match="tokens"):
        read_tokens(tmp_path / "tokens")
