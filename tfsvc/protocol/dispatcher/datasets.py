"""Datasets: registered once, read by many."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.entities import Dataset
from tfsvc.protocol.dispatcher.turn import Turn, invalid, not_found


def register(turn: Turn, request: m.GetOrRegisterDatasetRequest) -> m.GetOrRegisterDatasetResponse | RpcError:
    """A new dataset, or the one that has the requested id already, which must look the same."""
    if request.dataset_id:
        known = turn.state.datasets.get(request.dataset_id)
        if known is not None:
            mismatch = _difference(known.metadata, request.metadata)
            if mismatch:
                return invalid(
                    f"Datasets with the same ID should have the same structure, got diff for dataset id "
                    f"{request.dataset_id}: {mismatch}. Register the other dataset under an id of its own."
                )
            return m.GetOrRegisterDatasetResponse(known.id)
        dataset_id = request.dataset_id
    else:
        dataset_id = str(turn.state.next_dataset_id)
    turn.record(u.RegisterDataset(dataset_id, request.dataset, request.metadata))
    return m.GetOrRegisterDatasetResponse(dataset_id)


def _difference(known: m.DataServiceMetadata, got: m.DataServiceMetadata) -> str:
    pairs = (
        ("element_spec", known.element_spec or b"", got.element_spec or b""),
        ("compression", known.compression, got.compression),
        ("cardinality", known.cardinality, got.cardinality),
    )
    return "; ".join(f"{name} is {a!r}, got {b!r}" for name, a, b in pairs if a != b)


def definition(turn: Turn, request: m.GetDatasetDefRequest) -> m.GetDatasetDefResponse | RpcError:
    found = find(turn, request.dataset_id)
    return found if isinstance(found, RpcError) else m.GetDatasetDefResponse(found.definition)


def metadata(turn: Turn, request: m.GetDataServiceMetadataRequest) -> m.GetDataServiceMetadataResponse | RpcError:
    found = find(turn, request.dataset_id)
    return found if isinstance(found, RpcError) else m.GetDataServiceMetadataResponse(found.metadata)


def decide_compression(
    turn: Turn, request: m.DisableCompressionAtRuntimeRequest
) -> m.DisableCompressionAtRuntimeResponse | RpcError:
    """The first decision for a dataset stands."""
    found = find(turn, request.dataset_id)
    if isinstance(found, RpcError):
        return found
    if found.metadata.compression == m.Compression.OFF:
        return m.DisableCompressionAtRuntimeResponse(no_compression_to_disable=True)
    if found.compression_disabled is None:
        turn.record(u.DecideCompression(found.id, request.disable_compression_at_runtime))
    return m.DisableCompressionAtRuntimeResponse(compression_disabled_at_runtime=bool(found.compression_disabled))


def find(turn: Turn, dataset_id: str) -> Dataset | RpcError:
    found = turn.state.datasets.get(dataset_id)
    if found is None:
        return not_found(f"Dataset id {dataset_id} not found. Register the dataset with this dispatcher first.")
    return found
