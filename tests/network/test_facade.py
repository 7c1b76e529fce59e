"""The plugins' door: which lane, which session, which error."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests

from appliance import errors
from appliance.adapters.fakes.exchange import FakeExchange, FakeIncoming
from appliance.clock import FakeClock
from appliance.errors import LaneRefusedError, NetworkError
from appliance.network.blocking_exchange import BlockingExchange
from appliance.network.classifier import Classifier
from appliance.network.direct_hosts import DirectHosts
from appliance.network.facade import Facade
from appliance.network.lane import Destination, Lane
from appliance.network.limits import Limits
from appliance.network.requests_adapter import Gate, LaneAdapter
from appliance.network.sessions import LaneSession
from tests.network.facades import answer, exchange_of, facade_over

SECRET = "sk-very-secret"


def many(exchange_answer: FakeIncoming | None = None) -> FakeExchange:
    return FakeExchange(answer=lambda _outgoing: exchange_answer or answer(b"hello"))


@pytest.mark.contract("S-072")
@pytest.mark.parametrize(
    ("url", "lane"), [("http://192.168.1.5:8123/api", Lane.LAN), ("https://example.com/x", Lane.WAN)]
)
def test_a_request_takes_the_lane_of_its_url(url: str, lane: Lane) -> None:
    exchange = many()
    with facade_over(exchange, who=lambda: "plugin:weather") as facade:
        assert facade.get(url).text == "hello"
    (sent,) = exchange.sent
    assert (sent.lane, sent.who, sent.method, sent.url) == (lane, "plugin:weather", "GET", url)


@pytest.mark.contract("S-069")
def test_a_request_without_a_timeout_has_one() -> None:
    exchange = many()
    with facade_over(exchange, limits=Limits(connect_seconds=4, read_seconds=20)) as facade:
        for timeout in (None, 3, (1.5, None), (None, 7)):
            facade.get("http://nas/", timeout=timeout)
        facade.get("http://nas/")
    times = [(sent.connect_seconds, sent.read_seconds) for sent in exchange.sent]
    assert times == [(4, 20), (3, 3), (1.5, 20), (4, 7), (4, 20)]


@pytest.mark.parametrize("timeout", [0, -1, "5", (1, 2, 3), float("nan")])
def test_a_timeout_that_is_none_is_a_value_error_as_in_requests(timeout: Any) -> None:
    with facade_over(many()) as facade, pytest.raises(ValueError, match="timeout"):
        facade.get("http://nas/", timeout=timeout)


def test_a_whole_answer_may_be_smaller_than_a_streamed_one() -> None:
    exchange = many()
    with facade_over(exchange, limits=Limits(most_whole_bytes=10, most_streamed_bytes=20)) as facade:
        facade.get("http://nas/")
        facade.get("http://nas/", stream=True).close()
    assert [sent.most_body_bytes for sent in exchange.sent] == [10, 20]


@pytest.mark.contract("S-070")
def test_a_fixed_session_refuses_the_other_lane() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        with pytest.raises(LaneRefusedError, match=r"example.com is outside the house"):
            facade.session_for("http://nas/").get("https://example.com/")
        with pytest.raises(LaneRefusedError, match="nas is in the house"):
            facade.wan_session().post("http://nas/", data="x")
    assert exchange.sent == []


@pytest.mark.contract("S-070")
def test_a_session_is_the_same_for_one_plugin_and_not_for_another() -> None:
    plugin = ["a"]
    with facade_over(many(), who=lambda: plugin[0]) as facade:
        session = facade.session_for("http://nas/")
        session.headers["Authorization"] = SECRET
        assert facade.session_for("http://printer.local/") is session
        assert facade.session_for("http://nas/", "browser") is not session
        assert facade.session_for("https://example.com/") is not session
        plugin[0] = "b"
        other = facade.session_for("http://nas/")
    assert other is not session and "Authorization" not in other.headers


def test_a_session_accounts_for_its_plugin_from_whatever_thread() -> None:
    plugin, exchange = threading.local(), many()
    plugin.name = "plugin:a"
    with facade_over(exchange, who=lambda: getattr(plugin, "name", "")) as facade:
        session = facade.session_for("http://nas/")
        thread = threading.Thread(target=session.get, args=("http://nas/",))
        thread.start()
        thread.join()
    assert [sent.who for sent in exchange.sent] == ["plugin:a"]


def test_a_forgotten_plugin_leaves_no_session_and_no_direct_host() -> None:
    with facade_over(many(), who=lambda: "a") as facade:
        session = facade.wan_session()
        facade.register_direct_hosts(lambda: ["ha.example.net"], owner="whatever")
        assert facade.classify("ha.example.net") == "lan"
        facade.forget("a")
        assert facade.wan_session() is not session
        assert facade.classify("ha.example.net") == "wan"


@pytest.mark.contract("S-078")
def test_a_registered_host_is_in_the_house_at_once() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        facade.register_direct_hosts(lambda: ["ha.example.net"])
        assert "ha.example.net" in facade.direct_hosts()
        facade.get("https://ha.example.net/api")
    assert exchange.sent[0].lane is Lane.LAN


def test_what_watches_the_direct_hosts_hears_of_each_change() -> None:
    heard: queue.SimpleQueue[set[str]] = queue.SimpleQueue()
    with facade_over(many(), hosts_changed=lambda: heard.put(facade.direct_hosts())) as facade:
        facade.register_direct_hosts(lambda: ["a.example.net"], "me")
        assert heard.get(timeout=10) == {"a.example.net"}
        facade.unregister_direct_hosts("me")
        assert heard.get(timeout=10) == set()
        facade.clear_session_cache()
        assert heard.get(timeout=10) == set()


@pytest.mark.parametrize(
    "url",
    [
        *(None, 5, b"http://nas/", "", "nas", "ftp://nas/", "file:///etc/passwd", "http://", "http:///x"),
        *("http://exa mple.com/", "http://2130706433/", "http://127.1/", "http://[::1", "http://nas:99999/"),
        *("http://example.com\\@192.168.1.1/", " http://nas/", "http://user@192.168.1.1:80@example.com/"),
    ],
)
def test_a_url_that_not_everyone_reads_alike_is_an_invalid_url(url: Any) -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        calls: list[Callable[[], object]] = [lambda: facade.get(url), lambda: facade.session_for(url)]
        calls += [lambda: facade.wan_session().get(url), lambda: facade.request("POST", url, json={})]
        for call in calls:
            with pytest.raises(requests.exceptions.InvalidURL) as caught:
                call()
            assert isinstance(caught.value, httpx.InvalidURL) and isinstance(caught.value, LaneRefusedError)
    assert exchange.sent == []


def test_a_url_that_requests_writes_differently_is_refused() -> None:
    exchange = many()

    def classify(url: str) -> Destination:
        """Reads a URL with a parameter as another host's: no real one is known that does."""
        return Destination(Lane.WAN, "https", "b.example" if "?" in url else "a.example", 443, "a test")

    adapter = LaneAdapter(Lane.WAN, BlockingExchange(lambda: exchange), Gate(classify, "me", lambda: False), Limits())
    with pytest.raises(requests.exceptions.InvalidURL, match=r"would be requested as 'b\.example'"):
        LaneSession(adapter).get("https://a.example/", params={"a": "1"})
    assert exchange.sent == []


@pytest.mark.parametrize(
    ("raised", "kinds"),
    [
        (errors.NetworkConnectError, ("ConnectionError", httpx.ConnectError)),
        (errors.NetworkConnectTimeoutError, ("ConnectTimeout", httpx.ConnectTimeout)),
        (errors.NetworkProxyError, ("ProxyError", httpx.ProxyError)),
        (errors.NetworkTlsError, ("SSLError", httpx.TransportError)),
        (errors.NetworkTimeoutError, ("ReadTimeout", httpx.ReadTimeout)),
        (errors.NetworkTooLargeError, ("ContentDecodingError", httpx.TransportError)),
        (errors.NetworkDecodingError, ("ContentDecodingError", httpx.DecodingError)),
        (errors.LaneRefusedError, ("ConnectionError", httpx.TransportError)),
        (errors.NetworkError, ("ConnectionError", httpx.TransportError)),
    ],
)
def test_an_error_can_be_caught_as_ours_as_httpx_and_as_requests(
    raised: type[NetworkError], kinds: tuple[str, type[Exception]]
) -> None:
    theirs = getattr(requests.exceptions, kinds[0])
    for script in (FakeIncoming(error=raised("nas broke")), FakeIncoming(steps=(b"some", raised("nas broke")))):
        with facade_over(many(script)) as facade:
            for kind in (raised, theirs, requests.RequestException, OSError, kinds[1]):
                with pytest.raises(kind, match=r"^nas broke$") as caught:
                    facade.get("http://nas/x")
                assert caught.value.request.url == "http://nas/x"


def test_silence_before_the_answer_is_no_connection_error_and_in_its_middle_it_is_as_in_requests() -> None:
    late = errors.NetworkTimeoutError("nas sent nothing for 5 s")
    with facade_over(exchange_of(FakeIncoming(error=late), FakeIncoming(steps=(b"x", late)))) as facade:
        with pytest.raises(requests.exceptions.ReadTimeout) as before:
            facade.get("http://nas/")
        with pytest.raises(requests.exceptions.ConnectionError) as within:
            facade.get("http://nas/")
    assert not isinstance(before.value, requests.exceptions.ConnectionError)
    assert isinstance(within.value, requests.exceptions.Timeout)


def test_the_error_for_a_bad_status_keeps_the_secrets_of_the_url() -> None:
    url = f"https://me:{SECRET}@example.com/bot{SECRET}/send?key={SECRET}"
    with facade_over(many(answer(status=404))) as facade:
        response = facade.get(url)
        with pytest.raises(
            requests.HTTPError, match=r"404 Client Error: Words for url: https://example.com/…"
        ) as caught:
            response.raise_for_status()
    assert not response.ok and SECRET not in str(caught.value)
    assert caught.value.response is response and isinstance(caught.value, httpx.HTTPStatusError)


def test_no_error_quotes_a_secret_of_its_url() -> None:
    urls = [f"http://me:{SECRET}@exa mple/", f"gopher://nas/{SECRET}", f"https://example.com:0/?key={SECRET}"]
    with facade_over(exchange_of()) as facade:
        for url in (*urls, f"https://me:{SECRET}@example.com/{SECRET}?key={SECRET}"):
            with pytest.raises(NetworkError) as caught:
                facade.get(url)
            assert SECRET not in f"{caught.value!r}{caught.value}{caught.value.__cause__!r}"


def test_user_and_password_go_into_a_header_and_out_of_the_url() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        facade.get("http://me:pass@nas/x")
    assert exchange.sent[0].url == "http://nas/x"
    assert ("Authorization", "Basic bWU6cGFzcw==") in exchange.sent[0].headers


def test_in_a_private_chat_nothing_leaves_the_house() -> None:
    exchange, private = many(), [False]
    with facade_over(exchange, is_private=lambda: private[0]) as facade:
        session = facade.wan_session()
        private[0] = True
        for call in (lambda: facade.get("https://example.com/"), lambda: session.get("https://example.com/")):
            with pytest.raises(LaneRefusedError, match="private: nothing goes out of the house"):
                call()
        assert exchange.sent == []
        assert facade.get("http://nas/").ok


def test_a_proxy_of_its_own_is_refused_and_not_ignored() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        with pytest.raises(requests.exceptions.ProxyError, match=r"network\.proxy"):
            facade.get("https://example.com/", proxies={"https": "http://10.0.0.1:3128"})
        session = facade.wan_session()
        session.proxies["https"] = "http://10.0.0.1:3128"
        with pytest.raises(requests.exceptions.ProxyError):
            session.get("https://example.com/")
        facade.get("http://nas/", proxies={"http": None})
    assert len(exchange.sent) == 1


@pytest.mark.contract("S-081")
def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine example.com login me password {SECRET}\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(netrc))
    monkeypatch.setenv("ALL_PROXY", "socks5h://10.0.0.1:1080")
    exchange = many()
    with facade_over(exchange) as facade:
        session = facade.wan_session()
        session.trust_env = True
        session.get("https://example.com/")
    (sent,) = exchange.sent
    assert "Authorization" not in dict(sent.headers) and sent.ca_file == ""


def test_an_adapter_of_its_own_is_no_door_beside_ours(caplog: pytest.LogCaptureFixture) -> None:
    exchange = many()
    with facade_over(exchange, who=lambda: "plugin:own") as facade, caplog.at_level(logging.WARNING):
        session = facade.wan_session()
        session.mount("https://", requests.adapters.HTTPAdapter(max_retries=3))
        assert session.get("https://example.com/").text == "hello"
    assert "plugin:own mounts its own HTTP adapter" in caplog.text


def test_certificates_and_authorities_are_handed_on(tmp_path: Any) -> None:
    file = tmp_path / "some.pem"
    file.write_text("", encoding="utf-8")
    exchange = many()
    with facade_over(exchange, limits=Limits(outside_ca_file="/owner.pem")) as facade:
        facade.get("https://nas/", verify=False)
        facade.get("https://nas/", verify=str(file), cert=str(file))
        facade.get("https://nas/", cert=(str(file), str(file)))
        facade.get("https://example.com/")
        with pytest.raises(requests.exceptions.SSLError, match="does not exist"):
            facade.get("https://nas/", verify="/nowhere.pem")
    tls = [(sent.verify, sent.ca_file, sent.client_certificate) for sent in exchange.sent]
    pair = (str(file), str(file))
    assert tls == [(False, "", None), (True, str(file), pair), (True, "", pair), (True, "/owner.pem", None)]


@pytest.mark.contract("S-071")
def test_a_browser_session_looks_like_a_browser_and_a_plain_one_does_not() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        facade.wan_session().get("https://example.com/")
        facade.get("https://example.com/", profile="browser")
        facade.get("https://example.com/")
        with pytest.raises(ValueError, match="tractor"):
            facade.wan_session("tractor")
    agents = [dict(sent.headers)["User-Agent"] for sent in exchange.sent]
    assert "Chrome" in agents[0] and agents[1] == agents[0] and "requests" in agents[2]


def test_a_browser_keeps_four_hundred_cookies_and_no_more() -> None:
    cookies = tuple(("Set-Cookie", f"c{number}=1") for number in range(450))
    with facade_over(exchange_of(FakeIncoming(headers=cookies, steps=(b"",)))) as facade:
        session = facade.wan_session()
        session.get("https://example.com/")
    names = list(session.cookies.keys())
    assert len(names) == 400 and "c449" in names


def test_a_packing_that_we_could_not_undo_is_not_asked_for() -> None:
    exchange = many()
    with facade_over(exchange) as facade:
        facade.get("http://nas/", headers={"accept-encoding": "br, zstd"})
        facade.get("http://nas/", headers={"Accept-Encoding": "identity"})
    asked = [[value for name, value in sent.headers if name.lower() == "accept-encoding"] for sent in exchange.sent]
    assert asked == [["gzip, deflate"], ["identity"]]


def test_renewed_pools_let_what_is_under_way_come_to_its_end() -> None:
    made: list[FakeExchange] = []

    def make() -> FakeExchange:
        made.append(FakeExchange(answer=lambda _: answer(b"x" * 1_000_000)))
        return made[-1]

    facade = Facade(make, Classifier(), DirectHosts(FakeClock()))
    try:
        with facade.get("http://nas/", stream=True) as response:
            facade.clear_session_cache()
            assert not made[0].is_closed
            assert len(response.content) == 1_000_000
        facade.get("http://nas/")
        assert made[0].is_closed and not made[1].is_closed
    finally:
        facade.close()
    assert made[1].is_closed


def test_a_closed_door_says_so() -> None:
    with facade_over(many()) as facade:
        facade.get("http://nas/")
    assert "network" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(NetworkError, match="closed"):
        facade.get("http://nas/")


def test_the_own_address_is_one() -> None:
    with facade_over(many()) as facade:
        assert facade.local_ip().count(".") == 3
