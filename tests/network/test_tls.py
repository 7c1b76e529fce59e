"""TLS on both lanes: strangers are not believed, unless the asker says whom to believe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.errors import NetworkConnectTimeoutError, NetworkTlsError
from tests.network.certificates import Certificate, make_certificate
from tests.network.client_rig import client_rig
from tests.network.http_server import HttpServer, answer
from tests.network.socks_server import SocksServer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def web(certificate: Certificate) -> AsyncIterator[HttpServer]:
    async with HttpServer(answer(), tls=certificate.server_side()) as server:
        yield server


async def test_an_unknown_authority_is_an_error_on_both_lanes(web: HttpServer) -> None:
    async with SocksServer({"outside.example": web.place}) as socks, client_rig(proxy=socks.url) as rig:
        for url in (web.url, "https://outside.example/"):
            with pytest.raises(NetworkTlsError, match=r"self.signed"):
                await rig.get(url)
        assert web.requests == []


async def test_the_asker_may_name_the_authority(web: HttpServer, certificate: Certificate) -> None:
    async with SocksServer({"outside.example": web.place}) as socks, client_rig(proxy=socks.url) as rig:
        for url in (web.url, "https://outside.example/"):
            assert (await rig.get(url, ca_file=str(certificate.file))).status == 200


async def test_a_folder_of_authorities_is_taken_as_one(web: HttpServer, tmp_path: Path) -> None:
    async with client_rig() as rig:
        with pytest.raises(NetworkTlsError, match=r"self.signed"):
            await rig.get(web.url, ca_file=str(tmp_path))


async def test_the_asker_may_believe_everyone_and_only_that_request_does(web: HttpServer) -> None:
    async with client_rig() as rig:
        assert (await rig.get(web.url, verify=False)).status == 200
        with pytest.raises(NetworkTlsError):
            await rig.get(web.url)


async def test_a_file_that_is_not_there_is_told(web: HttpServer) -> None:
    async with client_rig() as rig:
        with pytest.raises(NetworkTlsError, match="the file of authorities cannot be used: No such file"):
            await rig.get(web.url, ca_file="/none.pem")
        with pytest.raises(NetworkTlsError, match="certificate cannot be used"):
            await rig.get(web.url, client_certificate=("/none.pem", ""))


async def test_a_server_that_is_silent_in_the_handshake_is_given_up() -> None:
    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    held = asyncio.Event()
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    try:
        async with client_rig() as rig:
            with pytest.raises(NetworkConnectTimeoutError):
                await rig.get(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", connect_seconds=0.1)
    finally:
        held.set()
        server.close()
