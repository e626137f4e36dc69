import Glibc
import Host
import Timeline
import Tracking

/// The finish times of tqdm and Rich on the same runs, by their own objects on a clock that the runs set.
enum BarPeers {
    private static let script = """
        import json, os, sys
        tqdm = __import__("tqdm")
        from rich.progress import Progress
        runs = [json.loads(line) for line in open(sys.argv[1])]
        def looks(times, update, left):
            total, step, n, sums = times[-1], 0, len(times), [0.0, 0]
            for look in range(1, 50):
                now = total * look / 50
                while step < n and times[step] <= now:
                    update(times[step]); step += 1
                if 0 < step < n:
                    rest = left(now)
                    # Silence counts as twice the whole time.
                    error = abs(max(0.0, rest) - (total - now)) / total if rest is not None else 2.0
                    sums[0] += min(error, 10); sums[1] += 1
            return sums
        def with_tqdm(times):
            now = [0.0]
            bar = tqdm.tqdm(total=len(times), file=open(os.devnull, "w"), mininterval=0)
            bar._time = lambda: now[0]; bar.start_t = bar.last_print_t = 0.0
            def update(t): now[0] = t; bar.update(1)
            def left(t):
                now[0] = t
                d = bar.format_dict; rate = d["rate"] or (d["n"] / d["elapsed"] if d["elapsed"] else None)
                return (d["total"] - d["n"]) / rate if rate else None
            return looks(times, update, left)
        def with_rich(times):
            now = [0.0]
            progress = Progress(get_time=lambda: now[0], auto_refresh=False, disable=True)
            task = progress.add_task("x", total=len(times))
            def update(t): now[0] = t; progress.update(task, advance=1)
            def left(t): now[0] = t; return progress.tasks[0].time_remaining
            return looks(times, update, left)
        for name, peer in (("tqdm " + tqdm.__version__, with_tqdm), ("Rich", with_rich)):
            sums = [peer(run) for run in runs]
            print(name, sum(s[0] for s in sums) / max(1, sum(s[1] for s in sums)))
        """

    /// Prints their mean error on these runs, beside ours.
    static func report(on runs: [[Double]], beside ours: Double) {
        let python = Machine.environment["VENV"].map { $0 + "/bin/python" } ?? "python3"
        guard let folder = try? BenchFolder(),
            (try? SmallFile.replace(folder.path + "/runs", with: Array(lines(runs).utf8))) != nil,
            let peers = try? BenchProcess(python, ["-c", script, folder.path + "/runs"])
        else { return print("  tqdm, Rich: no Python") }
        for _ in 0..<2 {
            guard let line = try? peers.firstLine(), let space = line.lastIndex(of: " "),
                let error = Double(line[line.index(after: space)...])
            else {
                print("  tqdm, Rich: not in this Python; set VENV to an environment that has them")
                break
            }
            print("  mean error of \(line[..<space]): \((error * 100).short) %, ours \((ours * 100).short) %")
        }
        _ = peers.status()
    }

    private static func lines(_ runs: [[Double]]) -> String {
        runs.map { run in "[" + run.map { "\($0)" }.joined(separator: ",") + "]\n" }.joined()
    }
}

/// Runs of real tools that were recorded, each replayed after all others of its tool.
///
/// A file for each tool, a line for each run: `{"t":[seconds...],"p":[parts done...]}`.
enum RecordedTraces {
    private struct Run {
        var times: [Double]
        var parts: [Double]

        init?(_ line: Substring) {
            let json = JSON(parsing: Array(line.utf8)[...])
            times = json?["t"]?.elements.compactMap(\.double) ?? []
            parts = json?["p"]?.elements.compactMap(\.double) ?? []
            guard times.count == parts.count, times.count > 3 else { return nil }
        }

        var total: Double { times[times.count - 1] }

        /// The trace up to `elapsed`.
        func trace(until elapsed: Double) -> RunTrace {
            var trace = RunTrace()
            for (time, part) in zip(times, parts) where time <= elapsed { trace.note(part, at: time) }
            return trace
        }
    }

    /// Replays all files of the folder.
    static func run(folder: String) {
        print("recorded runs: mean error in % of a run: ours, pace alone, median; how often the band holds")
        let names = ((try? Folder.names(in: folder)) ?? []).filter { $0.hasSuffix(".jsonl") }.sorted()
        for name in names {
            let text = (try? SmallFile.text("\(folder)/\(name)", limit: 16 << 20)) ?? ""
            replay(name, text.split(separator: "\n").compactMap(Run.init))
        }
    }

    private static func replay(_ name: String, _ runs: [Run]) {
        var (ours, naive, median, looks, banded, held) = (0.0, 0.0, 0.0, 0, 0, 0)
        let start = Moment(seconds: 1_700_000_000)
        for (index, run) in runs.enumerated() {
            let others = runs.enumerated().filter { $0.offset != index }.map(\.element)
            let history = others.compactMap { RunProfile($0.trace(until: .infinity), total: $0.total) }
            let estimator = FinishEstimator(history: history)
            let middle = Figures(others.map(\.total)).median
            for look in 1..<50 {
                let elapsed = run.total * Double(look) / 50
                let trace = run.trace(until: elapsed)
                guard trace.count > 0, trace.progress > 0, trace.progress < 1 else { continue }
                func error(_ end: Double) -> Double {
                    min(abs(max(elapsed, end) - run.total) / run.total, 10)
                }
                let finish = estimator.finish(of: trace, startedAt: start, at: start + .seconds(elapsed))
                looks += 1
                ours += error(finish.map { ($0.at - start) / .seconds(1) } ?? middle)
                naive += error(trace.elapsed / trace.progress)
                median += error(middle)
                guard let low = finish?.low, let high = finish?.high else { continue }
                banded += 1
                if low <= start + .seconds(run.total), start + .seconds(run.total) <= high { held += 1 }
            }
        }
        guard looks > 0 else { return }
        let figures = [ours, naive, median].map { ($0 / Double(looks) * 100).short.padded(to: 10) }.joined()
        print(
            "  \(name.padded(to: 20)) \(figures) \((Double(held) / Double(max(1, banded)) * 100).short) % of \(runs.count) runs"
        )
    }
}
