import pytest

from services.admission import Admission
from services.auth import Identity, Role
from services.errors import ResourceExhausted

ADA = Identity("ada", "acme", Role.WRITER)
BEN = Identity("ben", "acme", Role.WRITER)


def test_no_more_calls_are_served_than_there_are_places():
    admission = Admission(total=2, each=2)
    with admission.place(ADA), admission.place(BEN), pytest.raises(ResourceExhausted) as caught, admission.place(ADA):
        pass
    assert caught.value.metadata == {"most": "2"}


def test_one_identity_cannot_take_every_place():
    admission = Admission(total=3, each=1)
    with admission.place(ADA):
        with pytest.raises(ResourceExhausted, match="this identity"), admission.place(ADA):
            pass
        with admission.place(BEN):
            pass


def test_a_place_is_free_again_whatever_ended_the_call():
    admission = Admission(total=1, each=1)
    with pytest.raises(ZeroDivisionError), admission.place(ADA):
        raise ZeroDivisionError
    with admission.place(BEN):
        pass


@pytest.mark.parametrize(("jitter", "wait_s"), [(0.0, 0.1), (0.5, 0.2), (1.0, 0.3)])
def test_refused_callers_are_spread_over_a_third_of_a_second(jitter, wait_s):
    admission = Admission(total=1, each=1, jitter=lambda: jitter)
    with admission.place(ADA), pytest.raises(ResourceExhausted) as caught, admission.place(BEN):
        pass
    assert caught.value.retry_after_s == pytest.approx(wait_s)
