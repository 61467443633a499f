import shutil

import pytest

from knowledge_svc.domain.errors import IndexModelMismatch
from knowledge_svc.domain.fusion import RRF_K
from knowledge_svc.domain.model import ChunkFilter
from knowledge_svc.domain.search import SearchMode, SearchQuery
from knowledge_svc.index.namespaces import Indexes
from services.errors import DataLoss
from tests.house_fixtures import SCOPE, open_house

SECTIONS = "# Pumps\n\nThe night pump starts at ten.\n\nThe night pump stops at six.\n\n# Valves\n\nThe night valve opens at ten.\n"


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path) as opened:
        yield opened


def search(house, text, **more):
    return house.searcher.search(SearchQuery(SCOPE, text, **more))


def test_l_sreq_03_a_chunk_every_leg_finds_first_has_the_sum_of_their_ranks(house):
    house.write("doc:a", "the quokka sleeps")
    house.write("doc:b", "copper conducts heat")
    best = search(house, "quokka sleeps").hits[0]
    assert best.row.source_uri == "doc:a"
    assert [(leg.leg, leg.rank) for leg in best.legs] == [("vector", 1), ("lexical", 1)]
    assert best.score == pytest.approx(2 / (RRF_K + 1))


def test_l_sreq_04_the_lexical_weight_scales_its_leg(house):
    house.write("doc:a", "the quokka sleeps")
    assert search(house, "quokka", lexical_weight=0.0).hits[0].score == pytest.approx(1 / (RRF_K + 1))
    assert search(house, "quokka", lexical_weight=3.0).hits[0].score == pytest.approx(4 / (RRF_K + 1))


def test_l_hit_03_a_single_leg_gives_its_own_score(house):
    house.write("doc:a", "the quokka sleeps")
    semantic = search(house, "quokka", mode=SearchMode.SEMANTIC).hits[0]
    assert semantic.score == pytest.approx(semantic.similarity, abs=1e-6)
    assert semantic.lexical_score is None
    lexical = search(house, "quokka", mode=SearchMode.LEXICAL).hits[0]
    assert lexical.score == lexical.lexical_score
    assert lexical.similarity is None


def test_l_sreq_11_hits_of_a_section_fold_into_the_best_of_them(tmp_path):
    from knowledge_svc.domain.chunking import ChunkSettings

    with open_house(tmp_path, chunks=ChunkSettings(40, 30)) as house:
        house.write("doc:a", SECTIONS)
        folded = search(house, "night pump", top_k=10).hits
        assert [hit.row.chunk.section_path for hit in folded] == [("Pumps",), ("Valves",)]
        every = search(house, "night pump", top_k=10, collapse_sections=False).hits
        assert sum(hit.siblings_folded + 1 for hit in folded) == len(every) > 2


def test_l_sreq_06_to_10_filters_hold_inside_the_legs(house):
    for number in range(60):
        house.write(f"a/{number}", f"the night pump number {number}", tags=("odd" if number % 2 else "even",))
    house.write("b/1", "a night far away from any machine, the moon over hills and a single pump", tags=("rare",))
    for mode in SearchMode:
        assert [
            hit.row.source_uri for hit in search(house, "night pump", mode=mode, selection=ChunkFilter(tags=("rare",))).hits
        ] == ["b/1"]
        prefixed = search(house, "night pump", mode=mode, selection=ChunkFilter(uri_prefixes=("b/",)), top_k=3).hits
        assert [hit.row.source_uri for hit in prefixed] == ["b/1"]
    assert len(search(house, "night pump", selection=ChunkFilter(tags=("odd",)), top_k=100).hits) == 30
    assert search(house, "night pump", selection=ChunkFilter(formats=("pdf",))).hits == ()
    assert len(search(house, "night pump", selection=ChunkFilter(formats=("",)), top_k=100).hits) == 61
    assert search(house, "night pump", selection=ChunkFilter(block_types=("paragraph",))).hits == ()


def test_h36_user_text_is_never_a_query_language(house):
    house.write("doc:1", "Fit part VALVE-B07 to the north line.")
    house.write("doc:2", "Order MS31-220 seals.")
    for text in ("VALVE-B07", "B07", "valve b07"):
        assert house.find(text, mode=SearchMode.LEXICAL)[0] == "doc:1", text
    for text in ("MS31-220", "ms31"):
        assert house.find(text, mode=SearchMode.LEXICAL)[0] == "doc:2", text
    for text in ("don't panic", "a-b", "foo(", "*", "foo:bar", '"', "AND OR NOT", "\\", "\x00"):
        house.find(text)


def test_l_sreq_16_a_damaged_lexical_leg_leaves_the_others_to_answer(house, monkeypatch):
    house.write("doc:a", "the quokka sleeps")

    def damaged(*_, **__):
        raise DataLoss("the lexical index is damaged")

    monkeypatch.setattr("knowledge_svc.index.snapshot.NamespaceSnapshot.lexical", damaged)
    result = search(house, "quokka")
    assert [hit.row.source_uri for hit in result.hits] == ["doc:a"]
    assert result.degraded == ("lexical",)
    with pytest.raises(DataLoss):
        search(house, "quokka", mode=SearchMode.LEXICAL)


def test_an_empty_namespace_answers_with_nothing(house):
    assert search(house, "anything").hits == ()


def test_vectors_of_another_model_are_refused_even_where_the_index_is_gone(tmp_path):
    with open_house(tmp_path) as house:
        house.write("doc:a", "the quokka sleeps")
    shutil.rmtree(tmp_path / "index")
    with open_house(tmp_path) as house:
        other = Indexes(tmp_path / "other", store=house.store, model="other@1", dimension=house.embedder.dimension)
        with pytest.raises(IndexModelMismatch) as caught, other.snapshot(SCOPE):
            pass
        assert "words@1" in caught.value.message
        with pytest.raises(IndexModelMismatch):
            other.rebuild(SCOPE)
        other.close()
        assert house.find("quokka") == ["doc:a"]
