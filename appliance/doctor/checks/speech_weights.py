"""Whether the speech weights are here and whole."""

from __future__ import annotations

from pathlib import Path

from appliance import models
from appliance.doctor.finding import Finding, as_sentence, failed, fine, wrong
from appliance.errors import WeightsError


def speech_weights(folder: Path, wanted: dict[str, str]) -> Finding:
    """Each of ``wanted``: names of weights, with the owner's own path to them or ""."""
    try:
        for name, own_path in wanted.items():
            models.locate(name, folder, own_path)
    except WeightsError as error:
        return failed(error)
    damaged = [problem for name, own in wanted.items() if not own for problem in models.verify(name, folder)]
    if damaged:
        return wrong(as_sentence(damaged[0]), "Bring them again: appliance models fetch NAME")
    return fine(f"The speech weights are whole: {', '.join(wanted)}.")


def turn_weights(folder: Path) -> Finding:
    """What tells whether a person has finished, without which a timer does."""
    damaged = models.verify(models.TURN_DETECTOR, folder)
    if damaged:
        return wrong(
            f"{as_sentence(damaged[0].rpartition('; ')[0])} So a timer alone says when you have finished.",
            f"Bring them again: appliance models fetch {models.TURN_DETECTOR}",
        )
    return fine("The box can tell whether you have finished or only pause.")
