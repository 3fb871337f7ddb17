#!/usr/bin/env python3
"""Writes the logs of a job of four ranks that hangs at its end, as text and as logs: job.py KIND FOLDER. Each rank
makes all-reduces on a communicator of all ranks (0xabc) and on one of its half (0xd0, 0xd1). KIND is what goes wrong."""
import os
import struct
import subprocess
import sys

S = 1_000_000_000
START = S
WORLD = 0xABC
SCHEMAS = """nvtx_schema id=2 domain=2 number=16777216 type=1 flags=0 bytes=0 pack_align=0 entries=4 name="init"
nvtx_schema_entry schema=2 index=0 flags=0 type=18 detail=0 offset=0 name="NCCL communicator ID"
nvtx_schema_entry schema=2 index=1 flags=0 type=5 detail=0 offset=0 name="No. of ranks"
nvtx_schema_entry schema=2 index=2 flags=0 type=5 detail=0 offset=0 name="Rank"
nvtx_schema_entry schema=2 index=3 flags=0 type=5 detail=0 offset=0 name="CUDA device"
nvtx_schema id=3 domain=2 number=16777221 type=1 flags=0 bytes=0 pack_align=0 entries=2 name="AllReduce"
nvtx_schema_entry schema=3 index=0 flags=0 type=18 detail=0 offset=0 name="NCCL communicator ID"
nvtx_schema_entry schema=3 index=1 flags=0 type=22 detail=0 offset=8 name="Message size [bytes]"
"""


class Log:
    def __init__(self, rank, nvtx):
        self.rank, self.host, self.nvtx = rank, "node0", nvtx  # nvtx: calls are known by NCCL's NVTX only
        self.texts, self.labels = {}, {}
        self.events, self.runs, self.joins, self.extra, self.samples = [], [], [], [], []
        self.calls = {}
        self.finished, self.backing, self.clock, self.page, self.facts = 0, 0, 40 * S, "", ""
        self.correlation = 100

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts) + 1)

    def label(self, text):
        return self.labels.setdefault(text, (len(self.labels) + 1, self.text(text.removeprefix("NCCL "))))[0]

    def range(self, name, at, length, payload):
        """a range of NCCL: what is between its two ends"""
        label = self.label("NCCL " + name)
        schema = 2 if len(payload) == 20 else 3
        data = "".join(f"\\x{byte:02x}" for byte in payload)
        return ([f'nvtx_payload time={START + at} schema={schema} data="{data}" bytes={len(payload)}',
                 f"nvtx_push time={START + at} label={label} payload_type=9"], [f"nvtx_pop time={START + at + length} domain=2"])

    def make(self, number, rank, ranks, at):
        if self.nvtx:
            self.calls[number] = [0, 0, rank, ranks]
            self.events += sum(self.range("ncclCommInitRank", at, 50_000, struct.pack("<QiiI", number, ranks, rank, 0)), [])
            return
        label = self.label(f"ncclCommInitRank(ranks={ranks}, rank={rank})")
        self.calls[number] = [0, 0, rank, ranks]
        self.events += [f"collective time={START + at} communicator={number} sequence=0 label={label}",
                        f"library_call end={START + at + 50_000} duration=50000 label={self.label('ncclCommInitRank()')}"]

    def call(self, number, at, name="ncclAllReduce", arguments="count=1024, type=fp32, op=sum", launched=True, finished=True,
             returned=True, skip=0):
        calls = self.calls[number]
        pair = "peer=" in arguments
        calls[pair] += 1 + skip
        text = f"{name}({arguments}, ranks={calls[3]}, rank={calls[2]})"
        flags = " flags=2" if pair else ""
        if self.nvtx:
            count = int(arguments[6:arguments.index(",")])
            begin, end = self.range(name, at, 30_000, struct.pack("<QQII", number, 4 * count, 0, 0))
            self.events += begin + [f"kernel_launch end={START + at + 20_000} duration=10000 config=1 stream=1 depth=0"] + end
            return
        self.events.append(f"collective time={START + at} communicator={number} sequence={calls[pair]} label={self.label(text)}{flags}")
        if launched:
            self.events.append(f"kernel_launch end={START + at + 20_000} duration=10000 config=1 stream=1 depth=0")
            if finished:
                self.correlation += 1
                self.runs.append(f"kernel_run start={START + at + 30_000} duration=5000 correlation={self.correlation} stream=1 kernel=1")
                self.joins.append(f"{START + at + 15_000}:{self.correlation}")
        if returned:
            self.events.append(f"library_call end={START + at + 30_000} duration=30000 label={self.label(text)}")

    def waits_in_file(self, since):
        file, function, reader = self.text("/app/data.py"), self.text("next_batch"), self.text("/data/part-7.tar")
        self.extra += [f"python_frame id=1 file={file} function={function} line=88 first_line=80", "stack id=1 generation=0 native=[] python=[3]",
                       f"host_sampling from={START} period_ns=100000000"]
        for at in range(since, self.clock, S):
            self.samples.append(f"host_sample time={START + at} thread=1 state=2 blocked_in=1 detail={reader} stack=1")

    def write(self, folder):
        kernel, library, nccl = self.text("ncclDevKernel_AllReduce"), self.text("library"), self.text("NCCL")
        lines = ["prof-log-text 1",
                 f"header pid={1000 + self.rank} clock=0 backing={self.backing} start_tick={START} start_monotonic_ns={START} "
                 "start_realtime_ns=1700000000000000000",
                 f"page finished={self.finished}{self.page}", "block definitions thread=1", f'meta key="host" value="{self.host}"',
                 f'meta key="rank" value="{self.rank}"']
        if self.facts:
            lines.append(self.facts)
        lines.append("gpu_clock base_tick=0 base_ns=0 multiplier=1 shift=0")
        lines += [f'string id={i} total_bytes={len(t)} offset=0 text="{t}"' for t, i in self.texts.items()]
        lines += ['api id=1 name="cuLaunchKernel"', f"function id=1 name={kernel} module=1 handle=4096 generation=0",
                  "config id=1 api=1 function=1 grid_x=2 grid_y=1 grid_z=1 block_x=512 block_y=1 block_z=1 shared_bytes=0 attributes=0",
                  'device ordinal=0 name="NVIDIA H200" uuid="00112233445566778899aabbccddee%02x"' % self.rank,
                  "context id=1 handle=140000 device=0 gpu_context=1", "stream id=1 context=1 handle=150000 type=2 gpu_stream=13 flags=1 priority=0",
                  "gpu_stream id=1 device=0 context=1 stream=13",
                  f"gpu_kernel id=1 name={kernel} grid_x=2 grid_y=1 grid_z=1 block_x=512 block_y=1 block_z=1 registers=96 "
                  "static_shared_bytes=0 dynamic_shared_bytes=0 local_bytes=0 launch_type=0",
                  f"nvtx_domain id=1 name={library}", f"nvtx_domain id=2 name={nccl}"]
        lines += [f"nvtx_label id={i} domain={1 + (name[:5] == 'NCCL ')} text={t} category=0 has_color=0 color=0"
                  for name, (i, t) in self.labels.items()]
        if self.nvtx:
            lines += SCHEMAS.splitlines()
        lines += self.extra
        lines += ["block events thread=1", f'thread thread=1 tid={1000 + self.rank} first_tick={START} name="train"'] + self.events
        lines.append(f"clock_anchor tick={START + self.clock} monotonic_ns={START + self.clock} realtime_ns={1700000000000000000 + self.clock}")
        lines += ["block events thread=2", f'thread thread=2 tid={2000 + self.rank} first_tick={START} name="cupti"'] + self.runs + self.samples
        if self.joins:
            lines.append(f"driver_calls tid={1000 + self.rank} calls=[{' '.join(self.joins)}]")
        path = os.path.join(folder, f"rank{self.rank}")
        with open(path + ".txt", "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        subprocess.run([os.environ["UNDUMP"], path + ".txt", path + ".plog"], check=True)
        os.unlink(path + ".txt")


def main(kind, folder):
    os.makedirs(folder, exist_ok=True)
    for rank in range(4):
        log = Log(rank, kind.startswith("nvtx") or kind == "mixed" and rank == 1)
        late = rank * 100_000
        half, in_half = 0xD0 + rank // 2, rank % 2
        if kind not in ("creation", "ring", "ring_silent") or rank != 2:
            log.make(WORLD, rank, 4, late)
        log.make(half, in_half, 2, S // 10 + late)
        if kind == "ring":  # each log begins with another call
            log.calls.setdefault(WORLD, [0, 0, rank, 4])
            log.calls[WORLD][0] = 500 + rank
            log.events.clear()
            for at in range(4 - rank):
                log.call(WORLD, S // 2 + (rank + at) * 10_000_000 + late)
        elif kind == "ring_silent":  # only the last calls are in the logs; rank 2 may have made one before
            log.page = f"\nring bytes=1048576 horizon_tick={START + S // 2} blocks=3 records=450"
            log.events.clear()
            log.call(half, S - 200_000_000 + late, skip=3)
            log.calls.get(WORLD, [0])[0] += 4
        elif kind == "creation":
            if rank != 2:
                log.events[1:2] = []  # it has not returned
            log.write(folder)
            continue
        else:
            for step in range(3):
                log.call(WORLD, S // 2 + step * 10_000_000 + late)
                log.call(half, S // 2 + step * 10_000_000 + 5_000_000 + late)
        at = S + late
        arguments, last = "count=1024, type=fp32, op=sum", {"finished": False}
        culprit = rank == 2
        if kind in ("never", "sleeping", "ring", "ring_silent", "nvtx", "mixed") and culprit:
            if kind == "sleeping":
                log.waits_in_file(2 * S)
        elif kind in ("killed", "exited", "stopped", "buffered", "damaged", "lost") and culprit:
            log.clock = S - 100_000_000
            if kind in ("exited", "stopped"):
                log.finished = START + log.clock
            if kind == "stopped":
                log.facts = 'meta key="recording_ended" value="prof ctl"'
            if kind == "buffered":
                log.backing = 1
            if kind == "lost":
                log.page = "\ncounter records_dropped_full 3"
        elif kind == "type" and culprit:
            log.call(WORLD, at, arguments="count=1024, type=bf16, op=sum", **last)
        elif kind in ("size", "nvtx_size") and culprit:
            log.call(WORLD, at, arguments="count=1000, type=fp32, op=sum", **last)
        elif kind == "order":
            names = ["ncclAllGather", "ncclAllReduce"] if culprit else ["ncclAllReduce", "ncclAllGather"]
            for n, name in enumerate(names):
                log.call(WORLD, at + n * 1_000_000, name=name, arguments="count=64, type=fp32" + (", op=sum" if name == "ncclAllReduce" else ""),
                         **last)
        elif kind == "circle":  # ranks 0 and 1 enter the half's next one, the others the next one of all
            if rank == 0:
                log.call(half, at, launched=False, returned=False)
            else:
                log.call(WORLD, at, launched=False, returned=False)
        elif kind == "chain":  # rank 3 does not enter its half's, rank 2 waits there; the others wait for all
            if rank == 2:
                log.call(half, at, **last)
            elif rank != 3:
                log.call(WORLD, at, **last)
        elif kind in ("send", "unsent"):
            if rank == 0:
                log.call(WORLD, at, "ncclSend" if kind == "send" else "ncclRecv", "count=8, type=fp32, peer=2")
                log.call(WORLD, at + 1_000_000, "ncclSend" if kind == "send" else "ncclRecv", "count=8, type=fp32, peer=2", **last)
            if rank == 2:
                log.call(WORLD, at, "ncclRecv" if kind == "send" else "ncclSend", "count=8, type=fp32, peer=0")
        elif kind == "pair_size":
            if rank in (0, 2):
                name, peer, count = ("ncclSend", 2, 8) if rank == 0 else ("ncclRecv", 0, 4)
                log.call(WORLD, at, name, f"count={count}, type=fp32, peer={peer}", **last)
        elif kind == "ring_pairs":  # rank 0 waits in a send; the ring of rank 2 lacks its first receives
            if rank == 0:
                for n in range(3):
                    log.call(WORLD, at + n * 1_000_000, "ncclSend", "count=8, type=fp32, peer=2", finished=n < 2)
            elif rank == 2:
                log.call(WORLD, at + 1_000_000, "ncclRecv", "count=8, type=fp32, peer=0", skip=1)
        elif kind == "recent":  # a rank that is a little late
            log.clock = S + 200_000_000
            if not culprit:
                log.call(WORLD, at, **last)
        else:
            log.call(WORLD, at, finished=kind == "none")
        if kind == "missing" and culprit:
            continue
        log.write(folder)
        if kind == "damaged" and culprit:
            path = os.path.join(folder, "rank2.plog")
            with open(path, "r+b") as file:
                file.seek(12288 + 4096 + 200)
                file.write(b"\xff" * 64)
        if kind == "noise" and rank == 1:
            with open(os.path.join(folder, "rank1.plog"), "ab") as file:
                file.write(b"\x55" * 4096)


if __name__ == "__main__":
    main(*sys.argv[1:])
