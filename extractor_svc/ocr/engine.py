"""The two networks that find and read text: one of each in a process, started when they are first asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from extractor_svc.ocr.values import Pixels

_PACKAGE: Final = "rapidocr"
_DETECTION: Final = "PP-OCRv6_det_small.onnx"
_RECOGNITION: Final = "PP-OCRv6_rec_small.onnx"
_SILENT: Final = 4
_MIDDLE: Final = 127.5
_NO_TELEMETRY: Final = "ORT_DISABLE_TELEMETRY"
_NO_MEMORY: Final = "bad_alloc"


def text_probability(pixels: Pixels) -> npt.NDArray[np.float32]:
    """For each pixel how likely it belongs to a line of text, from 0 to 1; both sides must be multiples of 32."""
    found: npt.NDArray[np.float32] = _engine().run(_engine().detection, pixels)[0, 0]
    return found


def letter_probability(strip: Pixels) -> npt.NDArray[np.float32]:
    """For each column of a line 48 pixels high, eight pixels wide, how likely it is each of `alphabet`."""
    found: npt.NDArray[np.float32] = _engine().run(_engine().recognition, strip)[0]
    return found


def alphabet() -> tuple[str, ...]:
    """What a column can be; the first is nothing."""
    return _engine().alphabet


@dataclass(frozen=True, slots=True)
class _Engine:
    detection: Any  # sessions of the inference engine, which has no types
    recognition: Any
    alphabet: tuple[str, ...]

    def run(self, session: Any, pixels: Pixels) -> Any:  # the same
        """What a network makes of a picture; it was trained on blue, green and red around zero."""
        values = pixels[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32)
        with _memory_faults():
            return session.run(None, {session.get_inputs()[0].name: values / np.float32(_MIDDLE) - np.float32(1)})[0]


@contextmanager
def _memory_faults() -> Iterator[None]:
    """Tells a lack of memory, which the inference engine reports as one of its own errors, from faults."""
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, RuntimeException

    try:
        yield
    except (Fail, RuntimeException) as error:
        if _NO_MEMORY in str(error):
            raise MemoryError("the network has no memory left") from error
        raise


@cache
def _engine() -> _Engine:
    os.environ[_NO_TELEMETRY] = "1"  # read when the inference engine is loaded, which else writes to its user's folder and reports
    import cv2
    import onnxruntime

    cv2.setNumThreads(1)
    onnxruntime.set_default_logger_severity(_SILENT)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # there is a child for each core, and one order of sums
    options.enable_cpu_mem_arena = False  # memory goes back after each picture
    options.log_severity_level = _SILENT
    folder = _model_folder()
    with _memory_faults():
        detection, recognition = (
            onnxruntime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
            for name in (_DETECTION, _RECOGNITION)
        )
    letters = recognition.get_modelmeta().custom_metadata_map["character"].splitlines()
    return _Engine(detection, recognition, ("", *letters, " "))


def _model_folder() -> Path:
    """Where the package keeps its models; it is found, not imported, for its own code looks for them on the network."""
    spec = find_spec(_PACKAGE)
    places = (spec.submodule_search_locations if spec else None) or ()
    for place in places:
        if (Path(place) / "models" / _RECOGNITION).is_file():
            return Path(place) / "models"
    raise ModuleNotFoundError(f"the models of {_PACKAGE} are not installed")
