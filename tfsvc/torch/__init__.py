"""PyTorch: a dataset for ``torch.utils.data.DataLoader``. Needs PyTorch: ``pip install 'tfsvc[torch]'``.

A job of a data service becomes tensors::

    dataset = dataset.batch(32).apply(tf.data.experimental.service.distribute("distributed_epoch", target))
    for batch in torch.utils.data.DataLoader(tfsvc.torch.IterableDataset(dataset), batch_size=None):
        ...
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("tfsvc.torch needs PyTorch, which is not installed here; pip install 'tfsvc[torch]'") from error

from tfsvc.torch.dataset import IterableDataset
from tfsvc.torch.tensors import to_tensors

__all__ = ["IterableDataset", "to_tensors"]
