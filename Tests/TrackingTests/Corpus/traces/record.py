#!/usr/bin/env python3
"""Records how real tools get on, one file a tool, one line a run: {"t": [seconds], "p": [parts done]}.

Debian: rsync p7zip-full restic pv. `bench eta --traces FOLDER` replays them. Each run has other amounts of the same kind of
work, as a job has from night to night.
"""
import json, os, random, re, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
runs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
rng = random.Random(4)


def record(command, pattern, env=None):
    start, times, parts = time.monotonic(), [], []
    process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    rest = b""
    while chunk := os.read(process.stdout.fileno(), 65536):
        now = time.monotonic() - start
        *records, rest = re.split(rb"[\r\n\b]+", rest + chunk)
        for found in re.finditer(pattern, b"\n".join(records + [rest])):
            part = float(found.group(1)) / (1 if b"percent_done" in pattern else 100)
            if part <= 1 and (not parts or part > parts[-1]):
                times.append(round(now, 3)); parts.append(round(part, 4))
    process.wait()
    total = round(time.monotonic() - start, 3)
    if not parts or parts[-1] < 1:
        times.append(total); parts.append(1.0)
    return {"t": times, "p": parts}


def fill(folder, megabytes, files):
    os.makedirs(folder)
    for number in range(files):
        size = int(megabytes * 1e6 / files * rng.uniform(0.3, 1.7))
        with open(f"{folder}/{number}", "wb") as file:
            file.write(os.urandom(size // 2) + b"text " * (size // 10))


tools = {
    "rsync": ("rsync -a --bwlimit=9000 --info=progress2 --no-i-r src/ dst/", rb"(\d+)%"),
    "7z": ("7z a -bsp1 -mx=3 x.7z src", rb"(\d+)%"),
    "restic": ("restic backup --json --limit-upload 9000 src", rb'"percent_done":([0-9.]+)'),
    "pv": ("tar -cf - src | pv -n -i 0.1 -L 9M -s $(du -sb src | cut -f1) >/dev/null", rb"(?m)^(\d+)$"),
}
for name, (command, pattern) in tools.items():
    with open(f"{here}/{name}.jsonl", "w") as out:
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                fill("src", rng.uniform(25, 45), 30)
                env = dict(os.environ, RESTIC_REPOSITORY=folder + "/repo", RESTIC_PASSWORD="x", RESTIC_PROGRESS_FPS="10")
                if name == "restic": subprocess.run(["restic", "init", "-q"], env=env, check=True)
                print(json.dumps(record(command, pattern, env), separators=(",", ":")), file=out, flush=True)
                os.chdir(here)
