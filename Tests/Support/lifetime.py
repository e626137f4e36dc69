"""How long the servers of the tests live: no longer than whoever started them."""

import os
import sys


def leave_with_stdin():
    """Ends this process when its standard input is closed. To be run on a thread of its own."""
    while sys.stdin.buffer.read1(4096):
        pass
    os._exit(0)
