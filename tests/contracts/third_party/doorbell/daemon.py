"""Listens beside all turns, in a thread; what it hears lies in this module and in the plugin's state."""

import queue
import threading

_rings = queue.Queue()
_thread = None
_state = None
door = ""
last_ring = None


def start(plugin_loader, settings):
    global _thread, _state, door
    door = settings["door"]
    _state = plugin_loader.get_plugin_state("doorbell")
    _thread = threading.Thread(target=_listen, args=(plugin_loader,), daemon=True)
    _thread.start()


def stop():
    _rings.put(None)
    if _thread is not None:
        _thread.join(timeout=5)


def ring(who):
    """For the tool, and for whatever hears the bell."""
    _rings.put(who)


def is_listening():
    return _thread is not None and _thread.is_alive()


def _listen(plugin_loader):
    global last_ring
    while (who := _rings.get()) is not None:
        last_ring = who
        _state.update_with_lock("count", lambda count: (count or 0) + 1)
        plugin_loader.emit_daemon_event("doorbell_rang", {"who": who})
        _rings.task_done()


def settle():
    """Wait until everybody who rang is counted."""
    _rings.join()
