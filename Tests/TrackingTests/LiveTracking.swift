import Testing
import Timeline
import Tracking

let backup = LiveTask(id: "0190-1", botID: "ops", run: "backup#7", name: "backup", botName: "Ops")

/// A tracker of a run that started at second 0.
func runningTracker(usualGap: Duration? = nil) -> LiveTracker {
    var tracker = LiveTracker(task: backup, incarnation: 1, usualGap: usualGap, at: at(0))
    _ = tracker.became(.starting, at: at(0))
    _ = tracker.became(.running, at: at(0))
    return tracker
}

@Suite struct `a live state` {
    @Test func `never falls within a phase`() {
        var tracker = runningTracker()
        for fraction in [0.2, 0.5, 0.4, 0.45, 0.6] {
            _ = tracker.receive(ProgressReport(fraction: fraction, phase: "copy"), from: .native, at: at(1))
        }
        #expect(tracker.live.progress == 0.6)
        _ = tracker.receive(ProgressReport(fraction: 0.1), from: .native, at: at(2))
        #expect(tracker.live.progress == 0.6)
    }

    @Test func `is slow later than nine of ten past runs, without the time in which it could not work`()
        throws
    {
        var tracker = runningTracker()
        #expect(tracker.slowAt == nil)
        let past = (101...120).compactMap { RunProfile(total: Double($0)) }
        _ = tracker.learn(FinishEstimator(history: past), at: at(1))
        let due = try #require(tracker.slowAt)
        #expect((at(110)...at(120)).contains(due))
        _ = tracker.became(.paused, at: at(10))
        #expect(tracker.slowAt == nil)
        // The next daemon knows of the pause, also of one that is not over.
        var next = LiveTracker(resuming: tracker.live, incarnation: 2, at: at(500))
        _ = next.learn(FinishEstimator(history: past), at: at(501))
        _ = next.became(.running, at: at(1010))
        #expect(next.slowAt == due + .seconds(1000))
        let last = LiveTracker(resuming: next.live, incarnation: 3, at: at(1020))
        #expect(last.live.idle?.time == 1_000_000_000 && last.live.idle?.since == nil)
        // Another attempt has its own time.
        _ = next.startAttempt(2, at: at(1100))
        #expect(next.live.idle == nil)
        // A job of moments is not slow after one more.
        var brief = runningTracker()
        _ = brief.learn(
            FinishEstimator(history: (1...5).compactMap { _ in RunProfile(total: 0.5) }), at: at(0))
        #expect(brief.slowAt == at(10))
    }

    @Test func `starts again with a new phase`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.9, phase: "copy"), from: .native, at: at(1))
        _ = tracker.receive(ProgressReport(phase: "verify"), from: .native, at: at(2))
        #expect(tracker.live.phase == "verify")
        #expect(tracker.live.progress == nil)
        _ = tracker.receive(ProgressReport(fraction: 0.1), from: .native, at: at(3))
        #expect(tracker.live.progress == 0.1)
    }

    @Test func `treats a falling total as a new phase and not as a jump back`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(done: 90, total: 100, phase: "copy"), from: .native, at: at(1))
        _ = tracker.receive(ProgressReport(done: 1, total: 4), from: .native, at: at(2))
        #expect(tracker.live.phase == "copy 2")
        #expect(tracker.live.progress == 0.25)
    }

    @Test func `holds its progress while a total grows`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(done: 5, total: 10), from: .native, at: at(1))
        _ = tracker.receive(ProgressReport(done: 6, total: 60), from: .native, at: at(2))
        #expect(tracker.live.progress == 0.5)
        #expect(tracker.live.phase == nil)
    }

    @Test func `follows the better source once that has reported progress`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.1), from: .text, at: at(1))
        _ = tracker.receive(ProgressReport(fraction: 0.3), from: .native, at: at(2))
        _ = tracker.receive(ProgressReport(fraction: 0.9, phase: "x"), from: .text, at: at(3))
        #expect(tracker.live.progress == 0.3)
        #expect(tracker.live.phase == nil)
    }

    @Test func `takes a message from a lower source until a better one gives one`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.3), from: .native, at: at(1))
        _ = tracker.receive(ProgressReport(message: "from the output"), from: .text, at: at(2))
        #expect(tracker.live.message == "from the output")
        _ = tracker.receive(ProgressReport(message: "from the job"), from: .native, at: at(3))
        _ = tracker.receive(ProgressReport(message: "from the output"), from: .text, at: at(4))
        #expect(tracker.live.message == "from the job")
    }

    @Test func `says a guess that a better source corrects downward as another phase`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.9), from: .text, at: at(1))
        _ = tracker.receive(ProgressReport(fraction: 0.1), from: .native, at: at(2))
        #expect(tracker.live.progress == 0.1)
        #expect(tracker.live.phase == "part 2")
    }

    @Test func `withdraws what turned out not to be progress`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.9), from: .text, at: at(20))
        _ = tracker.receive(ProgressReport(isWithdrawal: true), from: .text, at: at(21))
        #expect(tracker.live.progress == nil)
        #expect(tracker.live.finish == nil)
    }

    @Test func `is blocked and at work again as the job reports`() {
        var tracker = runningTracker()
        let blocked = tracker.receive(
            ProgressReport(word: .blocked(.permission)), from: .native, at: at(1))
        #expect(blocked == .stateChange)
        #expect(tracker.live.state == .blocked)
        #expect(tracker.live.blockedKind == .permission)
        let working = tracker.receive(ProgressReport(word: .working), from: .native, at: at(2))
        #expect(working == .stateChange)
        #expect(tracker.live.state == .running)
        #expect(tracker.live.blockedKind == nil)
    }

    @Test func `accepts no report from a job that ended`() {
        var tracker = runningTracker()
        _ = tracker.became(.failed, reason: .exitCode, at: at(1))
        let ended = tracker.live
        let change = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(2))
        #expect(change == .none)
        #expect(tracker.live == ended)
    }

    @Test func `has all of its progress when the run completes and keeps the rest when it fails`() {
        var good = runningTracker()
        _ = good.receive(ProgressReport(fraction: 0.98), from: .native, at: at(1))
        var bad = good
        _ = good.became(.completed, reason: .exitCode, at: at(2))
        _ = bad.became(.failed, reason: .exitCode, at: at(2))
        #expect(good.live.progress == 1)
        #expect(bad.live.progress == 0.98)
    }

    @Test func `makes no step that a run can't take`() {
        var tracker = runningTracker()
        let before = tracker.live
        let skipped = tracker.became(.skipped, reason: .overlap, at: at(1))
        #expect(skipped == .none)
        #expect(tracker.live == before)
    }

    @Test func `forgets the last attempt when the next one starts`() {
        var tracker = runningTracker()
        _ = tracker.receive(
            ProgressReport(fraction: 0.8, phase: "copy", message: "x"), from: .native, at: at(1))
        _ = tracker.became(.queued, reason: .retryWait, at: at(2))
        let before = tracker.live.order
        _ = tracker.startAttempt(2, at: at(3))
        #expect(tracker.live.progress == nil)
        #expect(tracker.live.phase == nil)
        #expect(tracker.live.message == nil)
        #expect(tracker.live.attempt == 2)
        #expect(tracker.live.order > before)
        #expect(tracker.live.reason == .retryWait)
    }

    @Test func `forgets why it waited when it starts`() {
        var waiting = runningTracker().live
        (waiting.state, waiting.message) = (.queued, "process 7 (sleep) of an earlier attempt still runs")
        var tracker = LiveTracker(resuming: waiting, incarnation: 2, at: at(1))
        #expect(tracker.live.message != nil)
        _ = tracker.became(.starting, at: at(2))
        #expect(tracker.live.message == nil && tracker.live.state == .starting)
    }

    @Test func `orders every change after the one before, also after a restart of the daemon`() {
        var tracker = runningTracker()
        var last = tracker.live.order
        for step in 1...50 {
            let change = tracker.receive(
                ProgressReport(fraction: Double(step) / 50), from: .native, at: at(Double(step)))
            #expect(change == .tick)
            #expect(tracker.live.order > last)
            last = tracker.live.order
        }
        var resumed = LiveTracker(resuming: tracker.live, incarnation: 2, at: at(60))
        #expect(resumed.live.order > last)
        #expect(resumed.live.seq == 2_000_000_000)
        _ = resumed.receive(ProgressReport(fraction: 0.1), from: .native, at: at(61))
        #expect(resumed.live.progress == 1)
    }

    @Test func `is one tick a second when the job only repeats itself`() {
        var tracker = runningTracker()
        let report = ProgressReport(fraction: 0.5)
        _ = tracker.receive(report, from: .native, at: at(1))
        let seq = tracker.live.seq
        for step in 0..<1000 {
            _ = tracker.receive(report, from: .native, at: at(1 + Double(step) / 1000))
        }
        #expect(tracker.live.seq == seq)
        let later = tracker.receive(report, from: .native, at: at(2))
        #expect(later == .tick)
    }

    @Test func `is stale two minutes after the job's last report, and not while it waits`() {
        var tracker = runningTracker()
        #expect(tracker.live.staleAt == nil)
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(10))
        #expect(!tracker.live.isStale(at: at(129)))
        #expect(tracker.live.isStale(at: at(130)))
        _ = tracker.receive(ProgressReport(word: .blocked(.auth)), from: .native, at: at(20))
        #expect(tracker.live.staleAt == nil)
    }

    @Test func `stalls after three times the usual silence and wakes with the next word`() {
        var tracker = runningTracker(usualGap: .seconds(60))
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(20))
        #expect(tracker.stallsAt == at(200))
        let early = tracker.refresh(at: at(199))
        #expect(early == .none)
        let late = tracker.refresh(at: at(200))
        #expect(late == .stateChange)
        #expect(tracker.live.state == .stalled)
        #expect(tracker.live.finish == nil)
        #expect(tracker.live.updatedAt == at(20))
        let word = tracker.receive(ProgressReport(), from: .native, at: at(300))
        #expect(word == .stateChange)
        #expect(tracker.live.state == .running)
    }

    @Test func `counts silence from the moment at which the clock was set back`() {
        var tracker = runningTracker(usualGap: .seconds(60))
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(5000))
        #expect(tracker.refresh(at: at(100)) == .none)
        #expect(tracker.stallsAt == at(280))
        #expect(tracker.refresh(at: at(280)) == .stateChange)
        #expect(tracker.live.state == .stalled)
    }

    @Test func `never stalls when no silence is known to be unusual`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(1))
        #expect(tracker.stallsAt == nil)
        for second in 2...6 { _ = tracker.receive(ProgressReport(), from: .native, at: at(Double(second))) }
        #expect(tracker.stallsAt == at(36))
    }

    @Test func `holds a job's text to one harmless line`() {
        var tracker = runningTracker()
        _ = tracker.receive(
            ProgressReport(phase: "a\u{1B}[2Jb", message: "  one\r\ntwo\u{202E}three\u{7}  "), from: .native,
            at: at(1))
        #expect(tracker.live.phase == "ab")
        #expect(tracker.live.message == "one twothree")
        _ = tracker.receive(
            ProgressReport(message: String(repeating: "👩‍👩‍👧", count: 500)), from: .native, at: at(2))
        let message = tracker.live.message ?? ""
        #expect(message.utf8.count <= 200 * 8 + 3)
        #expect(message.last == "…")
        #expect(message.dropLast().allSatisfy { $0 == "👩‍👩‍👧" })
    }
}

@Suite struct `the live state of a paused run` {
    @Test func `is blocked again after it, unless the job has said meanwhile that it goes on`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(word: .blocked(.permission)), from: .native, at: at(1))
        #expect(tracker.became(.paused, at: at(2)) == .stateChange)
        #expect(tracker.live.blockedKind == nil)
        #expect(tracker.resumed(at: at(3)) == .stateChange)
        #expect(tracker.live.state == .blocked && tracker.live.blockedKind == .permission)
        _ = tracker.became(.paused, at: at(4))
        // What it said before it was stopped arrives late.
        _ = tracker.receive(ProgressReport(word: .working), from: .native, at: at(5))
        #expect(tracker.live.state == .paused)
        #expect(tracker.resumed(at: at(6)) == .stateChange)
        #expect(tracker.live.state == .running)
        #expect(tracker.resumed(at: at(7)) == .none)
        _ = tracker.became(.paused, at: at(8))
        _ = tracker.receive(ProgressReport(word: .blocked(.auth)), from: .native, at: at(9))
        #expect(tracker.live.state == .paused)
        _ = tracker.resumed(at: at(10))
        #expect(tracker.live.state == .blocked && tracker.live.blockedKind == .auth)
    }

    @Test func `is not silent meanwhile, and its pause is no time of work`() {
        var tracker = runningTracker(usualGap: .seconds(10))
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(100))
        _ = tracker.became(.paused, at: at(101))
        #expect(tracker.stallsAt == nil && tracker.live.finish == nil)
        #expect(tracker.refresh(at: at(5000)) == .none)
        _ = tracker.resumed(at: at(5001))
        #expect(tracker.stallsAt == at(5031))
        _ = tracker.receive(ProgressReport(fraction: 1), from: .native, at: at(5101))
        _ = tracker.became(.completed, at: at(5101))
        #expect(tracker.profile?.total == 201)
    }
}

/// The moment `seconds` after the run was queued.
func at(_ seconds: Double) -> Moment { Moment(microseconds: Int64(seconds * 1_000_000)) }

@Suite struct `a duration in words` {
    @Test(arguments: [
        (0, "under 1 s"), (-5, "under 1 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"),
        (3600, "1 h"), (3605, "1 h"), (11_100, "3 h 5 min"), (86_400, "1 d"), (183_600, "2 d 3 h"),
    ])
    func `has its two largest units`(_ seconds: Int, _ words: String) {
        #expect(Duration.seconds(seconds).words == words)
    }
}
