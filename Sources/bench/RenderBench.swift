import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// Prints what a frame of 10 rows costs, when every row changed and when none did.
enum RenderBench {
    private static let rounds = 20_000

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) {
        let traits = TerminalTraits(
            progress: .live, color: .always, isTerminal: true,
            environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
        print("render: 10 rows, 120x60, best of 5 rounds of \(rounds) frames")
        for (label, changes) in [("every row changed", true), ("nothing changed", false)] {
            let (microseconds, bytes) = best(traits, changes: changes)
            report(
                label, "\(microseconds.short) us a frame, \(bytes) bytes", limit: "20 us",
                isKept: microseconds <= 20)
        }
        reportShare(traits)
    }

    /// Prints what drawing ten times a second costs, beside tqdm and Rich in the same seconds.
    private static func reportShare(_ traits: TerminalTraits) {
        let python = Machine.environment["VENV"].map { $0 + "/bin/python" } ?? "python3"
        let peers = ["tqdm", "rich"].map { ($0, try? BenchProcess(python, ["-c", peer, $0, "\(seconds)"])) }
        guard let nowhere = try? Descriptor.open("/dev/null", O_WRONLY) else { return }
        var painter = TerminalPainter(traits)
        let states = (0..<100).map { round in (0..<10).map { live($0, round: round) } }
        let size = TerminalSize(columns: 120, rows: 60)
        let start = ContinuousClock.now
        let before = ProcessorTime.seconds
        for round in 0..<seconds * 10 {
            let now = Moment(seconds: 1_000) + .milliseconds(round * 100)
            let rows = states[round % states.count].map { LiveRow($0, at: now, zone: .utc) }
            let bytes = painter.paint(Frame(rows, size: size, traits: traits), size: size)
            try? nowhere.writeAll(bytes[...])
            let left = start + .milliseconds((round + 1) * 100) - ContinuousClock.now
            if left > .zero { usleep(UInt32(left.microseconds)) }
        }
        let share = (ProcessorTime.seconds - before) / Double(seconds)
        report(
            "10 rows, 10 frames a second for \(seconds) s", "\((share * 100).short) % of a core",
            limit: "0.3 %", isKept: share <= 0.003)
        for (name, process) in peers {
            let line = try? process?.firstLine()
            print(
                "  the same by \(line ?? "\(name): not in this Python; set VENV to an environment that has it")"
            )
        }
    }

    private static let seconds = 20

    /// Ten bars that get on twenty times a second, drawn as often as the library does by itself.
    private static let peer = """
        import os, sys, time
        name, seconds = sys.argv[1], int(sys.argv[2])
        out = open(os.devnull, "w")
        steps = seconds * 20
        if name == "tqdm":
            tqdm = __import__("tqdm")
            version = tqdm.__version__
            bars = [tqdm.tqdm(total=steps, desc=f"nightly-backup-{i}#7", position=i, file=out, ncols=120) for i in range(10)]
            def advance():
                for bar in bars: bar.update(1)
        else:
            from importlib.metadata import version as find
            from rich.console import Console
            from rich.progress import Progress
            version = find("rich")
            progress = Progress(console=Console(file=out, force_terminal=True, width=120, height=60))
            progress.start()
            tasks = [progress.add_task(f"nightly-backup-{i}#7", total=steps) for i in range(10)]
            def advance():
                for task in tasks: progress.update(task, advance=1)
        start, before = time.monotonic(), time.process_time()
        for step in range(steps):
            advance()
            time.sleep(max(0, start + (step + 1) / 20 - time.monotonic()))
        share = (time.process_time() - before) / seconds
        # Not by print, which Rich takes over.
        os.write(1, f"{name} {version}: {share * 100:.2g} % of a core\\n".encode())
        """

    private static func best(_ traits: TerminalTraits, changes: Bool) -> (Double, Int) {
        var best = Double.infinity
        var bytes = 0
        for _ in 0..<5 {
            var painter = TerminalPainter(traits)
            var total = 0
            let clock = ContinuousClock()
            let states = (0..<(changes ? 100 : 1)).map { round in (0..<10).map { live($0, round: round) } }
            let took = clock.measure {
                for round in 0..<rounds {
                    let now = Moment(seconds: 1_000) + .milliseconds(changes ? round % 100 * 100 : 0)
                    total += frame(&painter, states[round % states.count], at: now, traits: traits)
                }
            }
            best = min(best, Double(took.microseconds) / Double(rounds))
            bytes = total / rounds
        }
        return (best, bytes)
    }

    /// One frame, from live states to bytes.
    private static func frame(
        _ painter: inout TerminalPainter, _ states: [LiveState], at now: Moment, traits: TerminalTraits
    ) -> Int {
        let rows = states.map { LiveRow($0, at: now, zone: .utc) }
        let size = TerminalSize(columns: 120, rows: 60)
        return painter.paint(Frame(rows, size: size, traits: traits), size: size).count
    }

    private static func live(_ index: Int, round: Int) -> LiveState {
        let task = LiveTask(
            id: "\(index)", botID: "ops", run: "nightly-backup-\(index)#7", name: "backup", botName: "Ops")
        var live = LiveState(
            task: task, attempt: 1, seq: Int64(round), state: .running, updatedAt: Moment(seconds: 1_000))
        live.startedAt = Moment(seconds: 900)
        live.progress = Double(round) / 100
        live.phase = "copying"
        live.message = "file \(round) of 20000 in /srv/data/archive"
        live.finish = FinishTime(at: Moment(seconds: 4_000) + .seconds(round))
        return live
    }
}
