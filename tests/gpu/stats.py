"""Medians and how sure they are."""
import math
import random
import statistics


def median(values):
    return statistics.median(values)


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def ratio(over, under, resamples=2000, seed=1):
    """Ratio of medians with a 95 % bootstrap interval: (ratio, low, high).

    `over` and `under` are lists of sets (one set: processes started together), each a list of rounds. Sets are drawn
    first and rounds inside them, because rounds of one process share its luck with addresses and clocks.
    """
    if len(over) != len(under) or not over:
        raise ValueError("both sides need the same sets")
    draw = random.Random(seed)

    def flat(sets):
        return [value for values in sets for value in values]

    found = []
    for _ in range(resamples):
        a, b = [], []
        for index in draw.choices(range(len(over)), k=len(over)):
            a += draw.choices(over[index], k=len(over[index]))
            b += draw.choices(under[index], k=len(under[index]))
        found.append(median(a) / median(b))
    found.sort()
    return (median(flat(over)) / median(flat(under)), found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1])


def ratio_of_means(over, under, resamples=2000, seed=1):
    """Ratio of means with a 95 % bootstrap interval: (ratio, low, high). One value a process; each side is drawn by itself."""
    if not over or not under:
        raise ValueError("both sides need values")
    draw = random.Random(seed)
    found = sorted(statistics.mean(draw.choices(over, k=len(over))) / statistics.mean(draw.choices(under, k=len(under)))
                   for _ in range(resamples))
    return (statistics.mean(over) / statistics.mean(under), found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1])


def ratio_of_processes(over, under, resamples=2000, seed=1):
    """Geometric mean of the ratios of processes, with a 95 % bootstrap interval over processes: (ratio, low, high).

    `over` and `under` are lists of processes, each a list of rounds; those of the same place were started in one set. A process counts once, as
    the median of its rounds, because processes of one variant differ by more than their rounds do: more rounds do not make the interval narrower, more
    processes do (with the square root of their number).
    """
    if len(over) != len(under) or not over:
        raise ValueError("both sides need the same sets")
    logs = [math.log(median(a) / median(b)) for a, b in zip(over, under)]
    draw = random.Random(seed)
    found = sorted(math.exp(statistics.fmean(draw.choices(logs, k=len(logs)))) for _ in range(resamples))
    return (math.exp(statistics.fmean(logs)), found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1])


def verdict(interval, limit):
    """Is a ratio (ratio, low, high) at most `limit`? "pass": all of the interval is; "fail": nothing of it; else "undecided"."""
    _, low, high = interval
    return "pass" if high <= limit else "fail" if low > limit else "undecided"
