"""What names say of formats here and in the extractor."""

import pytest

from extractor_svc.refused_types import REFUSED
from extractor_svc.sniff import FORMATS
from knowledge_svc.domain.errors import UnsupportedFile
from knowledge_svc.domain.file_names import FORMAT_BY_EXTENSION, FORMAT_BY_MEDIA_TYPE, SAVE_AS, named_format


def test_names_and_media_types_say_what_they_say_to_the_extractor():
    assert {extension: known.id for known in FORMATS for extension in known.extensions} == FORMAT_BY_EXTENSION
    said = {media_type.lower(): known.id for known in FORMATS for media_type in known.media_types}
    assert said == FORMAT_BY_MEDIA_TYPE | {"text/plain": "text"}


def test_l_upl_06_legacy_names_are_refused_as_the_extractor_refuses_them():
    assert {extension: f"save it as {target}" for extension, target in SAVE_AS.items()}.items() <= REFUSED.items()


@pytest.mark.parametrize(
    ("filename", "content_type", "named"),
    [
        ("Plan.XLSM", "", "xlsx"),
        ("scan.webp", "", "image"),
        ("notes", "text/markdown; charset=utf-8", "markdown"),
        ("talk", "application/vnd.ms-powerpoint.presentation.macroEnabled.12", "pptx"),
        ("notes", "text/plain", ""),
        ("notes.odt", "application/pdf", "pdf"),
    ],
)
def test_a_name_says_the_format_and_else_the_media_type(filename, content_type, named):
    assert named_format(filename, content_type) == named


@pytest.mark.parametrize("filename", ["a.doc", "b.XLS", "c.ppt"])
def test_l_upl_06_a_legacy_name_is_refused_with_what_to_do(filename):
    with pytest.raises(UnsupportedFile, match="save the file as"):
        named_format(filename)
