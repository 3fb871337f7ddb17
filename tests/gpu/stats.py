"""Medians and how sure they are."""
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
