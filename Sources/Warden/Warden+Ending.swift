import CLinux
import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

extension Warden {
    /// Collects every child that has ended: first processes, and those handed to the subreaper.
    func collectChildren() {
        var status: Int32 = 0
        var usage = rusage()
        while true {
            let pid = unsafe clinux_wait4(-1, &status, WNOHANG, &usage)
            guard pid > 0 else { break }
            guard let run = runs.takeLeader(pid) else { continue }
            leaderEnded(run, status, usage)
        }
        groups.tidy()
        // Somebody who kept a stopping run from being over may be among them.
        for run in runs.values where run.exit != nil && run.ladder.isStopping { settle(run, .sinceBoot) }
    }

    /// A process of a run of a warden that was killed has ended: its first one, or one that this left behind.
    func orphanEnded(_ key: RunKey) {
        guard let run = runs[key], let handle = run.orphan else { return }
        watches.remove(handle.raw)
        run.orphan = nil
        let now = Duration.sinceBoot
        if run.exit == nil { run.exit = Run.Exit(at: .now, instant: now) }
        lose(run, now)
    }

    /// The first process of the run has ended, how is not known: nothing of it may go on beside what is done next
    /// in its place, another attempt or the next slot.
    func lose(_ run: Run, _ now: Duration) {
        run.tree.obey(run.ladder.lose(at: now))
        settle(run, now)
    }

    /// Waits for one of them: they are nobody's children here, and no signal reports their end.
    private func watch(anyOf left: [ProcessEntry], of run: Run) {
        guard run.pipes == nil, run.orphan == nil else { return }
        for process in left {
            guard let handle = try? ProcessHandle(pid: process.pid, startTime: process.startTime),
                (try? watches.add(handle.raw, .orphan(run.key))) != nil
            else { continue }
            run.orphan = handle
            return
        }
    }

    private func leaderEnded(_ run: Run, _ status: Int32, _ usage: rusage) {
        var exit = Run.Exit(at: .now, instant: .sinceBoot)
        if clinux_wifexited(status) != 0 { exit.code = Int(clinux_wexitstatus(status)) }
        if clinux_wifsignaled(status) != 0 { exit.signal = Int(clinux_wtermsig(status)) }
        exit.cpu = duration(usage.ru_utime) + duration(usage.ru_stime)
        exit.maxResidentKiB = ownSize.known(usage.ru_maxrss)
        run.exit = exit
        run.pipes?.slave = nil
        // Everything it wrote itself is in the pipes by now; a full pipe is 64 KiB, often more is set.
        drainOutput(of: run, rounds: 64)
        settle(run, exit.instant)
    }

    /// Ends the run when its first process has ended and nothing needs to be waited for any more.
    func settle(_ run: Run, _ now: Duration) {
        guard let exit = run.exit, runs[run.key] === run else { return }
        var survivors: [ProcessEntry] = []
        if run.ladder.isStopping {
            // One that was forked while the others were asked is asked now, not only killed later.
            let isAsking = if case .asked = run.ladder.rung { true } else { false }
            survivors = isAsking ? run.tree.terminate() : run.tree.look()
            if !survivors.isEmpty, run.ladder.rung != .given { return watch(anyOf: survivors, of: run) }
            drainOutput(of: run, rounds: 64)
        } else {
            // Somebody may still hold the pipe: its last words are waited for, briefly.
            let isClosed = OutputStream.allCases.allSatisfy { run.pipes?[pipe: $0] == nil }
            let isDrained = isClosed || now - exit.instant >= Run.drainTime
            guard isDrained else { return }
            survivors = mayHaveSurvivors(run) ? run.tree.look() : []
        }
        let named = survivors.prefix(ExitRecord.survivorLimit).map { Survivor(pid: $0.pid, name: $0.name) }
        finish(run, run.makeRecord(exit, survivors: named))
    }

    /// Cheaper than reading the whole process table after every run.
    ///
    /// Whoever left the run's group has a parent in it, or was handed to the subreaper.
    private func mayHaveSurvivors(_ run: Run) -> Bool {
        if run.pipes == nil { return true }
        if let group = run.tree.group {
            guard groups.remove(group) else { return true }
            run.tree.group = nil
        } else if kill(-run.pid, 0) == 0 {
            return true
        }
        guard let children = children?.read() else { return true }
        return children.contains { !runs.isLeader($0) }
    }

    private func finish(_ run: Run, _ record: ExitRecord) {
        if run.pipes != nil {
            // Bounded: a process it left behind may report for ever.
            for _ in 0..<64 where !readNotifications(run.key) { break }
            for _ in 0..<64 where !readProgress(run.key) { break }
            if let line = run.pipes?.lines.finish() { run.reports.add(.report(run.key, line: line)) }
        }
        runs.remove(run)
        if let handle = run.orphan { watches.remove(handle.raw) }
        if let group = run.tree.group { _ = groups.remove(group) }
        if let pipes = run.pipes { release(pipes, of: run) }
        // A record that cannot be written is still reported; only a restart of the warden would miss it.
        if let file = run.record {
            try? file.writeAll(RunRecord.endingFrame(record)[...])
        } else {
            try? outcomes.store.append(RunRecord.endingFrame(record), to: run.key)
        }
        let entry = Outcomes.Ended(record: record, reports: run.reports)
        outcomes.add(entry)
        send(entry)
        if let terminal = run.terminal { links[terminal]?.send(WardenMessage.ended(record).frame) }
    }

    private func release(_ pipes: RunPipes, of run: Run) {
        watches.remove(pipes.notifySocket.raw)
        unsafe unlink(pipes.notifyPath)
        if let pipe = pipes.progressPipe { watches.remove(pipe.raw) }
        if let input = pipes.input, input.terminal == nil { watches.remove(input.descriptor.raw) }
        let output = LeftoverOutput(pipes.output)
        for stream in OutputStream.allCases {
            let sink = pipes[sink: stream]
            if let pipe = pipes[pipe: stream] {
                // A terminal ends with its run.
                if let sink, pipes.terminal != nil { finish(sink) }
                let kept = pipes.terminal == nil ? sink : nil
                keep(LeftoverPipe(pipe, output, sink: kept, stream: stream), of: run)
            } else if let sink {
                finish(sink)
            }
        }
    }

    private func duration(_ time: timeval) -> Duration {
        .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }
}
