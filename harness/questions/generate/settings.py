"""The settings under ``generator``, checked before a document is read or a call is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.errors import SettingError

_MOST_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What ``conf/command/generate.yaml`` explains. Raises ``SettingError`` for a value that is not allowed."""

    n: int
    model: str
    max_overlap: float
    seed: int
    weights: str | None
    concurrency: int
    batch: bool
    poll: float
    budget_usd: float | None
    price_in: float | None
    price_out: float | None
    max_tokens: int
    timeout: float
    retries: int
    base_url: str | None

    def __post_init__(self) -> None:
        self._whole("n", "the number of questions", 1)
        self._whole("seed", "a whole number", 0)
        self._whole("concurrency", "a number of calls", 1, _MOST_AT_ONCE)
        self._whole("max_tokens", "a number of tokens", 100, 8192)
        self._whole("retries", "a number of tries", 0, 100)
        self._number("max_overlap", "a share", 0.0, 1.0)
        self._number("poll", "a number of seconds", 0.0, 3600.0)
        self._number("timeout", "a number of seconds", 0.001, 3600.0)
        for name in ("budget_usd", "price_in", "price_out"):
            if getattr(self, name) is not None:
                self._number(name, "a number of dollars", 0.0, 1e6)
        if not isinstance(self.batch, bool):
            self._refuse("batch", "true or false")
        if not isinstance(self.model, str) or not self.model.strip():
            self._refuse("model", "the name of a model, such as claude-haiku-4-5")
        for name in ("weights", "base_url"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                self._refuse(name, "a text, or null")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            self._refuse("base_url", "an address that begins with http:// or https://")

    def _whole(self, name: str, what: str, smallest: int, largest: int | None = None) -> None:
        value = getattr(self, name)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or value < smallest or (largest is not None and value > largest):
            until = f"from {smallest} to {largest}" if largest is not None else f"of at least {smallest}"
            self._refuse(name, f"{what}, {until}")

    def _number(self, name: str, what: str, smallest: float, largest: float) -> None:
        value = getattr(self, name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not smallest <= value <= largest:
            self._refuse(name, f"{what} from {smallest:g} to {largest:g}")

    def _refuse(self, name: str, allowed: str) -> None:
        value: Any = getattr(self, name)
        shown = "empty" if value in {None, ""} else value
        raise SettingError(f"generator.{name} is {shown}; it must be {allowed}.", key=f"generator.{name}")
