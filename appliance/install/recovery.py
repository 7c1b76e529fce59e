"""A change of the plugins that was cut is finished before anything of them is loaded."""

from __future__ import annotations

import logging

from appliance.clock import Clock
from appliance.errors import ApplianceError
from appliance.home import Home
from appliance.install.journal import Journal
from appliance.install.lock import ManagerBusyError, manager_lock
from appliance.install.places import Places
from appliance.install.swap import Swap, Switch

_LOG = logging.getLogger(__name__)

#: A manager that is at work needs no longer than this for its renames.
_PATIENCE_SECONDS = 5.0
_STEP_SECONDS = 0.1


async def finish_cut_change(home: Home, switch: Switch, clock: Clock) -> str:
    """Finish it, for whoever is about to load plugins; why it could not be done, "" when all is well."""
    places = Places(home)
    patience_ends = clock.monotonic_seconds() + _PATIENCE_SECONDS
    while Journal(places.journal).is_open:
        try:
            with manager_lock(places):
                name = Swap(places, switch).recover()
                if name:
                    _LOG.warning("a change of the plugin %s was cut short; it is finished now", name)
                return ""
        except ManagerBusyError:
            if clock.monotonic_seconds() >= patience_ends:
                return "a command is changing the plugins just now; start again when it is done"
            await clock.sleep(_STEP_SECONDS)
        except ApplianceError as error:
            return f"a change of the plugins was cut short and is not finished: {error}"
    return ""
