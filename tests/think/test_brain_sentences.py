from __future__ import annotations

from appliance import errors
from appliance.catalogue import Catalogue
from appliance.events import Outcome
from appliance.home import shipped


def test_every_failure_of_a_brain_and_every_outcome_has_its_sentence() -> None:
    catalogue = Catalogue.load(shipped("soul"), "en")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BrainError)]
    assert len(kinds) == 7
    for key in {kind.sentence_key for kind in kinds}:
        for sentence in catalogue.forms(key):
            assert sentence.endswith(".") and len(sentence) < 80
    for outcome in Outcome:
        assert "the lamp" in catalogue.say(f"brain.did_{outcome}", tool="the lamp")
