"""A cluster as a dispatcher would describe it, with names of any kind and as many workers as one likes."""

from __future__ import annotations

from tfsvc.protocol.messages import description as d
from tfsvc.protocol.messages.chronicle import GetChronicleResponse, Happening, JobTotal, Recent, Sample

S = 1_000_000_000
HOSTILE = "</script><img src=x onerror='window.hit=1'><!--<script>window.hit=1</script>"


def cluster(name: str = "", workers: int = 2) -> d.Description:
    """Two readers of two jobs; the second worker is silent, and one lane has moved away from it."""

    def worker(number: int) -> d.WorkerDescription:
        silent = number == 2
        address = f"w{number}:1" if not name or number != 1 else f"w1:1{name}"
        return d.WorkerDescription(
            address=address,
            incarnation=1,
            native=True,
            state="silent" if silent else "live",
            tags=("gpu",) if not name else (name,),
            silent_ns=12 * S if silent else S // 2,
            interval_ns=S,
            tasks=1,
            lanes=0 if silent else 2,
            leased=0 if silent else 40,
        )

    # One more than two are live, where the first two are the story's own.
    numbers = [1, 2, *range(3, workers + 1)] if workers > 2 else [1, 2, 3]
    found = tuple(worker(number) for number in numbers[: max(workers, 3)])
    train = name or "train"
    return d.Description(
        incarnation=1,
        up_ns=500 * S,
        deployment_mode="UNSPECIFIED",
        recommended_workers=5,
        census=d.Census(len(found), 1, 2, 2, 3, 2, 2, 1),
        tally=d.Tally(9, 400, 1, 40, 1, 0, 6000, 48_000, 17, 0, 90 * S),
        workers=found,
        datasets=(d.DatasetDescription("1000", True, 3000, 1, 3000, f"range(stop=3000)\nmap(function={train})"),),
        jobs=(
            d.JobDescription(5000, train, False, "1000", "DYNAMIC", "independent", "EXACTLY_ONCE", "AUTO"),
            d.JobDescription(5001, "anonymous_job_5001_7", True, "1000", "OFF", "cached", "EXACTLY_ONCE", "AUTO"),
        ),
        iterations=(
            d.IterationDescription(
                2000, 5000, 0, readers=1, tasks=2, lanes=2, splits=1500, splits_again=40, recommended=5,
                processing_time_nsec=2.5e6, target_processing_time_nsec=4e5,
            ),
            d.IterationDescription(2001, 5001, 3, readers=1, tasks=1),
        ),
        tasks=(
            d.TaskDescription(4000, 2000, "w1:1", 0, "running", 2.5e6),
            d.TaskDescription(4001, 2000, "w2:1", 0, "running"),
            d.TaskDescription(4002, 2001, "w1:1", 0, "running", 1e6),
        ),
        lanes=(
            d.LaneDescription(6000, 2000, 4000, 3001, "w1:1", attempt=1, taken=700, leased=20),
            d.LaneDescription(6001, 2000, 4000, 3001, "w1:1", attempt=2, taken=650, leased=20),
        ),
        readers=(
            d.ReaderDescription(3000, 2001, True, S, consumption=d.Consumption(3000, 24_000, 2 * S, 100 * S)),
            d.ReaderDescription(3001, 2000, True, S, 0, 2, d.Consumption(1350, 10_800, 60 * S, 90 * S, 17)),
        ),
        snapshots=(d.SnapshotDescription(f"/data/{name}", "writing", "", 2, 1, 7, 900, 300, 1000),),
    )  # fmt: skip


def course(name: str = "") -> GetChronicleResponse:
    """Eight minutes, in which a worker was lost and a pass came to its end."""
    job = f"job {name or 'train'}"
    told = (
        (480, "worker", "worker w1:1 is here"),
        (479, "worker", "worker w2:1 is here"),
        (470, "pass", f"pass 0 over {job} begins"),
        (470, "reader", f"reader 3001 of {job} is here"),
        (200, "warning", "worker w2:1 missed its heartbeats; its leased splits go to others"),
        (200, "moved", f"1 lane of {job} goes from worker w2:1 to worker w1:1, with 40 splits not all taken"),
        (198, "again", f"17 elements came again to reader 3001 of {job} and were passed over"),
        (140, "lost", "worker w2:1 is given up"),
        (9, "end", f"pass 0 over {job} was read to its end: 3,000 elements taken, nothing lost"),
    )
    speeds = [0] * 3 + [400] * 50 + [220] * 43
    elements = [sum(speeds[:i]) * 5 for i in range(97)]
    waited = [5 * i * S // 2 for i in range(97)]
    return GetChronicleResponse(
        tuple(Happening(i, ago * S, kind, text) for i, (ago, kind, text) in enumerate(told, 1)),
        tuple(
            Sample(
                (480 - 5 * i) * S, min(i, 2), 2, elements[i], elements[i] * 8, waited[i], 17 * (i > 56), 40 * (i > 56)
            )
            for i in range(97)
        ),
        (Recent(3000, 60 * S, 1800, 14_400, S), Recent(3001, 60 * S, 600, 4800, 372 * S // 10)),
        (JobTotal(name or "train", d.Consumption(1350)), JobTotal("", d.Consumption(3000))),
    )
