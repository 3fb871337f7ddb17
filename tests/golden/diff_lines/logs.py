"""Writes old.log.txt and new.log.txt: 16 readings of PC samples of one kernel. In the new one, its launches take
longer, and the instruction at 0xd0 has more of the samples."""

import random
from pathlib import Path

HEAD = """prof-log-text 1
header pid=77 clock=0 start_tick=1000000 start_monotonic_ns=1000000 start_realtime_ns=1700000000000000000
block definitions thread=1
gpu_clock base_tick=0 base_ns=0 multiplier=1 shift=0
api id=1 name="cuLaunchKernel"
string id=1 total_bytes=20 offset=0 text="_Z12scale_kernelPffi"
string id=2 total_bytes=48 offset=0 text="smsp__pcsamp_warps_issue_stalled_long_scoreboard"
function id=1 name=1 module=1 handle=4096 generation=0
config id=1 api=1 function=1 grid_x=64 grid_y=1 grid_z=1 block_x=256 block_y=1 block_z=1 shared_bytes=0 attributes=0
gpu_kernel id=1 name=1 grid_x=64 grid_y=1 grid_z=1 block_x=256 block_y=1 block_z=1 registers=32 \
static_shared_bytes=0 dynamic_shared_bytes=0 local_bytes=0 launch_type=0
device ordinal=0 name="NVIDIA H200" uuid="00112233445566778899aabbccddeeff"
context id=1 handle=94200 device=0 gpu_context=1
stream id=1 context=1 handle=0 type=0 gpu_stream=8 flags=0 priority=0
gpu_stream id=1 device=0 context=1 stream=7
stall_reasons context=1 names=2
cubin id=1 crc=4097 bytes=11764 kept=1
"""
BATCHES, PERIOD = 16, 16
PLACES = {"0x50": 0x50, "0xd0": 0xd0, "0xe0": 0xe0}


def log(duration: int, waits: int, seed: int) -> str:
    """`duration` of a launch in ns; `waits`: samples of a reading at 0xd0. Others have 40 and 20."""
    chance = random.Random(seed)
    host = ["block events thread=1", 'thread thread=1 tid=77 first_tick=1001000 name="train"']
    calls, gpu = [], []
    for i in range(BATCHES):
        begin = 1_100_000 + i * 1_000_000
        host.append(f"kernel_launch end={begin + 10000} duration=5000 config=1 stream=1 depth=0 stack=0")
        calls.append(f"{begin + 7000}:{i + 1}")
        gpu.append(f"kernel_run start={begin + 20000} duration={duration + chance.randrange(2000)} "
                   f"correlation={i + 1} stream=1 kernel=1")
        counts = [40 + chance.randrange(5), waits + chance.randrange(5), 20 + chance.randrange(5)]
        places = [(offset // 16 << 10) for offset in PLACES.values()]
        gpu.append(f"pc_batch time={begin + 900000} context=1 period={PERIOD} total={sum(counts)}")
        gpu.append(f"pc_samples time={begin + 900000} context=1 cubin=1 function=1 period={PERIOD} "
                   f"places={places} samples={counts}".replace(",", ""))
    lines = ["block events thread=2", 'thread thread=2 tid=78 first_tick=1001000 name="prof"',
             f"driver_calls tid=77 calls=[{' '.join(calls)}]"]
    return HEAD + "\n".join(host + lines + gpu) + "\n"


Path("old.log.txt").write_text(log(100_000, 40, 1), encoding="utf-8")
Path("new.log.txt").write_text(log(138_500, 80, 2), encoding="utf-8")
