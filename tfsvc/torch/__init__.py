"""PyTorch: a dataset for ``torch.utils.data.DataLoader``. Needs PyTorch: ``pip install 'tfsvc[torch]'``.

A job of a data service becomes tensors in five lines::

    service = tf.data.experimental.service
    dataset = dataset.batch(32).apply(service.distribute("distributed_epoch", target))
    loader = torch.utils.data.DataLoader(tfsvc.torch.IterableDataset(dataset), batch_size=None)
    for batch in loader:
        ...
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("tfsvc.torch needs PyTorch, which is not installed here; pip install 'tfsvc[torch]'") from error

from tfsvc.torch.dataset import IterableDataset
from tfsvc.torch.tensors import to_tensors

__all__ = ["IterableDataset", "to_tensors"]
