import Testing
import Timeline
import Tracking

@Suite struct `amounts of work` {
    private func tracker() -> LiveTracker {
        let task = LiveTask(id: "r", botID: "ops", run: "r#1", name: "r", botName: "Ops")
        var tracker = LiveTracker(task: task, incarnation: 1, state: .starting, at: at(0))
        _ = tracker.became(.running, at: at(0))
        return tracker
    }

    private func report(_ text: String) throws -> ProgressReport {
        try #require(ProgressLine.report(Array(text.utf8)[...]))
    }

    @Test func `are kept with their unit, and how fast they grow`() throws {
        var tracker = tracker()
        for second in 0...40 {
            let line = #"{"progress":\#(second * 2),"total":100,"unit":"files"}"#
            _ = tracker.receive(try report(line), from: .native, at: at(Double(second)))
        }
        #expect(tracker.live.amount == WorkAmount(done: 80, total: 100, unit: "files", rate: 2))
        // What is older than the span does not count.
        for second in 41...80 {
            let line = #"{"progress":\#(80 + Double(second - 40) * 0.25),"total":100,"unit":"files"}"#
            _ = tracker.receive(try report(line), from: .native, at: at(Double(second)))
        }
        #expect(abs((tracker.live.amount?.rate ?? 0) - 0.25) < 1e-9)
        _ = tracker.became(.completed, at: at(90))
        #expect(tracker.live.amount == WorkAmount(done: 100, total: 100, unit: "files"))
    }

    @Test func `are those of the phase, and none where a fraction is reported`() throws {
        var tracker = tracker()
        let first = #"{"progress":3,"total":12,"unit":"files","phase":"scan"}"#
        _ = tracker.receive(try report(first), from: .native, at: at(1))
        #expect(
            tracker.live.amount == WorkAmount(done: 3, total: 12, unit: "files"), "no pace after one report")
        _ = tracker.receive(try report(#"{"phase":"copy"}"#), from: .native, at: at(2))
        #expect(tracker.live.amount == nil)
        _ = tracker.receive(try report(#"{"progress":5,"total":9}"#), from: .native, at: at(3))
        #expect(tracker.live.amount == WorkAmount(done: 5, total: 9))
        // Less than there was is no news.
        _ = tracker.receive(try report(#"{"progress":2,"total":9}"#), from: .native, at: at(4))
        #expect(tracker.live.amount?.done == 5)
        _ = tracker.receive(try report(#"{"progress":0.9}"#), from: .native, at: at(5))
        #expect(tracker.live.amount == nil)
    }

    @Test func `have no pace while the job does not work, and a clean unit`() throws {
        var tracker = tracker()
        for second in 0...5 {
            let line = #"{"progress":\#(second),"total":100,"unit":"\u001b[31mvery long name of a unit"}"#
            _ = tracker.receive(try report(line), from: .native, at: at(Double(second)))
        }
        #expect(tracker.live.amount?.rate == 1)
        #expect(tracker.live.amount?.unit?.count ?? 99 <= WorkAmount.unitLimit + 1)
        #expect(tracker.live.amount?.unit?.unicodeScalars.contains("\u{1B}") == false)
        _ = tracker.became(.paused, at: at(6))
        #expect(tracker.live.amount == WorkAmount(done: 5, total: 100, unit: tracker.live.amount?.unit))
    }

    @Test func `are numbers that can be written, however large or small they are`() throws {
        var tracker = tracker()
        for (second, done) in [(0, "0"), (2, "9e307"), (4, "1e308")] {
            let line = #"{"progress":\#(done),"total":1e308,"unit":"x"}"#
            _ = tracker.receive(try report(line), from: .native, at: at(Double(second)))
        }
        #expect(tracker.live.amount?.rate == 2.5e307)
        _ = try JSON.encode(tracker.live)
    }

    @Test func `are read from a datagram`() {
        let report = NotifyDatagram(Array("X_PROGRESS=3/12\nX_UNIT=files".utf8)[...])?.report
        #expect(report?.done == 3 && report?.total == 12 && report?.unit == "files")
    }
}
