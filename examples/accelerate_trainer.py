"""Hugging Face Accelerate on a data service: ``save_state`` and ``load_state`` take the place in the data along.

    python -m examples.accelerate_trainer      in the trainer's own process
    python -m examples.accelerate_trainer 2    with two worker processes of the loader

1. The loader is torchdata's ``StatefulDataLoader``, registered for checkpointing.
2. It is not given to ``prepare``: the service divides the data among processes, by ``consumer_index``, and Accelerate
   would divide each part once more.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
from accelerate import Accelerator
from torchdata.stateful_dataloader import StatefulDataLoader

from examples.story import CHECKPOINT_EVERY, EPOCHS, Log, batches, compare
from tfsvc.torch import IterableDataset
from tfsvc.trainers import consumer_from_environment


class Progress:
    """How far the training is, for a checkpoint."""

    def __init__(self) -> None:
        self.step, self.epoch = 0, 0

    def state_dict(self) -> dict[str, int]:
        return {"step": self.step, "epoch": self.epoch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.step, self.epoch = state["step"], state["epoch"]


def train(target: str, folder: Path, steps: int = -1, workers: int = 0) -> torch.Tensor:
    """Trains for all epochs, or up to a number of steps; goes on from the last checkpoint. Gives the weights."""
    accelerator = Accelerator(cpu=True)
    data = IterableDataset(batches(target, consumer_from_environment(os.environ)))
    loader = StatefulDataLoader(data, batch_size=None, num_workers=workers)
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1, bias=False)
    model, optimizer = accelerator.prepare(layer, torch.optim.SGD(layer.parameters(), lr=0.05))
    progress, log = Progress(), Log(folder)
    accelerator.register_for_checkpointing(progress, loader)
    if (folder / "checkpoint").exists():
        accelerator.load_state(str(folder / "checkpoint"))
    while progress.epoch < EPOCHS:
        for batch in loader:
            log.write(progress.step, batch["number"].tolist())
            x, y = (batch[name].to(accelerator.device) for name in "xy")
            accelerator.backward(torch.nn.functional.mse_loss(model(x).squeeze(1), y))
            optimizer.step()
            optimizer.zero_grad()
            progress.step += 1
            if progress.step % CHECKPOINT_EVERY == 0:
                accelerator.save_state(str(folder / "checkpoint"))
            if progress.step == steps:
                return layer.weight.detach()
        progress.epoch += 1
    return layer.weight.detach()


if __name__ == "__main__":
    sys.exit(compare(train, *map(int, sys.argv[1:])))
