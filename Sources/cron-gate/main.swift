// What continuous integration holds `Cron` to, in a program small enough to be built as a release each time.

import CronBench
import Glibc

guard CronGate.isKept() else { exit(1) }
