import Ledger
import Testing
import Timeline
import Tracking

@testable import LedgerSQLite

@Suite struct `the stored text of a live state` {
    private func live(_ text: String? = nil) -> LiveState {
        var live = LiveState(
            task: LiveTask(
                id: "01a0c450", botID: "ops", run: "backup#7", name: text ?? "backup", botName: "Ops"),
            attempt: 2, seq: 5_000_000_001, state: .running, updatedAt: at(7))
        live.message = text
        return live
    }

    private var full: LiveState {
        var live = live("two of four")
        live.state = .blocked
        live.reason = .canceled
        live.blockedKind = .question
        live.progress = 0.25
        live.phase = "copy"
        live.startedAt = at(1)
        live.finish = FinishTime(at: at(30), low: at(20), high: at(40))
        live.staleAt = at(60)
        return live
    }

    @Test func `is what the encoder writes, with all that it may hold and with the least`() throws {
        for live in [full, live()] {
            let stored = StoredLive(live)
            #expect(try stored.text == JSONText.encode(stored))
            #expect(try JSONText.decode(stored.text, as: StoredLive.self).live == live)
        }
    }

    @Test(arguments: ["", "a \"b\" \\", "\u{0}\u{1}\u{8}\t\n\u{c}\r\u{1f}", "\u{7f}\u{2028}é🔔", "</script>"])
    func `keeps every text`(text: String) throws {
        let stored = StoredLive(live(text))
        #expect(try JSONText.decode(stored.text, as: StoredLive.self).live == live(text))
    }

    @Test(arguments: [0, 1, 1e-9, 0.1 + 0.2, 0.999_999_999_999_999_9])
    func `keeps every number`(progress: Double) throws {
        var live = live()
        live.progress = progress
        #expect(try JSONText.decode(StoredLive(live).text, as: StoredLive.self).live == live)
    }
}
