"""Every error this program raises on purpose, in one tree.

::

    ApplianceError                    a sentence for the person, an exit code for the shell
    ├── UsageError                    the command line is wrong (2)
    ├── RefusedError                  policy says no (3)
    ├── ConfigError                   a setting is unknown or wrong (78)
    ├── HomeLockedError               another process owns this home
    ├── NotRunningError               no device answers on the control socket
    ├── AudioError
    │   ├── SoundCardLostError
    │   └── BadAudioFileError
    ├── ButtonError                   the button's or its lamp's pin cannot be used
    ├── PowerError                    the machine cannot be switched off
    ├── WeightsError                  speech weights are missing or damaged
    ├── HearingError                  the transcriber failed
    ├── SynthesisError                the voice failed
    ├── BrainError                    the model endpoint failed
    │   ├── BrainUnreachableError
    │   ├── BrainTimeoutError
    │   ├── BrainKeyError
    │   ├── BrainBusyError            429 or 5xx; may carry retry_after_seconds
    │   ├── BrainStreamError          the stream was cut, or is not what the API promises
    │   └── BrainRequestError         the endpoint rejected what we sent
    ├── NetworkError                  the HTTP door failed
    │   ├── NetworkTimeoutError
    │   ├── NetworkConnectError       no connection came about
    │   │   ├── NetworkConnectTimeoutError
    │   │   ├── NetworkProxyError
    │   │   └── NetworkTlsError
    │   ├── NetworkTooLargeError
    │   ├── NetworkDecodingError      the body cannot be unpacked
    │   └── LaneRefusedError          the URL is ambiguous or on the wrong side
    ├── JournalError                  the system's journal cannot be read
    ├── SandboxError                  a program cannot be run in a sandbox
    ├── StoreError
    │   ├── NewerStoreError           the file was written by a newer version
    │   ├── NoChatError               no chat has that name
    │   ├── ChatSealedError           a private chat is locked
    │   ├── NoPassphraseError         private chats need a passphrase, and none was ever set
    │   └── WrongPassphraseError      it is not the passphrase of the private chats
    ├── PictureError                  a picture cannot be read, is too large, or is not there
    └── TurnDroppedError              an uncommitted turn was thrown away

Foreign exceptions are translated in the adapter with ``raise ... from``; the original stays in the log.
``None`` never means "failed".
"""

from __future__ import annotations


class ApplianceError(Exception):
    """Something failed in a way a person can be told: ``str(error)`` says what happened and what to do."""

    exit_code = 1


class UsageError(ApplianceError):
    """The command line is wrong."""

    exit_code = 2


class RefusedError(ApplianceError):
    """Policy does not allow it."""

    exit_code = 3


class ConfigError(ApplianceError):
    """A setting is unknown or has a wrong value; names the key, the value and what is allowed."""

    exit_code = 78


class HomeLockedError(ApplianceError):
    """Another process already runs on this home."""


class NotRunningError(ApplianceError):
    """No running device answers on this home's control socket."""


class AudioError(ApplianceError):
    """Sound could not be captured, played or read."""


class SoundCardLostError(AudioError):
    """A device that worked stopped delivering or taking sound."""


class BadAudioFileError(AudioError):
    """A file is not PCM WAV that we can read."""


class ButtonError(ApplianceError):
    """The button, or the lamp in it, cannot be used, or not any more."""


class PowerError(ApplianceError):
    """The machine cannot be switched off."""


class WeightsError(ApplianceError):
    """Speech weights are missing or damaged."""


class JournalError(ApplianceError):
    """The system's journal cannot be read."""


class HearingError(ApplianceError):
    """The transcriber failed on an utterance."""


class SynthesisError(ApplianceError):
    """The voice failed on a sentence."""


class BrainError(ApplianceError):
    """The model endpoint failed; the message is for the log, the catalogue holds what is said."""

    #: Key of the catalogue sentence that tells the person.
    sentence_key = "brain.failed"


class BrainUnreachableError(BrainError):
    """No connection could be made, or it broke before an answer began."""

    sentence_key = "brain.unreachable"


class BrainTimeoutError(BrainError):
    """Connecting, the first token or the whole answer took too long."""

    sentence_key = "brain.timeout"


class BrainKeyError(BrainError):
    """The endpoint wants a key, or does not accept ours."""

    sentence_key = "brain.key"


class BrainBusyError(BrainError):
    """The endpoint is overloaded or rate limits us."""

    sentence_key = "brain.busy"

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class BrainStreamError(BrainError):
    """The answer's stream was cut or malformed."""

    sentence_key = "brain.stream"


class BrainRequestError(BrainError):
    """The endpoint rejected the request itself."""

    sentence_key = "brain.request"


class NetworkError(ApplianceError):
    """An HTTP exchange failed."""


class NetworkTimeoutError(NetworkError, TimeoutError):
    """An HTTP exchange took too long."""


class NetworkConnectError(NetworkError):
    """No connection came about: the name is unknown, nobody listens, or the way there is broken."""


class NetworkConnectTimeoutError(NetworkConnectError, NetworkTimeoutError):
    """No connection came about in time; lookup, proxy and TLS are part of it."""


class NetworkProxyError(NetworkConnectError):
    """The proxy is not there, does not let us pass, or is no proxy."""


class NetworkTlsError(NetworkConnectError):
    """The other side could not prove who it is."""


class NetworkTooLargeError(NetworkError):
    """An answer is larger than the asker takes."""


class NetworkDecodingError(NetworkError):
    """An answer's body is packed in a way that cannot be unpacked."""


class LaneRefusedError(NetworkError):
    """A URL is ambiguous, or would leave or enter the house against the rules."""


class SandboxError(ApplianceError):
    """There is no sandbox to run a program in, or it has gone."""


class StoreError(ApplianceError):
    """The store could not read or write."""


class NewerStoreError(StoreError):
    """The store was written by a newer version of this program."""


class NoChatError(StoreError):
    """There is no such chat."""


class ChatSealedError(StoreError):
    """A private chat is locked: its words can be neither read nor added to."""


class NoPassphraseError(StoreError):
    """Private chats need a passphrase, and the owner has not set one yet."""


class WrongPassphraseError(StoreError):
    """This is not the passphrase of the private chats."""


class PictureError(ApplianceError, ValueError):
    """A picture cannot be read, is too large, or is not there. Plugins know it as ``ImageError``."""


class TurnDroppedError(ApplianceError):
    """An uncommitted turn was thrown away; nothing of it may remain."""
