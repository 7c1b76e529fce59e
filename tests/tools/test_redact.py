"""Secrets stay out of what is stored about an error."""

from __future__ import annotations

import pytest

from appliance.tools.redact import redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("401 for https://me:hunter22@example.org/x", "hunter22"),
        ("GET /v1?api_key=abc123def&x=1 failed", "abc123def"),
        ("header Authorization: Bearer eyJhbGciOi.J9", "eyJhbGciOi"),
        ("{'token': 'tok-998877'}", "tok-998877"),
        ('{"password": "letmein!"}', "letmein!"),
        ("wrong key sk-proj-1234567890", "sk-proj-1234567890"),
        ("MY_SECRET=shhh99", "shhh99"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, secret: str) -> None:
    assert secret not in redacted(text)
    assert "[hidden]" in redacted(text)


def test_ordinary_errors_stay_readable() -> None:
    assert redacted("ValueError: no such town: Keyton (code 404)") == "ValueError: no such town: Keyton (code 404)"


def test_an_error_takes_one_short_line() -> None:
    text = redacted("a\nb\n" * 1000)
    assert "\n" not in text
    assert len(text) == 500
