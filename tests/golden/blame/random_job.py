#!/usr/bin/env python3
"""Writes the logs of a job that hangs because of one rank: random_job.py FOLDER SEED [FAULTS].

The ranks run one random program of collectives on several communicators and of sends and receives, as NCCL does: a
call ends on the GPU when its partners have entered it, and a rank whose call does not end makes no further one. One
rank stops at a random place of its program. With FAULTS (1), logs are absent, end early or lack calls. Prints the rank
that holds the others, or "none" if they end without it."""
import random
import sys

import job

S = job.S


class Rank:
    def __init__(self, number):
        self.log, self.at = job.Log(number, False), S // 2 + number * 50_000
        self.blocked = False
        self.fault, self.ends, self.at_end = "", sys.maxsize, S // 2  # ends: the log has no call from this operation on

    def call(self, place, number, random_of, name, arguments, finished):
        """a call that the log has, unless it ended before or lost the call"""
        if place >= self.ends or self.fault == "lost" and random_of.random() < 0.3:
            self.log.calls[number]["peer=" in arguments] += 1
        else:
            self.log.call(number, self.at, name, arguments, finished=finished)

    def write(self, folder):
        log = self.log
        if self.ends < sys.maxsize:
            log.clock = self.at_end
        if self.fault == "stopped":
            log.finished, log.facts = job.START + log.clock, 'meta key="recording_ended" value="prof ctl"'
        elif self.fault == "buffered":
            log.backing = 1
        elif self.fault == "lost":
            log.page = "\ncounter records_dropped_full 3"
        if self.fault != "missing":
            log.write(folder)


def communicators(ranks, random_of):
    """number -> ranks of the job, in order"""
    made = {job.WORLD: list(range(ranks))}
    for number in range(0xD0, 0xD0 + random_of.randint(0, 3)):
        made[number] = sorted(random_of.sample(range(ranks), random_of.randint(2, ranks)))
    return made


def program(made, length, random_of):
    """operations: (communicator, ranks that take part, calls)"""
    names = ("ncclAllReduce", "ncclAllGather", "ncclReduceScatter")
    for _ in range(length):
        number = random_of.choice(list(made))
        members = made[number]
        if random_of.random() < 0.5:
            yield number, members, None, (random_of.choice(names), f"count={random_of.randint(1, 9)}, type=fp32")
        else:
            yield number, random_of.sample(members, 2), True, f"count={random_of.randint(1, 9)}, type=bf16"


def main(folder, seed, faults="0"):
    random_of = random.Random(int(seed))
    job.os.makedirs(folder, exist_ok=True)
    count = random_of.randint(3, 7)
    ranks = [Rank(number) for number in range(count)]
    made = communicators(count, random_of)
    for place, (number, members) in enumerate(made.items()):
        for index, rank in enumerate(members):
            ranks[rank].log.make(number, index, len(members), S // 10 * (1 + place) + rank * 50_000)
    operations = list(program(made, random_of.randint(5, 25), random_of))
    culprit = random_of.randrange(count)
    stop = random_of.randrange(len(operations))
    for rank in ranks:
        if faults != "0" and random_of.random() < 0.3:
            rank.fault = random_of.choice(("missing", "stopped", "buffered", "lost"))
            if rank.fault in ("stopped", "buffered"):
                rank.ends = random_of.randrange(len(operations))
    for place, (number, members, pair, call) in enumerate(operations):
        here = [r for r in members if not ranks[r].blocked and not (r == culprit and place >= stop)]
        finished = len(here) == len(members)
        for r in here:
            rank = ranks[r]
            rank.at += 1_000_000
            if place < rank.ends:
                rank.at_end = rank.at + 500_000
            if pair:
                peer = members[1 - members.index(r)]
                name = "ncclSend" if r == members[0] else "ncclRecv"
                rank.call(place, number, random_of, name, f"{call}, peer={made[number].index(peer)}", finished)
            else:
                rank.call(place, number, random_of, *call, finished)
            rank.blocked = not finished
        top = max(ranks[r].at for r in members)
        for r in here:
            ranks[r].at = top
    for rank in ranks:
        rank.write(folder)
    print(culprit if any(rank.blocked for rank in ranks) else "none")


if __name__ == "__main__":
    main(*sys.argv[1:])
