"""PyTorch Lightning on a data service: a run that ends in the middle of an epoch goes on with the very next batch.

    python -m examples.lightning_trainer      in the trainer's own process
    python -m examples.lightning_trainer 2    with two worker processes of the loader

1. The loader is torchdata's ``StatefulDataLoader``: Lightning keeps its state in every checkpoint.
2. ``length`` is given. Of a loader without a length Lightning fetches one batch ahead, which would be lost.
3. ``use_distributed_sampler=False``: the service divides the data among processes, by ``consumer_index``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torchdata.stateful_dataloader import StatefulDataLoader

from examples.story import BATCH, CHECKPOINT_EVERY, EPOCHS, SAMPLES, Log, batches, compare
from tfsvc.torch import IterableDataset
from tfsvc.trainers import consumer_from_environment


class Regression(lightning.LightningModule):  # type: ignore[misc]
    """A linear model."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 1, bias=False)
        self.steps = log

    def training_step(self, batch: dict[str, Any], batch_index: int) -> Any:
        self.steps.write(self.global_step, batch["number"].tolist())
        return torch.nn.functional.mse_loss(self.layer(batch["x"]).squeeze(1), batch["y"])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.05)


def train(target: str, folder: Path, steps: int = -1, workers: int = 0) -> torch.Tensor:
    """Trains for all epochs, or up to a number of steps; goes on from the last checkpoint. Gives the weights."""
    me = consumer_from_environment(os.environ)
    data = IterableDataset(batches(target, me), length=SAMPLES // BATCH // me.count)
    loader = StatefulDataLoader(data, batch_size=None, num_workers=workers)
    torch.manual_seed(0)
    model = Regression(Log(folder))
    keep = ModelCheckpoint(folder, every_n_train_steps=CHECKPOINT_EVERY, save_last=True, save_top_k=-1)
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        max_steps=steps,
        callbacks=[keep],
        use_distributed_sampler=False,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    last = folder / "last.ckpt"
    trainer.fit(model, loader, ckpt_path=last if last.exists() else None)
    return model.layer.weight.detach()


if __name__ == "__main__":
    sys.exit(compare(train, *map(int, sys.argv[1:])))
