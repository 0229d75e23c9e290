"""Kernels for the velocities and features of the instances on a screen."""

from __future__ import annotations

from arcademark.compiled import njit

CLASS, Y, X, VY, VX = range(5)
"""Columns of an instance: its class; the centre of its box, rounded up and left; its velocity in pixels."""


@njit(cache=True)
def find_velocities(instances, count, before, count_before, max_velocity):  # type: ignore[no-untyped-def]
    """Write the velocities of instances: their displacements from the nearest of their class on the last screen.

    Among equally near instances, the first is used; the velocity is 0 if none is within `max_velocity` on both axes.
    """
    for i in range(count):
        nearest = 2 * max_velocity * max_velocity + 1
        instances[i, VY] = instances[i, VX] = 0
        for j in range(count_before):
            if instances[i, CLASS] != before[j, CLASS]:
                continue
            down, right = instances[i, Y] - before[j, Y], instances[i, X] - before[j, X]
            if abs(down) > max_velocity or abs(right) > max_velocity:
                continue
            if down * down + right * right < nearest:
                nearest = down * down + right * right
                instances[i, VY], instances[i, VX] = down, right


@njit(cache=True)
def count_features(  # type: ignore[no-untyped-def]
    instances, count, number, grid, ys, xs, down, right, down_speed, right_speed, tally, features, counts
):
    """Count the features of the instances on a screen; return the number of features that are not zero.

    `number` is the number of classes; `ys`, `xs`, `down`, `right`, `down_speed` and `right_speed` are tables of
    `tiling.tile_tables` with `grid`: of positions, and of positions and velocities relative to an instance of a later
    class, with zero in the middle. `tally`, int32 (features,), is zero before and after; `features` and `counts`
    receive the features and their counts.
    """
    tilings, height, width = ys.shape[0], ys.shape[1], xs.shape[1]
    speed_y, speed_x = down_speed.shape[1] // 2, right_speed.shape[1] // 2
    single, double = tilings * grid**2, tilings * grid**4
    used = 0
    for i in range(count):
        tally[instances[i, CLASS]] = 1
    for mine in range(number):
        if tally[mine] == 0:
            features[used] = mine
            used += 1
        tally[mine] = 1 - tally[mine]
    for i in range(count):
        a = instances[i, CLASS]
        begin = number + a * single
        for t in range(tilings):
            feature = begin + ys[t, instances[i, Y]] + xs[t, instances[i, X]]
            if tally[feature] == 0:
                features[used] = feature
                used += 1
            tally[feature] += 1
        for j in range(count):
            b = instances[j, CLASS]
            if b <= a:
                continue
            begin = number * (1 + single) + (a * (2 * number - a - 1) // 2 + b - a - 1) * double
            y = instances[i, Y] - instances[j, Y] + height - 1
            x = instances[i, X] - instances[j, X] + width - 1
            vy = instances[i, VY] - instances[j, VY] + speed_y
            vx = instances[i, VX] - instances[j, VX] + speed_x
            for t in range(tilings):
                feature = begin + down[t, y] + right[t, x] + down_speed[t, vy] + right_speed[t, vx]
                if tally[feature] == 0:
                    features[used] = feature
                    used += 1
                tally[feature] += 1
    for i in range(used):
        counts[i] = tally[features[i]]
        tally[features[i]] = 0
    return used
