"""Answers each line `expression TAB zone TAB start` with what cronsim and croniter find next.

Start is in seconds since the epoch and exclusive. The answer is two columns with a tab between them, first
cronsim's, then croniter's: three moments in seconds, or `-` where the program refuses the expression.
"""

import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim


def cronsim_next(expression, start):
    moments = CronSim(expression, start)
    return [next(moments) for _ in range(3)]


def croniter_next(expression, start):
    moments = croniter(expression, start)
    return [moments.get_next(datetime) for _ in range(3)]


def answer(find, expression, start):
    try:
        return " ".join(str(int(moment.timestamp())) for moment in find(expression, start))
    except Exception:
        return "-"


for line in sys.stdin:
    expression, zone, seconds = line.rstrip("\n").split("\t")
    start = datetime.fromtimestamp(int(seconds), ZoneInfo(zone))
    print(answer(cronsim_next, expression, start), answer(croniter_next, expression, start), sep="\t")
