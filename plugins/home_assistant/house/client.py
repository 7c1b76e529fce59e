"""Home Assistant's REST API, as far as the tools need it."""

import json
import threading
import time
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from core import net

#: Every area with the things in it, as JSON.
_AREAS_TEMPLATE = (
    "{%- set ns = namespace(found={}) -%}"
    "{%- for area in areas() -%}"
    "{%- set ns.found = dict(ns.found, **{area_name(area): area_entities(area)}) -%}"
    "{%- endfor -%}"
    "{{ ns.found | to_json }}"
)
_AREAS_LAST_SECONDS = 300.0
#: The way in from outside that the makers of Home Assistant sell: nothing in the house answers there.
_OUTSIDE = (".nabu.casa",)

_lock = threading.Lock()
#: Address -> (when, areas).
_areas = {}


class HomeError(Exception):
    """Home Assistant did not do it; the text is for the person."""


def direct_hosts(url):
    """The host that is in the house although its name may not look like it."""
    host = (urlsplit(str(url)).hostname or "").lower()
    return [host] if host and not host.endswith(_OUTSIDE) else []


class Client:
    """One call's view of Home Assistant."""

    def __init__(self, settings, token):
        self.url = str(settings.get("url") or "").strip().rstrip("/")
        self._token = token
        self._timeout = _seconds(settings.get("timeout"))
        never = settings.get("never")
        self._never = [str(pattern).lower() for pattern in never] if isinstance(never, list) else []
        if not self.url:
            raise HomeError("Home Assistant has no address yet. Set it in the settings of this plugin.")
        if not token:
            raise HomeError("I have no token for Home Assistant. Set one with: appliance credential set HA_TOKEN")

    def states(self):
        """Every thing that may be touched: entity_id, state, attributes."""
        return [state for state in self._ask("GET", "/api/states") if self._is_allowed(state)]

    def areas(self):
        """Name of each area -> the ids of the things in it."""
        with _lock:
            at, known = _areas.get(self.url, (0.0, None))
        if known is not None and time.monotonic() - at < _AREAS_LAST_SECONDS:
            return known
        text = self._ask("POST", "/api/template", {"template": _AREAS_TEMPLATE}, is_text=True)
        try:
            found = {str(name): list(things) for name, things in json.loads(text).items()}
        except (ValueError, AttributeError, TypeError):
            raise HomeError("Home Assistant did not tell me its areas.") from None
        with _lock:
            _areas[self.url] = (time.monotonic(), found)
        return found

    def call(self, domain, service, entity_ids, **data):
        """Have it do something with these things."""
        self._ask("POST", f"/api/services/{domain}/{service}", {"entity_id": list(entity_ids), **data})

    def _is_allowed(self, state):
        if not isinstance(state, dict) or "." not in str(state.get("entity_id", "")):
            return False
        return not any(fnmatchcase(state["entity_id"].lower(), pattern) for pattern in self._never)

    def _ask(self, method, path, body=None, is_text=False):
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            answer = net.request(method, self.url + path, json=body, headers=headers, timeout=self._timeout)
        except OSError:
            host = urlsplit(self.url).hostname or self.url
            raise HomeError(f"I cannot reach Home Assistant at {host}.") from None
        if answer.status_code in (401, 403):
            raise HomeError("Home Assistant does not accept my token. It may have been deleted there.")
        if answer.status_code >= 300:
            raise HomeError(f"Home Assistant did not do that. It answered with error {answer.status_code}.")
        try:
            return answer.text if is_text else answer.json()
        except ValueError:
            raise HomeError("What answered there does not talk like Home Assistant.") from None


def _seconds(value):
    try:
        return min(max(float(value), 1.0), 60.0)
    except (TypeError, ValueError):
        return 10.0
