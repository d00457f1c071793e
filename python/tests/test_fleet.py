# SPDX-License-Identifier: MIT
#
# The store that machines share, from Python: push() and prewarm(). In: a web server of Python's own
# that keeps what is put, and processes with caches of their own. Out: what came, and what was told.
import http.server
import os
import signal
import threading

import pytest
from programs_apart import program


class Shelf(http.server.BaseHTTPRequestHandler):
    """GET and PUT of values, in memory."""

    protocol_version = "HTTP/1.1"

    def answer(self, code, body=b""):
        if self.server.caller.exists():  # presses Ctrl-C while it waits for this answer
            os.kill(int(self.server.caller.read_text()), signal.SIGINT)
            self.server.caller.unlink()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        body = self.server.values.get(self.path)
        self.answer(404 if body is None else 200, body or b"")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(204 if self.path in self.server.values else 201)
        self.server.values[self.path] = body

    def log_message(self, *unused):
        pass


@pytest.fixture
def store(q, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    server.values = {}
    server.caller = tmp_path / "caller"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.options = {
        "QUERN_REMOTE": f"http://127.0.0.1:{server.server_port}/",
        "QUERN_REMOTE_MODE": "open",
        "QUERN_REMOTE_TIMEOUT": "5000",
    }
    yield server
    server.shutdown()
    server.server_close()


def machine(folder, name, text, store):
    """Run a program on another machine: one with a cache of its own."""
    (folder / name).mkdir()
    skip = """
if "libcurl" in pyquern.Device().remote_stats()["problem"]:
    open("skipped", "w")
    raise SystemExit
cache, told = pyquern.Device().cache, []
"""
    program(skip + text, folder / name, **store.options)
    if (folder / name / "skipped").exists():
        pytest.skip("libcurl is not installed")


FILL = """
for k in range(3):
    pyquern.ElementwiseKernel("T x", "T y", f"y = x + {k}", f"plus{k}")(numpy.ones(3))
open("../keys", "w").write(" ".join(entry["key"] for entry in cache.entries()))
assert cache.push(progress=lambda *one: told.append(one))["wanted"] == len(told) == 3
"""

TAKE = """
keys = open("../keys").read().split()
took = cache.prewarm(iter(keys), progress=lambda *one: told.append(one))
assert took["received"] == 3 and took["compiled"] == 0, took
assert [one[:2] for one in told] == [(k, 3) for k in (1, 2, 3)]
assert {one[2] for one in told} == set(keys) and {one[3] for one in told} == {
    "plus0", "plus1", "plus2"}
assert cache.prewarm(keys)["had"] == 3
plus1 = pyquern.ElementwiseKernel("T x", "T y", "y = x + 1", "plus1")
assert plus1(numpy.ones(3)).tolist() == [2.0] * 3
assert cache.stats()["compiled"] == 0
"""


def test_from_one_machine_to_another(store, tmp_path):
    machine(tmp_path, "one", FILL, store)
    values = [path for path in store.values if not path.endswith(".claim")]
    assert len(values) == 6, "an image and a recipe of each"
    machine(tmp_path, "two", TAKE, store)


def test_recipes_alone(store, tmp_path):
    machine(tmp_path, "one", FILL, store)
    for path in [path for path in store.values if not path.endswith("/recipe")]:
        del store.values[path]
    left = """
report = cache.prewarm(open("../keys").read().split(), compile=False)
assert report["left"] == 3 and report["compiled"] == 0, report
"""
    made = """
report = cache.prewarm(open("../keys").read().split())
assert report["compiled"] == 3 and cache.stats()["entries"] == 3, report
"""
    machine(tmp_path, "two", left, store)
    machine(tmp_path, "three", made, store)


def test_who_is_told_may_end_it(store, tmp_path):
    text = """
def end(done, wanted, key, name):
    raise RuntimeError(name)
keys = open("../keys").read().split()
for wanted in (lambda: cache.prewarm(keys, progress=end), lambda: cache.push(progress=end)):
    try:
        wanted()
    except RuntimeError as error:
        assert str(error).startswith("plus")
    else:
        raise AssertionError(wanted)
"""
    machine(tmp_path, "one", FILL, store)
    machine(tmp_path, "two", text, store)


def test_ctrl_c_ends_it(store, tmp_path):
    text = """
import os
keys = open("../keys").read().split()
for wanted in (lambda: cache.prewarm(keys), cache.push):
    open("caller", "w").write(str(os.getpid()))
    os.rename("caller", "../caller")
    try:
        wanted()
    except KeyboardInterrupt:
        assert not os.path.exists("../caller")
    else:
        raise AssertionError(wanted)
    cache.prewarm(keys)
"""
    machine(tmp_path, "one", FILL, store)
    machine(tmp_path, "two", text, store)


def test_bad_input(q):
    cache = q.Device().cache
    with pytest.raises(ValueError, match="key"):
        cache.prewarm(["abc"])
    with pytest.raises(TypeError):
        cache.prewarm([3])
    with pytest.raises(TypeError):
        cache.prewarm(None)
    with pytest.raises(q.CacheError, match="QUERN_REMOTE"):
        cache.push()
    assert cache.prewarm([])["wanted"] == 0
