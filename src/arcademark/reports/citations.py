"""The papers that a report may lean on, and which of them its text names."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from arcademark.reports.record import Citation


def cited_in(texts: Iterable[str]) -> tuple[Citation, ...]:
    """Return the papers that the texts name, in the order of `CITATIONS`.

    Parameters
    ----------
    texts : iterable of str
        Sentences that name papers as this project does: "Machado et al. 2018, §5.2".
    """
    everything = "\n".join(texts)
    return tuple(
        citation
        for citation in CITATIONS.values()
        if any(name in everything for name in (citation.text, *_OTHER_NAMES.get(citation.key, ())))
    )


def _paper(kind: str, key: str, text: str, url: str, **fields: str) -> Citation:
    lines = "".join(f"  {name:<9} = {{{value}}},\n" for name, value in (fields | {"url": url}).items())
    return Citation(key, text, url, f"@{kind}{{{key},\n{lines}}}")


_OTHER_NAMES = {"vanhasselt2016double": ("Hasselt et al. 2016",)}

CITATIONS = MappingProxyType(
    {
        paper.key: paper
        for paper in (
            _paper(
                "article",
                "bellemare2013arcade",
                "Bellemare et al. 2013",
                "https://doi.org/10.1613/jair.3912",
                title="The {Arcade Learning Environment}: An Evaluation Platform for General Agents",
                author="Bellemare, Marc G. and Naddaf, Yavar and Veness, Joel and Bowling, Michael",
                journal="Journal of Artificial Intelligence Research",
                volume="47",
                pages="253--279",
                year="2013",
            ),
            _paper(
                "article",
                "machado2018revisiting",
                "Machado et al. 2018",
                "https://doi.org/10.1613/jair.5699",
                title="Revisiting the {Arcade Learning Environment}: "
                "Evaluation Protocols and Open Problems for General Agents",
                author="Machado, Marlos C. and Bellemare, Marc G. and Talvitie, Erik and Veness, Joel and "
                "Hausknecht, Matthew and Bowling, Michael",
                journal="Journal of Artificial Intelligence Research",
                volume="61",
                pages="523--562",
                year="2018",
            ),
            _paper(
                "misc",
                "fan2021review",
                "Fan 2021",
                "https://arxiv.org/abs/2112.04145",
                title="A Review for Deep Reinforcement Learning in {Atari}: Benchmarks, Challenges, and Solutions",
                author="Fan, Jiajun",
                note="arXiv:2112.04145",
                year="2021",
            ),
            _paper(
                "misc",
                "toromanoff2019saber",
                "Toromanoff et al. 2019",
                "https://arxiv.org/abs/1908.04683",
                title="Is Deep Reinforcement Learning Really Superhuman on {Atari}? Leveling the Playing Field",
                author="Toromanoff, Marin and Wirbel, Emilie and Moutarde, Fabien",
                note="arXiv:1908.04683",
                year="2019",
            ),
            _paper(
                "article",
                "mnih2015human",
                "Mnih et al. 2015",
                "https://doi.org/10.1038/nature14236",
                title="Human-level Control through Deep Reinforcement Learning",
                author="Mnih, Volodymyr and Kavukcuoglu, Koray and Silver, David and others",
                journal="Nature",
                volume="518",
                number="7540",
                pages="529--533",
                year="2015",
            ),
            _paper(
                "inproceedings",
                "vanhasselt2016double",
                "van Hasselt et al. 2016",
                "https://arxiv.org/abs/1509.06461",
                title="Deep Reinforcement Learning with Double {Q}-Learning",
                author="van Hasselt, Hado and Guez, Arthur and Silver, David",
                booktitle="Proceedings of the AAAI Conference on Artificial Intelligence",
                volume="30",
                year="2016",
            ),
            _paper(
                "inproceedings",
                "hessel2018rainbow",
                "Hessel et al. 2018",
                "https://arxiv.org/abs/1710.02298",
                title="Rainbow: Combining Improvements in Deep Reinforcement Learning",
                author="Hessel, Matteo and Modayil, Joseph and van Hasselt, Hado and others",
                booktitle="Proceedings of the AAAI Conference on Artificial Intelligence",
                volume="32",
                year="2018",
            ),
            _paper(
                "article",
                "ecoffet2021first",
                "Ecoffet et al. 2021",
                "https://doi.org/10.1038/s41586-020-03157-9",
                title="First Return, Then Explore",
                author="Ecoffet, Adrien and Huizinga, Joost and Lehman, Joel and Stanley, Kenneth O. and Clune, Jeff",
                journal="Nature",
                volume="590",
                pages="580--586",
                year="2021",
            ),
            _paper(
                "inproceedings",
                "aitchison2023atari5",
                "Aitchison et al. 2023",
                "https://arxiv.org/abs/2210.02019",
                title="{Atari-5}: Distilling the {Arcade Learning Environment} down to Five Games",
                author="Aitchison, Matthew and Sweetser, Penny and Hutter, Marcus",
                booktitle="Proceedings of the 40th International Conference on Machine Learning",
                series="Proceedings of Machine Learning Research",
                volume="202",
                year="2023",
            ),
            _paper(
                "inproceedings",
                "badia2020agent57",
                "Badia et al. 2020",
                "https://arxiv.org/abs/2003.13350",
                title="{Agent57}: Outperforming the {Atari} Human Benchmark",
                author="Badia, Adri{\\`a} Puigdom{\\`e}nech and Piot, Bilal and Kapturowski, Steven and others",
                booktitle="Proceedings of the 37th International Conference on Machine Learning",
                year="2020",
            ),
            _paper(
                "inproceedings",
                "bellemare2016unifying",
                "Bellemare et al. 2016",
                "https://arxiv.org/abs/1606.01868",
                title="Unifying Count-Based Exploration and Intrinsic Motivation",
                author="Bellemare, Marc G. and Srinivasan, Sriram and Ostrovski, Georg and others",
                booktitle="Advances in Neural Information Processing Systems 29",
                year="2016",
            ),
            _paper(
                "inproceedings",
                "agarwal2021precipice",
                "Agarwal et al. 2021",
                "https://arxiv.org/abs/2108.13264",
                title="Deep Reinforcement Learning at the Edge of the Statistical Precipice",
                author="Agarwal, Rishabh and Schwarzer, Max and Castro, Pablo Samuel and Courville, Aaron and "
                "Bellemare, Marc G.",
                booktitle="Advances in Neural Information Processing Systems 34",
                year="2021",
            ),
        )
    }
)
