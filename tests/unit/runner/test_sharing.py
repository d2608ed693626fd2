import threading
from concurrent.futures import ThreadPoolExecutor

from faultwire.runner.sharing import Turnstile


def test_many_are_in_together():
    turnstile = Turnstile()
    for name in "abc":
        turnstile.enter(name, alone=False)
    for name in "abc":
        turnstile.leave(name)
    turnstile.enter("d", alone=True)


def test_one_alone_waits_for_all_and_all_wait_for_it():
    turnstile, order, lock = Turnstile(), [], threading.Lock()
    turnstile.enter("first", alone=False)
    inside = set()
    wrong = []

    def visit(name, alone):
        turnstile.enter(name, alone=alone)
        with lock:
            order.append(name)
            if alone and inside:
                wrong.append((name, set(inside)))
            if any(other.startswith("alone") for other in inside):
                wrong.append((name, set(inside)))
            inside.add(name)
        with lock:
            inside.discard(name)
        turnstile.leave(name)

    with ThreadPoolExecutor(12) as pool:
        waiting = [
            pool.submit(visit, f"{'alone' if n % 3 == 0 else 'many'}{n}", n % 3 == 0) for n in range(60)
        ]
        turnstile.leave("first")
        for one in waiting:
            one.result(timeout=30)
    assert (len(order), wrong) == (60, [])


def test_a_waiting_exclusive_session_is_not_overtaken():
    turnstile, order = Turnstile(), []
    turnstile.enter("first", alone=False)

    def visit(name, alone):
        turnstile.enter(name, alone=alone)
        order.append(name)
        turnstile.leave(name)

    one = threading.Thread(target=visit, args=("alone", True))
    one.start()
    while not turnstile._waiting:
        one.join(0.001)
    late = threading.Thread(target=visit, args=("late", False))
    late.start()
    turnstile.leave("first")
    one.join(10)
    late.join(10)
    assert order == ["alone", "late"]


def test_leaving_without_entering_has_no_effect():
    turnstile = Turnstile()
    turnstile.enter("alone", alone=True)
    turnstile.leave("somebody else")
    entered = threading.Event()
    thread = threading.Thread(target=lambda: (turnstile.enter("b", alone=False), entered.set()), daemon=True)
    thread.start()
    assert not entered.is_set()
    turnstile.leave("alone")
    assert entered.wait(10)
