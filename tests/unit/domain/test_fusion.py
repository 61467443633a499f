import pytest

from knowledge_svc.domain.fusion import Ranking, fuse


def test_a_chunk_two_legs_found_beats_one_that_a_single_leg_ranked_first():
    fused = fuse([Ranking("vector", (1, 2), (0.9, 0.8)), Ranking("lexical", (3, 2), (7.0, 6.0))])
    assert [hit.chunk_id for hit in fused] == [2, 1, 3]
    assert fused[0].score == pytest.approx(2 / 62)


def test_ties_go_to_the_smaller_chunk_id():
    fused = fuse([Ranking("vector", (9,), (0.5,)), Ranking("lexical", (4,), (3.0,))])
    assert [hit.chunk_id for hit in fused] == [4, 9]


def test_a_weight_scales_its_leg():
    fused = fuse([Ranking("vector", (1,), (0.9,)), Ranking("lexical", (2,), (5.0,), weight=2.0)])
    assert [hit.chunk_id for hit in fused] == [2, 1]
    assert fused[0].score == pytest.approx(2 / 61)


def test_a_leg_of_weight_zero_adds_nothing():
    fused = fuse([Ranking("vector", (1, 2), (0.9, 0.8)), Ranking("lexical", (2,), (5.0,), weight=0.0)])
    assert [(hit.chunk_id, round(hit.score, 6)) for hit in fused] == [(1, round(1 / 61, 6)), (2, round(1 / 62, 6))]


def test_each_hit_tells_which_leg_found_it_and_where():
    (hit,) = fuse([Ranking("vector", (1,), (0.9,)), Ranking("keys", (1,), (2.0,))])
    assert [(leg.leg, leg.rank, leg.score) for leg in hit.legs] == [("vector", 1, 0.9), ("keys", 1, 2.0)]
    assert hit.score == pytest.approx(sum(leg.contribution for leg in hit.legs))


def test_no_rankings_give_no_hits():
    assert fuse([]) == []
