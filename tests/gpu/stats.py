"""Medians and their confidence intervals."""
import bisect
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
    first and then rounds inside them, because all rounds of a process have the same addresses and clock rates.
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
    """Ratio of means with a 95 % bootstrap interval: (ratio, low, high). One value per process; each side is drawn
    separately."""
    if not over or not under:
        raise ValueError("both sides need values")
    draw = random.Random(seed)
    found = sorted(statistics.mean(draw.choices(over, k=len(over))) / statistics.mean(draw.choices(under, k=len(under)))
                   for _ in range(resamples))
    return (statistics.mean(over) / statistics.mean(under), found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1])


def student_t(degrees):
    """The 97.5 % point of Student's t: the Cornish-Fisher expansion about the normal distribution (Abramowitz and
    Stegun, 26.7.5), within 1 % from 5 degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def ratio_of_processes(over, under):
    """Geometric mean of the ratios of processes, with the 95 % interval from the differences between them (Student's t,
    of the logarithms): (ratio, low, high).

    `over` and `under` are lists of processes, each a list of rounds; processes at the same position were started in one
    set, and their rounds at the same position ran one after the other. Two processes count once, as the median of the
    ratios of their rounds: the speed of a core of a shared host changes from second to second, but hardly between two
    such rounds. The ratios of one pair are not independent, because they share properties of the processes (addresses,
    placement of their pages).
    """
    if len(over) != len(under) or len(over) < 2:
        raise ValueError("both sides need the same sets, of two processes at least")
    logs = [median([math.log(x / y) for x, y in zip(a, b)]) for a, b in zip(over, under)]
    middle, half = statistics.fmean(logs), student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def ratio_of_neighbours(over, under, resamples=2000, seed=1):
    """Ratio of two variants that run in turn inside the same processes: (ratio, low, high), with a 95 % interval.

    `over` and `under` are lists of processes, each a list of rounds; rounds at the same position ran one after the
    other, in random order. The ratio of a process is the median of the ratios of its neighbouring rounds; the result is
    the geometric mean of the processes. Bootstrap: processes are drawn first, then pairs of rounds inside them. Drawn
    processes vary less than processes do, by (n - 1) / n, which is corrected.
    """
    if len(over) != len(under) or len(over) < 2:
        raise ValueError("both sides need the same processes, two at least")
    logs = [[math.log(x / y) for x, y in zip(a, b, strict=True)] for a, b in zip(over, under)]
    draw = random.Random(seed)
    middle = statistics.fmean(map(median, logs))
    found = []
    for _ in range(resamples):
        drawn = draw.choices(logs, k=len(logs))
        found.append(statistics.fmean(median(draw.choices(pairs, k=len(pairs))) for pairs in drawn))
    found.sort()
    wider = math.sqrt(len(logs) / (len(logs) - 1))
    low, high = found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1]
    return math.exp(middle), math.exp(middle + wider * (low - middle)), math.exp(middle + wider * (high - middle))


def lost_after(events, moments, window, resamples=1000, seed=1):
    """Time that a program loses after each of these moments: (lost, low, high), with a 95 % bootstrap interval.

    `events`: sorted times of what the program does all the time, its launches; `moments`: sorted times that do not
    depend on the program, 2 * `window` apart or more (others are left out). A program that loses no time has as many events in
    the window after a moment as in the window before it. All in one unit.
    """
    def count(begin, end):
        return bisect.bisect_left(events, end) - bisect.bisect_left(events, begin)
    apart = [at for before, at, after in zip([-math.inf, *moments], moments, [*moments[1:], math.inf])
             if at - before >= 2 * window and after - at >= 2 * window]
    counts = [(count(at - window, at), count(at, at + window)) for at in apart]
    counts = [each for each in counts if each[0] and each[1]]  # at neither end of the run

    def lost(pairs):
        return window * (1 - sum(after for _, after in pairs) / sum(before for before, _ in pairs))
    if len(counts) < 30:
        raise ValueError(f"{len(counts)} moments with events on both sides")
    draw = random.Random(seed)
    found = sorted(lost(draw.choices(counts, k=len(counts))) for _ in range(resamples))
    return lost(counts), found[int(0.025 * resamples)], found[int(0.975 * resamples) - 1]


def verdict(interval, limit):
    """Is a ratio (ratio, low, high) at most `limit`? "pass": the whole interval is; "fail": no part of it is; otherwise
    "undecided"."""
    _, low, high = interval
    return "pass" if high <= limit else "fail" if low > limit else "undecided"
