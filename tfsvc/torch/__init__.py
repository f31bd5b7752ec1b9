"""PyTorch: a dataset for ``torch.utils.data.DataLoader``. Needs PyTorch: ``pip install 'tfsvc[torch]'``.

A job of a data service becomes tensors in five lines::

    service = tf.data.experimental.service
    dataset = dataset.batch(32).apply(service.distribute("distributed_epoch", target))
    loader = torch.utils.data.DataLoader(tfsvc.torch.IterableDataset(dataset), batch_size=None)
    for batch in loader:
        ...
"""

from tfsvc.torch.dataset import IterableDataset
from tfsvc.torch.tensors import to_tensors

__all__ = ["IterableDataset", "to_tensors"]
