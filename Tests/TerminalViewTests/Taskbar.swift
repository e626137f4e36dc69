import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the bar in the tab` {
    private func said(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `is sent when its percent or state changes, and again every 10 s`() {
        var bar = TaskbarProgress()
        func update(_ runs: [LiveState], _ second: Double) -> String {
            said(bar.update(runs, at: at(second)))
        }
        #expect(update([], 0) == "")
        #expect(update([live("a")], 0) == "\u{1B}]9;4;3\u{1B}\\")
        #expect(update([live("a", progress: 0.421)], 1) == "\u{1B}]9;4;1;42\u{1B}\\")
        #expect(update([live("a", progress: 0.429)], 2) == "")
        #expect(update([live("a", progress: 0.429)], 10.9) == "")
        #expect(update([live("a", progress: 0.429)], 11) == "\u{1B}]9;4;1;42\u{1B}\\")
        #expect(
            update([live("a", progress: 0.2), live("b", progress: 0.4), live("c")], 12)
                == "\u{1B}]9;4;1;30\u{1B}\\")
        #expect(update([live("a", progress: 0.2), live("b", .blocked)], 13) == "\u{1B}]9;4;4;20\u{1B}\\")
        #expect(update([live("a", .completed, progress: 1)], 14) == said(TaskbarProgress.clear))
        #expect(update([], 40) == "")
    }

    @Test func `ends in ST and never in BEL`() {
        var bar = TaskbarProgress()
        let runs = RunState.allCases.map { live("a", $0, progress: 0.5) }
        for (index, run) in runs.enumerated() {
            let bytes = bar.update([run], at: at(Double(index)))
            #expect(bytes.isEmpty || bytes.suffix(2) == [0x1B, 0x5C])
            #expect(!bytes.contains(0x07))
        }
        #expect(TaskbarProgress.clear.suffix(2) == [0x1B, 0x5C])
    }
}
