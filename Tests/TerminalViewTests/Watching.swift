import TestSupport
import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the view of all runs` {
    private var model = WatchModel(plainColors, zone: .utc)

    private mutating func lines(columns: Int = 80, rows: Int = 24, at now: Double = 60) -> [String] {
        model.frame(at: at(now), size: TerminalSize(columns: columns, rows: rows)).lines.map { text($0) }
    }

    /// Presses keys; the last wish that one of them made.
    private mutating func press(_ keys: Key...) -> WatchModel.Wish? {
        keys.compactMap { model.receive($0) }.last
    }

    private mutating func fill() {
        model.update(live("backup#7", progress: 0.42, updatedAt: 59))
        model.update(live("copy#3", progress: 0.1, updatedAt: 59))
        model.jobs = [
            WatchJob(name: "backup", nextAt: at(32_460), isPaused: false),
            WatchJob(name: "prune", nextAt: at(36_000), isPaused: false),
            WatchJob(name: "old", nextAt: nil, isPaused: true),
        ]
    }

    private func end(_ run: String, _ state: RunState = .completed) -> WatchEnd {
        WatchEnd(live(run, state, updatedAt: 3600), detail: nil, evidence: [])
    }

    @Test mutating func `shows what comes next while no run is active`() {
        fill()
        _ = model.end(end("backup#7"))
        #expect(!lines().contains { $0.contains("next:") })
        _ = model.end(end("copy#3"))
        #expect(lines().contains("  No run is active."))
        #expect(lines().contains("  next: backup 09:01, in 9 h"))
        #expect(!lines().contains { $0.contains("old") })
    }

    @Test
    mutating func `shows runs that wait for their turn below those at work, until they begin or give way`() {
        fill()
        model.update(waiting: [live("two#1", .queued, seq: 0), live("six#1", .scheduled, seq: 0)])
        model.waits["two#1"] = "waits for copy#3"
        let shown = lines()
        let names = ["backup#7", "copy#3", "two#1", "six#1"]
        let places = names.compactMap { name in shown.firstIndex { $0.contains(name) } }
        #expect(places.count == 4 && places == places.sorted(), "\(shown)")
        #expect(shown.contains { $0.contains("two#1") && $0.contains("waits for copy#3") }, "\(shown)")
        // One begins: a list that is older than that does not take it back.
        model.update(live("two#1", .running, progress: 0.5))
        model.update(waiting: [live("two#1", .queued, seq: 0)])
        #expect(lines().contains { $0.contains("two#1") && $0.contains("50%") })
        #expect(!lines().contains { $0.contains("six#1") })
        model.update(waiting: [])
        #expect(model.active.map(\.task.run).contains("two#1"))
    }

    @Test mutating func `shows the days where there is room for them`() {
        fill()
        model.strip = DayStrip(ends: [.init(at: at(-7200), state: .failed)], slots: [at(32_460)])
        let shown = lines(rows: 12)
        #expect(shown.contains("  Wed 31                  │Thu 1                   │Fri 2"), "\(shown)")
        #expect(shown.contains("  ·     ·     ·     ·   ✗ │┃     ·  ○  ·     ·     │·     ·     ·     ·"))
        #expect(!lines(rows: 11).contains { $0.contains("Wed 31") })
        _ = model.end(end("backup#7"))
        #expect(lines().contains { $0.hasPrefix("  ·     ·     ·     ·   ✗ │┃✓    ·") })
        #expect(lines(columns: 60).contains("  Wed 31      │Thu 1       │Fri 2"))
        #expect(!lines(columns: 40).contains { $0.contains("Wed 31") })
    }

    @Test mutating func `shows the time of day at which runs ended, the newest where not all fit`() {
        for number in 1...50 { #expect(model.end(end("copy#\(number)")).isEmpty) }
        #expect(lines().contains("  ✓ 01:00  copy#50  completed in 1 h"))
        #expect(!lines().contains { $0.contains("copy#20 ") })
        // Those that are looked for with the arrows are shown.
        _ = press(.home, .down, .down)
        #expect(lines().contains("› ✓ 01:00  copy#3  completed in 1 h"))
        let left = model.end(end("copy#51"))
        #expect(left.map(\.live.task.run) == ["copy#1"])
        #expect(model.takeEnds().count == 50)
    }

    @Test mutating func `fills the screen, with the keys in its last row`() {
        fill()
        model.strip = DayStrip(ends: [.init(at: at(-7200), state: .failed)], slots: [at(32_460)])
        for rows in [12, 24, 50] {
            let shown = lines(rows: rows)
            #expect(shown.count == rows && shown[rows - 1].hasPrefix("arrows select"), "\(shown)")
            #expect(shown[rows - 3].contains("Wed 31"))
        }
        _ = press(.text("?"))
        #expect(lines().count == 24 && lines().last == "any key goes back")
    }

    @Test mutating func `cancels the selected run once it was asked for twice`() {
        fill()
        #expect(press(.text("c")) == nil && model.note != nil, "two runs, and none is selected")
        #expect(press(.down, .down, .text("c")) == nil)
        #expect(lines().last == "Cancel copy#3? y/n")
        #expect(press(.text("n")) == nil)
        #expect(press(.text("c"), .text("y")) == .cancel(run: "copy#3"))
    }

    @Test mutating func `repeats a run that has ended, and runs a job that is selected`() {
        fill()
        _ = model.end(end("copy#3", .failed))
        #expect(press(.text("r")) == .retry(run: "copy#3"))
        _ = model.end(end("backup#7"))
        #expect(press(.end, .text("r")) == .start(job: "prune"))
        #expect(press(.enter) == .showLog(run: "prune"), "of its newest run")
    }

    @Test mutating func `pauses and resumes the job of a run that has ended`() {
        fill()
        for run in ["backup#7", "copy#3"] { _ = model.end(end(run)) }
        #expect(press(.down, .text("p")) == .pause(job: "backup"))
        model.jobs[0].isPaused = true
        #expect(press(.text("p")) == .resume(job: "backup"))
    }

    @Test mutating func `shows only what matches, until Escape`() {
        fill()
        #expect(press(.text("/"), .text("cop"), .enter) == nil)
        #expect(lines().contains { $0.contains("copy#3") } && !lines().contains { $0.contains("backup#7") })
        #expect(press(.text("c"), .text("y")) == .cancel(run: "copy#3"), "the only one that is seen")
        _ = press(.escape)
        #expect(lines().contains { $0.contains("backup#7") })
    }

    @Test mutating func `takes letters that were typed ahead`() {
        fill()
        #expect(press(.text("/copy")) == nil)
        #expect(lines().last == "filter: copy_")
        #expect(press(.enter, .text("cy")) == .cancel(run: "copy#3"))
    }

    @Test mutating func `pauses the run that is selected, or the only one, and resumes it`() {
        model.update(live("backup#1", .running))
        #expect(press(.text("p")) == .pauseRun("backup#1"))
        model.update(live("backup#1", .paused, seq: 2))
        #expect(press(.down, .text("p")) == .resumeRun("backup#1"))
    }

    @Test mutating func `finds paused jobs by their names`() {
        fill()
        _ = press(.text("/"), .text("old"), .enter)
        #expect(lines().contains("  old is paused"))
        #expect(press(.down, .text("p")) == .resume(job: "old"))
    }

    @Test mutating func `has questions on top, and answers them`() {
        fill()
        model.questions = [
            WatchQuestion(
                id: "q1", bot: "ops", text: "Ship\nit?", choices: ["yes", "no"], takesText: false,
                deadline: at(120))
        ]
        #expect(lines().first == "  ◆ ops asks: Ship it? (yes/no), 1 min left")
        #expect(press(.text("a"), .text("maybe"), .enter) == nil)
        #expect(model.note == "It takes one of: yes, no")
        #expect(press(.text("a"), .text("Y"), .enter) == .answer(id: "q1", text: "yes"))
        #expect(press(.home, .enter, .text("no"), .enter) == .answer(id: "q1", text: "no"))
        #expect(press(.text("a"), .escape, .text("q")) == .quit)
    }

    @Test mutating func `shows a log that is scrolled and searched`() {
        fill()
        #expect(press(.down, .enter) == .showLog(run: "backup#7"))
        model.show(WatchLog(run: "backup#7", lines: (1...100).map { "line \($0)" }))
        #expect(lines(rows: 12).first?.hasPrefix("● backup#7") == true, "whose log it is")
        #expect(lines(rows: 12).dropFirst().dropLast() == (91...100).map { "  line \($0)" }[...])
        _ = press(.pageUp)
        #expect(lines(rows: 12)[1] == "  line 82")
        model.append(toLog: ["more"])
        #expect(lines(rows: 12)[1] == "  line 82", "what is read stays where it is")
        #expect(model.shownLog == "backup#7")
        _ = press(.text("/"), .text("LINE 7"), .enter)
        #expect(lines(rows: 12).contains("> line 79"))
        _ = press(.text("n"))
        #expect(lines(rows: 12).contains("> line 78") || lines(rows: 12).contains("> line 7"))
        _ = press(.text("/"), .text("nowhere"), .enter)
        #expect(lines(rows: 12).last == "\"nowhere\" is not in the log")
        #expect(press(.text("q")) == nil, "back to the list")
        #expect(press(.text("q")) == .quit)
    }

    @Test mutating func `never touches the last column, however small it gets`() {
        fill()
        model.questions = [
            WatchQuestion(
                id: "q", bot: "日本語", text: "漢字👩‍👩‍👧", choices: ["a"], takesText: true, deadline: nil)
        ]
        for number in 1...4 { _ = model.end(end("日本語の仕事#\(number)", .failed)) }
        for keys: [Key] in [
            [], [.text("?")], [.escape, .text("/"), .text("漢字漢字漢字")], [.escape, .text("a")],
        ] {
            for key in keys { _ = model.receive(key) }
            for columns in 1...120 {
                for rows in [1, 2, 3, 5, 24] {
                    let size = TerminalSize(columns: columns, rows: rows)
                    let frame = model.frame(at: at(60), size: size)
                    #expect(frame.lines.allSatisfy { $0.cells < max(columns, 2) }, "\(columns) columns")
                    #expect(frame.lines.count == rows, "\(rows) rows")
                }
            }
        }
    }
}

@Suite struct `the days of a view` {
    private func lines(_ now: String) throws -> [String] {
        let strip = DayStrip(slots: [try Moment(iso8601: now) + .seconds(86_400)])
        let zone = try SystemZones.zone("Europe/Berlin")
        return strip.lines(at: try Moment(iso8601: now), in: zone, plainColors, columns: 90).map { text($0) }
    }

    @Test func `are as long as they are, and say where the clock is moved`() throws {
        let spring = try lines("2026-03-28T12:30:00+01:00")
        #expect(spring[0] == "  Fri 27                  │Sat 28                  │Sun 29, -1 h at 02:00")
        #expect(spring[1] == "  ·     ·     ·     ·     │·     ·     ┃     ·     │· ↕   ·     ○     ·")
        let autumn = try lines("2026-10-25T12:30:00+01:00")
        #expect(autumn[0] == "  Sat 24                  │Sun 25, +1 h at 03:00    │Mon 26")
        #expect(autumn[1].hasPrefix("  ·     ·     ·     ·     │·  ↕  ·     ·┃    ·     ·│"), "\(autumn[1])")
    }
}
