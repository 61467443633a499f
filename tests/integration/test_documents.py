from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from knowledge_svc.domain.chunking import ChunkSettings
from knowledge_svc.domain.documents import DocumentInput, request_key
from knowledge_svc.domain.errors import DocumentNotFound, IdempotencyConflict, RevisionConflict, SectionNotFound
from knowledge_svc.domain.model import Author, DocumentFilter, Scope
from knowledge_svc.domain.search import SearchMode
from services.errors import Cancelled, InvalidArgument
from tests.house_fixtures import ADA, SCOPE, open_house

GUIDE = "Intro words.\n\n# Setup\n\nInstall the pump.\n\n## Valves\n\nOpen valve seven.\n\n# Care\n\nOil it monthly.\n"


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path) as opened:
        yield opened


def test_l_model_05_revisions_are_numbered_from_one(house):
    assert [house.write("doc:a", text) for text in ("one", "two", "three")] == [1, 2, 3]
    document = house.documents.get(SCOPE, "doc:a")
    assert (document.revision, document.content) == (3, "three")


def test_l_model_06_an_earlier_revision_stays_readable(house):
    house.write("doc:a", "one")
    house.write("doc:a", "two")
    assert house.documents.get(SCOPE, "doc:a", revision=1).content == "one"


def test_l_add_04_an_upsert_replaces_and_the_earlier_text_stops_being_found(house):
    house.write("doc:a", "the quokka sleeps")
    house.write("doc:a", "the wombat digs")
    for mode in SearchMode:
        assert house.find("quokka", mode=mode) in ([], ["doc:a"])
        hits = house.find("wombat", mode=mode)
        assert hits == ["doc:a"]
    assert house.find("quokka", mode=SearchMode.LEXICAL) == []


def test_an_add_at_a_live_source_retires_what_was_there(house):
    first = house.documents.add(SCOPE, DocumentInput("doc:a", "old heron"), author=ADA)
    second = house.documents.add(SCOPE, DocumentInput("doc:a", "new heron"), author=ADA)
    assert (first.document.revision, second.document.revision) == (1, 2)
    assert first.document.doc_id == second.document.doc_id
    assert house.find("heron", collapse_sections=False) == ["doc:a"]


def test_the_same_text_again_writes_nothing(house):
    house.write("doc:a", "same words", title="T")
    again = house.documents.upsert(SCOPE, DocumentInput("doc:a", "same words", title="T"), author=ADA)
    assert (again.changed, again.document.revision) == (False, 1)
    retitled = house.documents.upsert(SCOPE, DocumentInput("doc:a", "same words", title="U"), author=ADA)
    assert (retitled.changed, retitled.document.revision) == (True, 2)


def test_h33_a_replaced_revision_leaves_nothing_behind(house):
    five = "".join(f"# S{n}\n\nsection {n} text {'quokka' if n == 5 else ''}\n\n" for n in range(1, 6))
    three = "# S1\n\nsection 1 text\n\n# S2\n\nsection two changed\n\n# S3\n\nsection 3 text\n\n"
    house.write("doc:d", five)
    house.write("doc:d", three)
    assert house.find("quokka", mode=SearchMode.LEXICAL) == []
    live, _ = house.store.live_chunk_ids(SCOPE)
    assert len(live) == 3
    again = house.documents.upsert(SCOPE, DocumentInput("doc:d", three), author=ADA)
    assert not again.changed
    assert len(house.store.live_chunk_ids(SCOPE)[0]) == 3


def test_l_add_05_06_duplicates_are_reported_and_never_block(house):
    house.write("doc:a", "shared words", title="T")
    twin = house.documents.upsert(SCOPE, DocumentInput("doc:b", "shared words", title="T"), author=ADA)
    assert (twin.duplicate_of_uri, twin.duplicate_chunk_count) == ("doc:a", 1)
    other = house.documents.upsert(SCOPE, DocumentInput("doc:c", "shared words", title="Other"), author=ADA)
    assert (other.duplicate_of_uri, other.duplicate_chunk_count) == ("", 1)


def test_l_add_14_the_same_text_by_someone_else_keeps_its_author(house):
    house.write("doc:a", "words", title="T")
    house.documents.upsert(SCOPE, DocumentInput("doc:a", "words", title="New"), author=Author("ben"))
    assert house.documents.get(SCOPE, "doc:a").author == ADA
    house.documents.upsert(SCOPE, DocumentInput("doc:a", "other words"), author=Author("ben"))
    assert house.documents.get(SCOPE, "doc:a").author == Author("ben")


def test_a_write_over_another_revision_than_expected_is_refused(house):
    house.write("doc:a", "one")
    with pytest.raises(RevisionConflict) as caught:
        house.documents.upsert(SCOPE, DocumentInput("doc:a", "two"), author=ADA, expected_revision=0)
    assert caught.value.metadata["revision"] == "1"
    assert house.documents.get(SCOPE, "doc:a").content == "one"
    assert house.documents.upsert(SCOPE, DocumentInput("doc:a", "two"), author=ADA, expected_revision=1).document.revision == 2


def test_the_same_request_id_gives_the_same_answer(house):
    key = request_key("dev/ada", "AddDocument", "r-1", b"body")
    first = house.documents.add(SCOPE, DocumentInput("doc:a", "one"), author=ADA, request=key)
    second = house.documents.add(SCOPE, DocumentInput("doc:a", "one"), author=ADA, request=key)
    assert (first.document.revision, second.document.revision) == (1, 1)
    with pytest.raises(IdempotencyConflict):
        house.documents.add(SCOPE, DocumentInput("doc:a", "x"), author=ADA, request=replace(key, body_sha256="0" * 64))


def test_an_answer_given_again_tells_the_same_duplicates(house):
    house.write("doc:a", "shared words", title="T")
    key = request_key("dev/ada", "UpsertDocument", "r-1", b"body")
    given = DocumentInput("doc:b", "shared words", title="T")
    first = house.documents.upsert(SCOPE, given, author=ADA, request=key)
    assert (first.duplicate_of_uri, first.duplicate_chunk_count) == ("doc:a", 1)
    assert house.documents.upsert(SCOPE, given, author=ADA, request=key) == first


def test_a_deletion_asked_for_twice_answers_the_same_though_the_document_came_back(house):
    house.write("doc:a", "one")
    key = request_key("dev/ada", "DeleteDocument", "r-1", b"body")
    house.documents.delete(SCOPE, "doc:a", request=key)
    house.write("doc:a", "two")
    document, retired = house.documents.delete(SCOPE, "doc:a", request=key)
    assert (document.revision, document.content, retired) == (1, "one", 1)
    assert house.documents.get(SCOPE, "doc:a").content == "two"


def test_writes_at_one_source_at_once_take_turns_and_none_is_refused(house):
    def add(number: int) -> int:
        return house.documents.add(SCOPE, DocumentInput("doc:a", f"heron {number}"), author=ADA).document.revision

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(add, range(16))) == list(range(1, 17))
    assert house.find("heron", collapse_sections=False) == ["doc:a"]


def test_the_same_request_sent_many_times_at_once_writes_one_revision(house):
    key = request_key("dev/ada", "AddDocument", "r-1", b"body")

    def add(_: int) -> int:
        return house.documents.add(SCOPE, DocumentInput("doc:a", "one"), author=ADA, request=key).document.revision

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(add, range(8))) == {1}
    assert house.documents.get(SCOPE, "doc:a").revision == 1


def test_a_write_that_nobody_waits_for_any_more_ends_and_writes_nothing(tmp_path):
    def gone() -> None:
        raise Cancelled("the caller went away")

    with open_house(tmp_path, check_wanted=gone) as house:
        with pytest.raises(Cancelled):
            house.write("doc:a", "one")
        with pytest.raises(DocumentNotFound):
            house.documents.get(SCOPE, "doc:a")


def test_a_document_with_nothing_to_find_is_refused(house):
    with pytest.raises(InvalidArgument):
        house.write("doc:a", "  \n")
    assert house.write("doc:a", "", title="Only a title") == 1
    assert house.find("title") == ["doc:a"]


def test_l_chunk_11_a_word_of_the_title_finds_a_section_that_never_says_it(house):
    house.write("doc:a", "Oil it monthly.", title="Pump manual")
    assert house.find("pump", mode=SearchMode.LEXICAL) == ["doc:a"]


def test_l_edit_07_a_deleted_document_is_not_found_and_stays_readable(house):
    house.write("doc:a", "the quokka sleeps")
    document, retired = house.documents.delete(SCOPE, "doc:a")
    assert (document.revision, retired) == (1, 1)
    assert house.find("quokka") == []
    with pytest.raises(DocumentNotFound):
        house.documents.get(SCOPE, "doc:a")
    assert house.documents.get(SCOPE, "doc:a", superseded=True).content == "the quokka sleeps"


def test_a_document_deleted_and_added_again_goes_on_counting_revisions(house):
    house.write("doc:a", "one")
    house.documents.delete(SCOPE, "doc:a")
    assert house.write("doc:a", "two") == 2


def test_l_model_03_a_namespace_sees_only_its_own(house):
    house.write("doc:a", "the quokka sleeps")
    other = Scope("dev", "other")
    with pytest.raises(DocumentNotFound):
        house.documents.get(other, "doc:a")
    assert house.documents.page(other, DocumentFilter(), after_uri="", limit=10) == []


def test_documents_are_listed_by_uri_and_filtered_by_prefix_and_tag(house):
    for uri, tags in (("x/2", ("b",)), ("x/1", ("a",)), ("y/1", ("a", "b"))):
        house.write(uri, f"text of {uri}", tags=tags)

    def listed(**selection) -> list[str]:
        rows = house.documents.page(SCOPE, DocumentFilter(**selection), after_uri="", limit=10)
        assert all(row.content == "" for row in rows)
        return [row.source_uri for row in rows]

    assert listed() == ["x/1", "x/2", "y/1"]
    assert listed(uri_prefixes=("x/",)) == ["x/1", "x/2"]
    assert listed(tags=("a",)) == ["x/1", "y/1"]
    assert listed(uri_prefixes=("x/",), tags=("a",)) == ["x/1"]


def test_l_read_01_an_outline_names_the_sections(house):
    house.write("doc:a", GUIDE)
    outline = house.documents.outline(SCOPE, "doc:a")
    assert [section.path for section in outline.sections] == [(), ("Setup",), ("Setup", "Valves"), ("Care",)]
    assert outline.structured
    assert outline.section_content is None


def test_l_read_02_03_an_outline_returns_a_sections_content(house):
    house.write("doc:a", GUIDE)
    own = house.documents.outline(SCOPE, "doc:a", section_path=["Setup"])
    assert own.section_content == "# Setup\n\nInstall the pump.\n\n"
    whole = house.documents.outline(SCOPE, "doc:a", section_path=["Setup"], include_children=True)
    assert whole.section_content == "# Setup\n\nInstall the pump.\n\n## Valves\n\nOpen valve seven.\n\n"
    with pytest.raises(SectionNotFound):
        house.documents.outline(SCOPE, "doc:a", section_path=["Nowhere"])


def test_l_read_04_a_document_without_headings_is_not_structured(house):
    house.write("doc:a", "plain words")
    assert not house.documents.outline(SCOPE, "doc:a").structured


def test_overlapping_windows_of_a_section_read_back_as_one_text(tmp_path):
    text = "# Long\n\n" + " ".join(f"word{n}" for n in range(400))
    with open_house(tmp_path, chunks=ChunkSettings(200, 150)) as house:
        house.write("doc:a", text)
        assert house.documents.outline(SCOPE, "doc:a", section_path=["Long"]).section_content == text


def test_l_ing_08_an_input_that_was_embedded_is_not_embedded_again(house):
    house.write("doc:a", GUIDE)
    before = len(house.embedder.embedded)
    house.write("doc:a", GUIDE + "\n# More\n\nNew words.\n")
    assert house.embedder.embedded[before:] == ["More\n\n# More\n\nNew words."]


def test_h34_deletes_and_restarts_never_shift_what_a_vector_belongs_to(tmp_path):
    sentences = {
        "doc:a": "Blue herons fish at dawn.",
        "doc:b": "Granite weathers slowly.",
        "doc:c": "The ferry leaves at noon.",
        "doc:d": "Copper conducts heat.",
    }
    with open_house(tmp_path) as house:
        for uri, text in sentences.items():
            house.write(uri, text)
        house.documents.delete(SCOPE, "doc:b")
        assert [house.find(sentences[uri])[0] for uri in ("doc:a", "doc:c", "doc:d")] == ["doc:a", "doc:c", "doc:d"]
    with open_house(tmp_path) as house:
        sentences["doc:e"] = "Pines drop their cones."
        house.write("doc:e", sentences["doc:e"])
        for uri in ("doc:a", "doc:c", "doc:d", "doc:e"):
            assert house.find(sentences[uri], mode=SearchMode.SEMANTIC)[0] == uri
        assert "doc:b" not in house.find(sentences["doc:b"], top_k=100)
        assert len(house.find("the", mode=SearchMode.SEMANTIC, top_k=100)) == 4
