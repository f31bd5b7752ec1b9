"""Trying functions when a graph is built, where TensorFlow traces them: what a function gives must fit its operator.

A function is tried with an example, and only where that needs no other code of the user: a Python function may do
more than compute. What the function itself raises for an example says nothing, so it is passed over.
"""

from __future__ import annotations

from tfsvc.data.operator import Operator
from tfsvc.data.origins import user_traceback


def try_functions(operator: Operator, deep: bool = False) -> None:
    """Tries the functions of an operator; with ``deep`` those of all operators below it, after a look for their specs.

    Raises:
      TypeError, ValueError, InvalidArgumentError: if a function takes other arguments, or gives something else, than
        the operator needs. TensorFlow raises the same classes.
    """
    for below in operator.inputs:
        if deep:
            try_functions(below, deep)
        # A spec that is not given was found with examples, which are kept.
        if not (below.examples_at_hand or (deep and not below.spec_is_given)):
            return
    try:
        operator.try_function()
    except Exception as error:
        if not user_traceback(error):
            raise
