"""One BLAS thread for the small matrix products of a query.

With its default of one thread per core, OpenBLAS spins on a busy machine: a product of 150 x 384 by 384 x 150 was seen to take
33 ms on two contended cores against 0.4 ms on one thread.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which numpy's products run on one thread."""
    controller = _controller()
    if all(library.get_num_threads() == 1 for library in controller.lib_controllers):
        return nullcontext()  # to set what is set takes a tenth of a millisecond
    context: AbstractContextManager[Any] = controller.limit(limits=1)
    return context
