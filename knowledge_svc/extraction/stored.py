"""Stored artifacts, read back for what is made of them again."""

from __future__ import annotations

from artifact.codec import ArtifactFault, load
from artifact.model import Artifact, Dataset
from knowledge_svc.domain.errors import DatasetNotFound, InvalidArtifact
from knowledge_svc.domain.ports import BlobStore


class StoredArtifacts:
    """The artifacts of a blob store."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def artifact(self, artifact_sha256: str) -> Artifact:
        """Returns a stored artifact.

        Raises:
            BlobGone: the artifact is not stored any more.
            InvalidArtifact: its bytes are not those of an artifact.
        """
        try:
            return load(self._blobs.read(artifact_sha256))
        except ArtifactFault as error:
            raise InvalidArtifact(f"the stored extraction does not hold: {error}", metadata={"field": error.field}) from error

    def dataset(self, artifact_sha256: str, dataset_id: str) -> Dataset:
        """Returns a dataset of a stored artifact.

        Raises:
            BlobGone: the artifact is not stored any more.
            InvalidArtifact: its bytes are not those of an artifact.
            DatasetNotFound: it has no such dataset.
        """
        for dataset in self.artifact(artifact_sha256).datasets:
            if dataset.id == dataset_id:
                return dataset
        raise DatasetNotFound(f"the stored extraction has no dataset {dataset_id}", metadata={"dataset_id": dataset_id})
