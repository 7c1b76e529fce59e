"""A face that remembers what it was shown."""

from __future__ import annotations

from collections.abc import Callable

from appliance.events import Emotion
from appliance.ports import ALL_FACE_PARTS, FacePart, FaceState


class FakeFace:
    """A FaceBackend without a device. ``shown`` is every pose; ``fail_next`` makes the next ones raise."""

    def __init__(self, name: str = "fake") -> None:
        self._name = name
        self.shown: list[FaceState] = []
        self.fail_next = 0
        #: Called after each pose, on the thread that showed it.
        self.on_shown: Callable[[], object] = lambda: None
        self.is_parked = False
        self.is_closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def parts(self) -> frozenset[FacePart]:
        return ALL_FACE_PARTS

    @property
    def poses_per_second(self) -> float:
        return 50.0

    @property
    def emotions(self) -> list[Emotion]:
        """The moods in the order they were shown, without repeats."""
        moods: list[Emotion] = []
        for state in self.shown:
            if not moods or moods[-1] is not state.emotion:
                moods.append(state.emotion)
        return moods

    def apply(self, state: FaceState) -> None:
        if self.fail_next:
            self.fail_next -= 1
            raise OSError("the face is unplugged")
        self.shown.append(state)
        self.on_shown()

    def park(self) -> None:
        self.is_parked = True

    def close(self) -> None:
        self.is_closed = True


class FakeScreen(FakeFace):
    """A FakeFace that is a PictureScreen too; ``pictures`` is what it was given."""

    def __init__(self, name: str = "screen") -> None:
        super().__init__(name)
        self.pictures: list[bytes] = []

    def show_picture(self, data: bytes) -> None:
        self.pictures.append(data)
