"""The weights of a skip-chain field as they were fitted to the 485 announcements, so that nobody waits for them.

Written by `fitted(announcements(0, TRAINING_TEXTS), links)`; a test holds that they are where its likelihood is
greatest. Of each kind of links: theta of the features, chain, skip; how many words, how many evaluations.
"""

from __future__ import annotations

KEPT: dict[str, tuple[tuple[float, ...], float, float, int, int]] = {
    "all pairs": (
        (
            -14.292593050574151,
            9.47356083150106,
            8.855307011279491,
            1.3717889216832284,
            1.5300740606375365,
            -11.779851578857523,
            -0.007331385161276096,
            7.214031143252052,
            3.387011275642172,
            -6.054187772304609,
            -8.826941973253751,
            -1.4508950448177265,
        ),
        5.649886372820725,
        0.9657899533294607,
        59583,
        118,
    ),
    "consecutive": (
        (
            -14.113344686159358,
            8.93563934575889,
            8.37681102601996,
            1.223975976031751,
            1.5232399039874187,
            -10.712569617541261,
            -0.3328112147100221,
            6.206560008343025,
            3.5608297038673156,
            -5.568860977262501,
            -7.997224248537351,
            -1.6277754592589888,
        ),
        5.6877161684543305,
        4.438362265202739,
        59583,
        81,
    ),
}

__all__ = ["KEPT"]
