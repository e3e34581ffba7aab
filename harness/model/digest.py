"""Hashes of weights, for models."""

from __future__ import annotations

from harness.digest import file_sha256

__all__ = ["file_sha256"]
