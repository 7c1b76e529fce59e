"""A house that answers as Home Assistant's REST API does: ``/api/``, states, services, and a template for areas."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "home-token-7731"

_COLORS = {"red": [255, 0, 0], "blue": [0, 0, 255]}


def thing(entity_id: str, name: str, state: str, **attributes: Any) -> dict[str, Any]:
    """One entity as ``/api/states`` has it."""
    return {
        "entity_id": entity_id,
        "state": state,
        "attributes": {"friendly_name": name, **attributes},
        "last_changed": "2026-05-04T15:00:00+00:00",
        "context": {"id": "01H", "parent_id": None, "user_id": None},
    }


class HomeServer:
    """Serves inside ``with``. ``services`` is every call that was made: (domain, service, data)."""

    def __init__(self) -> None:
        self.things = {
            each["entity_id"]: each
            for each in (
                thing("light.desk", "Desk lamp", "off"),
                thing("light.kitchen_ceiling", "Kitchen ceiling", "on", brightness=128),
                thing("light.kitchen_counter", "Counter", "off"),
                thing("light.bed_left", "Bed left", "off"),
                thing("light.bed_right", "Bed right", "off"),
                thing("switch.coffee", "Coffee machine", "off"),
                thing("switch.fridge", "Fridge", "on"),
                thing("fan.bath", "Bath fan", "unavailable"),
                thing("lock.front", "Front door", "locked"),
                thing("cover.garage", "Garage door", "closed"),
                thing("sensor.outside", "Outside temperature", "11.5", unit_of_measurement="°C"),
                thing("binary_sensor.window", "Kitchen window", "on", device_class="window"),
                thing("climate.living", "Living room", "heat", current_temperature=20.5, temperature=21, min_temp=7),
                thing("scene.good_night", "Good night", "unknown"),
                thing("scene.movie", "Movie time", "unknown"),
            )
        }
        self.areas = {
            "Kitchen": ["light.kitchen_ceiling", "light.kitchen_counter", "switch.fridge", "binary_sensor.window"],
            "Living room": ["light.desk", "climate.living"],
        }
        self.services: list[tuple[str, str, dict[str, Any]]] = []
        self.requests: list[str] = []
        #: Status of every answer, when something is wrong with the whole.
        self.broken: int | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.home = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> HomeServer:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, domain: str, service: str, data: dict[str, Any]) -> tuple[int, Any]:
        """What a service does to the house; the things that changed."""
        if (domain, service) not in _SERVICES:
            return 400, {"message": "Service not found."}
        self.services.append((domain, service, data))
        changed = []
        for entity_id in data.get("entity_id", []):
            entity = self.things.get(entity_id)
            if entity is None or entity_id.partition(".")[0] != domain:
                continue
            _change(entity, service, data)
            changed.append(entity)
        return 200, changed


_SERVICES = {
    *((domain, service) for domain in ("light", "switch", "fan") for service in ("turn_on", "turn_off", "toggle")),
    ("climate", "set_temperature"),
    ("climate", "set_hvac_mode"),
    ("scene", "turn_on"),
}


def _change(entity: dict[str, Any], service: str, data: dict[str, Any]) -> None:
    if service in ("turn_on", "turn_off"):
        entity["state"] = service.removeprefix("turn_")
    elif service == "toggle":
        entity["state"] = "off" if entity["state"] == "on" else "on"
    if "brightness_pct" in data:
        entity["attributes"]["brightness"] = round(data["brightness_pct"] * 2.55)
    if "color_name" in data:
        entity["attributes"]["rgb_color"] = _COLORS[data["color_name"]]
    if "temperature" in data:
        entity["attributes"]["temperature"] = data["temperature"]
    if "hvac_mode" in data:
        entity["state"] = data["hvac_mode"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer(json.loads(body or b"{}"))

    def _answer(self, body: Any) -> None:
        home: HomeServer = self.server.home  # type: ignore[attr-defined]
        home.requests.append(f"{self.command} {self.path}")
        if home.broken is not None:
            self._send(home.broken, {"message": "broken"})
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, "401: Unauthorized")
        else:
            self._send(*self._route(home, body))

    def _route(self, home: HomeServer, body: Any) -> tuple[int, Any]:
        parts = self.path.strip("/").split("/")
        if (self.command, self.path) == ("GET", "/api/"):
            return 200, {"message": "API running."}
        if (self.command, self.path) == ("GET", "/api/states"):
            return 200, list(home.things.values())
        if self.command == "POST" and parts[:2] == ["api", "services"] and len(parts) == 4:
            return home.serve(parts[2], parts[3], body)
        if (self.command, self.path) == ("POST", "/api/template"):
            template = body["template"]
            if "areas()" in template and "area_entities(" in template and "to_json" in template:
                return 200, json.dumps(home.areas)
            return 400, {"message": "Error rendering template"}
        return 404, "404: Not Found"

    def _send(self, status: int, value: Any) -> None:
        """Text is plain text, as a rendered template is."""
        is_text = isinstance(value, str)
        data = (value if is_text else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""
