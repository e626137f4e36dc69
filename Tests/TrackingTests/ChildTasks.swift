import Testing
import Timeline
import Tracking

@Suite struct `a part of a run's work` {
    private let start = Moment(seconds: 1_000_000)

    private func tracker() -> LiveTracker {
        let task = LiveTask(id: "1", botID: "ops", run: "build#1", name: "build", botName: "ops")
        var tracker = LiveTracker(task: task, incarnation: 1, state: .starting, at: start)
        _ = tracker.became(.running, at: start)
        return tracker
    }

    private func report(_ text: String) -> ProgressReport {
        NotifyDatagram(Array(text.utf8)[...])?.report ?? ProgressReport()
    }

    private func receive(_ texts: String..., by tracker: inout LiveTracker) {
        for text in texts { _ = tracker.receive(report(text), from: .native, at: start + .seconds(1)) }
    }

    @Test func `is reported by a datagram or a line, and leaves the whole as it is`() {
        var tracker = tracker()
        receive(
            "X_PROGRESS=20%", "X_TASK=build/linux\nX_PROGRESS=50%\nX_MESSAGE=linking",
            "X_TASK=build/mac\nX_STATE=blocked:auth",
            by: &tracker)
        let line = #"{"id":"docs","progress":3,"total":4,"message":"page 3"}"#
        if let report = ProgressLine.report(Array(line.utf8)[...]) {
            _ = tracker.receive(report, from: .native, at: start + .seconds(2))
        }
        #expect(
            tracker.live.progress == 0.2 && tracker.live.state == .running && tracker.live.message == "page 3"
        )
        let tasks = tracker.live.tasks ?? []
        #expect(tasks.map(\.path) == ["build/linux", "build/mac", "docs"])
        #expect(tasks.map(\.progress) == [0.5, nil, 0.75])
        #expect(tasks.map(\.state) == [.working, .blocked, .working] && tasks[0].message == "linking")
    }

    @Test func `never falls back, is done at 100 %, and is forgotten with those in it`() {
        var tracker = tracker()
        receive("X_TASK=a\nX_PROGRESS=60%", "X_TASK=a\nX_PROGRESS=40%", by: &tracker)
        #expect(tracker.live.tasks?.first?.progress == 0.6)
        receive(
            "X_TASK=a\nX_PROGRESS=100%", "X_TASK=a/b\nX_STATE=error", "X_TASK=ab\nX_STATE=done", by: &tracker)
        #expect(tracker.live.tasks?.map(\.state) == [.done, .failed, .done])
        receive("X_TASK=a\nX_STATE=clear", by: &tracker)
        #expect(tracker.live.tasks?.map(\.path) == ["ab"])
        receive("X_TASK=ab\nX_STATE=clear", by: &tracker)
        #expect(tracker.live.tasks == nil)
    }

    @Test func `has a path of few short names, or is none`() {
        for path in ["a", "build/linux-x86_64/step.1+2", String(repeating: "a", count: 32)] {
            #expect(ChildTask.isPath(path), "\(path)")
        }
        let many = Array(repeating: "a", count: 9).joined(separator: "/")
        for path in ["", "/a", "a/", "a//b", "a b", "ä", "a\u{1B}", String(repeating: "a", count: 33), many] {
            #expect(!ChildTask.isPath(path), "\(path)")
        }
        var tracker = tracker()
        receive("X_TASK=a b\nX_MESSAGE=m", by: &tracker)
        #expect(tracker.live.tasks == nil && tracker.live.message == "m")
    }

    @Test func `makes room when it has ended, and is left out where all are at work`() {
        var tracker = tracker()
        for number in 1...ChildTask.most { receive("X_TASK=t\(number)\nX_PROGRESS=1%", by: &tracker) }
        receive("X_TASK=more", by: &tracker)
        #expect(tracker.live.tasks?.count == ChildTask.most && tracker.live.tasks?.last?.path == "t32")
        receive("X_TASK=t7\nX_STATE=done", "X_TASK=more", by: &tracker)
        #expect(tracker.live.tasks?.count == ChildTask.most && tracker.live.tasks?.last?.path == "more")
        #expect(tracker.live.tasks?.contains { $0.path == "t7" } == false)
    }

    @Test(arguments: [(RunState.completed, ChildTask.State.done), (.failed, .stopped), (.canceled, .stopped)])
    func `ends with its run`(end: RunState, state: ChildTask.State) {
        var tracker = tracker()
        receive("X_TASK=a\nX_PROGRESS=50%", "X_TASK=b\nX_STATE=failed", by: &tracker)
        _ = tracker.became(end, at: start + .seconds(5))
        #expect(tracker.live.tasks?.map(\.state) == [state, .failed])
        #expect(tracker.live.tasks?.map(\.progress) == [state == .done ? 1 : 0.5, nil])
    }

    @Test func `stands in a tree, below names that were not reported themselves`() {
        let tasks = ["build/linux", "docs", "build/mac/sign", "build"].map { ChildTask(path: $0) }
        let flat = TaskTree.of(tasks).flatMap { $0.flattened() }
        #expect(flat.map(\.tree.path) == ["build", "build/linux", "build/mac", "build/mac/sign", "docs"])
        #expect(flat.map(\.depth) == [0, 1, 1, 2, 0])
        #expect(flat.map { $0.tree.task != nil } == [true, true, false, true, true])
    }
}
