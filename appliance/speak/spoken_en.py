"""How English text sounds: all rules in their order.

Formulas come first, since braces are markup to the others; addresses before numbers, since they hold numbers; dates and
times before measures, which would take "5 m" out of "5 May".
"""

from __future__ import annotations

from appliance.speak import spoken_contacts, spoken_maths, spoken_numbers, spoken_times, spoken_words
from appliance.speak.rules import Rule
from appliance.speak.spoken_machine import ENGLISH, machine_rules

RULES: tuple[Rule, ...] = (
    *spoken_maths.LATEX,
    *machine_rules(ENGLISH),
    *spoken_times.RULES,
    *spoken_contacts.RULES,
    *spoken_numbers.RULES,
    *spoken_words.RULES,
)
