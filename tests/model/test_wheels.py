from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.model.sources import packaged_file, packaged_model

PARTS = ["fake-part-001", "fake-part-002", "fake-part-003"]


def install(site: Path, package: str, file: str, content: bytes) -> None:
    """What pip leaves of a wheel: the file, and a RECORD that names it."""
    (site / file).parent.mkdir(parents=True, exist_ok=True)
    (site / file).write_bytes(content)
    info = site / f"{package.replace('-', '_')}-0.0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n")
    (info / "RECORD").write_text(f"{file},,\n")


def model_zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("some-model/modules.json", "[]")
        archive.writestr("some-model/model.safetensors", bytes(range(256)) * 40)
    return content.getvalue()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install_parts(site: Path, content: bytes) -> None:
    third = len(content) // 3
    # Installed in another order than they are joined in.
    for i in (2, 0, 1):
        piece = content[i * third : (i + 1) * third] if i < 2 else content[2 * third :]
        install(site, PARTS[i], f"fake-part_{i}/input/some-model.zip.{i + 1:03}", piece)


def test_one_package_holds_the_folder(site: Path, tmp_path: Path) -> None:
    """The folder is found through the package's file list, though its name is no module name, and nothing is written."""
    install(site, "fake-model", "fake-model.data/model/modules.json", b"[]")

    assert packaged_model(["fake-model"], "m", tmp_path / "cache") == site / "fake-model.data/model"
    assert not (tmp_path / "cache").exists()


def test_a_missing_package_or_file_is_none(site: Path, tmp_path: Path) -> None:
    """A package that isn't installed, lacks the file, or whose file was deleted, gives None."""
    install(site, "fake-model", "fake/model/modules.json", b"[]")

    assert packaged_file("fake-model", "other.json") is None
    assert packaged_file("no-such-package", "modules.json") is None
    (site / "fake/model/modules.json").unlink()
    assert packaged_model(["fake-model"], "m", tmp_path) is None


def test_parts_are_joined_once(site: Path, tmp_path: Path) -> None:
    """The parts in the order of their numbers make the model; the second time its folder is used as it is."""
    install_parts(site, model_zip())
    folder = packaged_model(PARTS, "m", tmp_path / "cache")

    assert folder is not None
    assert (folder / "model.safetensors").read_bytes() == bytes(range(256)) * 40
    date = folder.stat().st_mtime_ns
    assert packaged_model(PARTS, "m", tmp_path / "cache") == folder
    assert folder.stat().st_mtime_ns == date
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_missing_part_is_none(site: Path, tmp_path: Path) -> None:
    """Four of five packages are no model."""
    install_parts(site, model_zip())

    assert packaged_model([*PARTS, "fake-part-004"], "m", tmp_path) is None


def test_damaged_parts_leave_nothing(site: Path, tmp_path: Path) -> None:
    """Parts that make no zip file are one sentence, and no half folder stays to be taken for a model."""
    install_parts(site, model_zip()[:-30])

    with pytest.raises(ModelError, match="could not be unpacked from its 3 packages") as caught:
        packaged_model(PARTS, "m", tmp_path / "cache")
    assert caught.value.model == "m"
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_zip_without_a_model(site: Path, tmp_path: Path) -> None:
    """A sound zip file without modules.json says so."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("readme.txt", "x" * 999)
    install_parts(site, content.getvalue())

    with pytest.raises(ModelError, match=r"holds no modules\.json"):
        packaged_model(PARTS, "m", tmp_path / "cache")


def test_two_processes_join_at_once(site: Path, tmp_path: Path) -> None:
    """Both end with the same complete folder, whoever was first."""
    install_parts(site, model_zip())
    code = f"""
import sys; sys.path.insert(0, {str(site)!r})
from pathlib import Path
from harness.model.sources import packaged_model
sys.stdin.readline()
print(packaged_model({PARTS!r}, "m", Path({str(tmp_path / "cache")!r})))
"""
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    folders = {process.communicate()[0].strip() for process in both}

    assert len(folders) == 1
    assert (Path(folders.pop()) / "model.safetensors").stat().st_size == 256 * 40
    assert [path.name for path in (tmp_path / "cache" / "models").iterdir()] == ["some-model-0.0.1"]


def test_a_writer_that_came_second_uses_the_first_ones_folder(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that appears while another process unpacks is kept, and the late copy is dropped."""
    install_parts(site, model_zip())
    real = zipfile.ZipFile.extract

    def extract_late(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> str:
        other = tmp_path / "cache/models/some-model-0.0.1"
        other.mkdir(exist_ok=True)
        (other / "modules.json").write_text("[1]")
        return real(archive, member, target)

    monkeypatch.setattr(zipfile.ZipFile, "extract", extract_late)
    folder = packaged_model(PARTS, "m", tmp_path / "cache")

    assert folder is not None
    assert (folder / "modules.json").read_text() == "[1]"
    assert len(list(folder.parent.iterdir())) == 1
