import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the line of a status bar` {
    private func content(_ lives: [LiveState], next: String? = nil, at now: Double = 60) -> BarContent {
        BarContent(lives, next: next, at: at(now), zone: .utc)
    }

    private func withFinish(_ live: LiveState, in seconds: Double) -> LiveState {
        var live = live
        live.finish = FinishTime(
            at: at(seconds), low: at(seconds - 2), high: at(seconds + 2))
        return live
    }

    @Test func `is empty while no run is active, and names what comes next`() {
        let idle = content([], next: "next: backup 03:00, in 9 h")
        #expect(idle.text.isEmpty && idle.look == .idle && idle.percent == nil)
        #expect(idle.tooltip == ["next: backup 03:00, in 9 h"])
    }

    @Test func `shows how far a run is and how long it needs`() {
        let run = withFinish(live("backup#7", progress: 0.42, updatedAt: 60), in: 240)
        let shown = content([run])
        #expect(shown.text == "● 42% 3 min")
        var short = run
        short.task.name = "x"
        #expect(content([short]).text == "● x 42% 3 min")
        #expect(shown.shortText == "● 42%")
        #expect(shown.percent == 42 && shown.look == .running)
        #expect(shown.tooltip.first?.hasPrefix("backup#7: 42%") == true, "\(shown.tooltip)")
    }

    @Test func `puts what waits for a person first, and counts the others`() {
        let shown = content([
            live("copy#1", progress: 0.5, updatedAt: 60), live("ship#2", .blocked, updatedAt: 60),
            live("later#3", .queued, updatedAt: 60),
        ])
        #expect(shown.text == "◆ ship#2 +2" && shown.look == .blocked && shown.isUrgent)
        #expect(shown.tooltip.count == 3)
    }

    @Test func `shows an end for half a minute`() {
        let ended = live("backup#7", .failed, updatedAt: 60)
        #expect(content([ended], at: 89).look == .failed)
        #expect(content([ended], at: 90).look == .idle)
        let done = live("backup#7", .completed, updatedAt: 60)
        #expect(
            content([live("copy#1", updatedAt: 60), done]).text == "● copy#1", "it is no other run at work")
        #expect(content([live("copy#1", .completed, updatedAt: 60), done]).text.hasSuffix(" +1"))
    }

    @Test func `never takes more than sixteen cells, whatever names and counts there are`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let count = Int.random(in: 1...40, using: &generator)
            let letters = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                "日a🛑é".randomElement(using: &generator) ?? "x"
            }
            let name = String(letters)
            let state = RunState.allCases.randomElement(using: &generator) ?? .running
            let runs = (0..<count).map { index in
                withFinish(
                    live("\(name)#\(index)", state, progress: Double.random(in: -1...2), updatedAt: 59),
                    in: Double.random(in: 0...1e6))
            }
            for hasGlyphs in [true, false] {
                let shown = BarContent(runs, at: at(60), zone: .utc, hasGlyphs: hasGlyphs)
                #expect(CellWidth.of(shown.text) <= BarContent.textCells, "\(shown.text)")
                #expect((0...100).contains(shown.percent ?? 0))
            }
        }
    }

    @Test func `of bots has a dot, what is unread, and what was said last`() {
        let shown = BarContent(bots: [
            BarBot(name: "ops", status: "online", unread: 2, lastMessage: "Disk is\nfull"),
            BarBot(name: "sage", status: "offline", unread: 0, lastMessage: nil),
        ])
        #expect(shown.text == "● ops 2  ○ sage" && shown.look == .unread)
        #expect(shown.tooltip == ["ops (online), 2 unread: Disk is full", "sage (offline)"])
    }
}

@Suite struct `the formats of status bars` {
    /// What a hostile name may hold.
    private static let hostile = "<b>#[x]%{F#f00}\"\u{1B}[31m\n\r\\ & 日"

    private var content: BarContent {
        var run = live("x", .failed, updatedAt: 59)
        run.task.name = Self.hostile
        run.task.run = Self.hostile
        return BarContent([run], at: at(60), zone: .utc)
    }

    @Test(arguments: BarFormat.allCases)
    func `are one line without control characters, whatever a run is called`(format: BarFormat) {
        let line = format.line(content)
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(line)")
    }

    @Test func `are JSON where the bar reads JSON`() throws {
        for format in [BarFormat.waybar, .i3, .json] {
            let json = try JSON.decode(JSON.self, from: Array(format.line(content).utf8))
            #expect(json["urgent"] == .bool(true) || format == .waybar)
        }
        let waybar = try JSON.decode(JSON.self, from: Array(BarFormat.waybar.line(content).utf8))
        #expect(waybar["class"] == .array([.string("failed")]))
        #expect(waybar["alt"] == .string("failed"))
    }

    @Test func `keep markup and tags of a bar from being read as such`() {
        for format in [BarFormat.waybar, .genmon] { #expect(!format.line(content).contains("<b>")) }
        #expect(BarFormat.tmux.line(content).contains("##[") || !BarFormat.tmux.line(content).contains("#[x"))
        #expect(!BarFormat.polybar.line(content).contains("%{F#f00"))
    }

    @Test func `of i3bar are an endless array`() {
        let stream = (BarFormat.i3bar.header ?? "") + "\n" + BarFormat.i3bar.line(content) + "\n"
        #expect(stream.hasPrefix("{\"version\":1,\"click_events\":true}\n[\n[{") && stream.hasSuffix("}],\n"))
    }

    @Test func `open a chat with the bot that is clicked on`() throws {
        let shown = BarContent(bots: [
            BarBot(name: "ops", status: "online", unread: 2, lastMessage: "Disk is full"),
            BarBot(name: "sage", status: "blocked", unread: 0, lastMessage: nil),
        ])
        #expect(
            BarFormat.polybar.line(shown)
                == "%{A1:belfry widget --open --bots ops:}%{F#61afef}● ops 2%{F-}%{A}  "
                + "%{A1:belfry widget --open --bots sage:}%{F#e5c07b}◆ sage%{F-}%{A}")
        #expect(
            BarFormat.genmon.line(shown).contains("<txtclick>belfry widget --open --bots ops,sage</txtclick>")
        )
        let blocks = try JSON.decode(JSON.self, from: Array(BarFormat.i3bar.line(shown).dropLast().utf8))
        #expect(blocks.elements.map { $0["instance"]?.text } == ["ops", "sage"])
        #expect(blocks.elements.map { $0["urgent"] } == [.bool(false), .bool(true)])
        let hostile = BarContent(bots: [BarBot(name: "a:$(id)", status: nil, unread: 0, lastMessage: nil)])
        #expect(!BarFormat.polybar.line(hostile).contains("--bots"))
    }

    @Test(
        arguments: [
            (#",{"name":"belfry","instance":"ops","button":1,"x":3}"#, true, "ops"),
            (#"{"name":"belfry","button":1}"#, true, nil), (#"{"instance":"","button":1},"#, true, nil),
            (#"{"name":"belfry","button":3}"#, false, nil), ("[", false, nil), ("{}", false, nil),
            ("}{", false, nil),
        ] as [(String, Bool, String?)])
    func `read clicks as bars write them`(line: String, isClick: Bool, bot: String?) {
        let click = BarClick(line)
        #expect((click != nil) == isClick && click?.bot == bot)
    }

    @Test func `leave an empty text empty`() {
        let idle = BarContent(.idle)
        #expect(BarFormat.polybar.line(idle).isEmpty && BarFormat.tmux.line(idle).isEmpty)
        #expect(
            BarFormat.genmon.line(idle)
                == "<txt></txt><txtclick>belfry widget --open</txtclick><tool></tool>")
    }
}

@Suite struct `the drawing of a job's history` {
    private func chart(_ entries: [(RunState, Int?)]) -> HistoryChart {
        HistoryChart(entries.map { HistoryChart.Entry(state: $0, took: $1.map { .seconds($0) }) })
    }

    @Test func `shows how long runs took and how they ended, the oldest first`() {
        let history = chart([
            (.completed, 10), (.completed, 12), (.failed, 80), (.missed, nil), (.completed, 11),
        ])
        #expect(
            history.lines(columns: 100, traits: plainColors).map { text($0) } == [
                "took      ▂▂█ ▂  10 s to 1 min 20 s, half of them within 11 s",
                "ended     ✓✓✗–✓  3 completed, 1 failed, 1 missed",
            ])
        #expect(
            history.lines(columns: 100, traits: asciiOnly).map { text($0) }[0].hasPrefix("took      ..# ."))
    }

    @Test func `is left out where there is nothing to compare`() {
        let two = chart([(.completed, 1), (.completed, 2), (.missed, nil)])
        #expect(two.lines(columns: 80, traits: plainColors).isEmpty)
    }

    @Test func `leaves out the oldest where the terminal is narrow, and never touches its last column`() {
        let history = chart((1...500).map { ($0 % 7 == 0 ? .failed : .completed, $0) })
        for columns in 1...200 {
            for traits in [plainColors, asciiOnly, colorful] {
                let lines = history.lines(columns: columns, traits: traits)
                #expect(lines.allSatisfy { $0.cells < columns }, "\(columns) columns")
            }
        }
        let newest = history.lines(columns: 30, traits: plainColors).first.map { text($0) }
        #expect(newest?.hasSuffix("█") == true)
    }

    @Test func `shows runs that took no time at all`() {
        let lines = chart([(.completed, 0), (.completed, 0), (.completed, 0)])
            .lines(columns: 80, traits: plainColors)
        #expect(lines.first.map { text($0) } == "took      ▁▁▁  each under 1 s")
    }
}
