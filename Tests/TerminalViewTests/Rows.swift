import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the rows of a frame` {
    @Test func `stand in columns`() {
        let rows = [
            row(live("backup#7", progress: 0.42, phase: "copy", message: "a.txt", updatedAt: 12)),
            row(live("日本#1", progress: 1, updatedAt: 200)), row(live("quiet#3", updatedAt: 61)),
        ]
        #expect(
            texts(rows, columns: 70, traits: plainColors) == [
                "● backup#7  ████▌······   42%  copy: a.txt                12 s so far",
                "● 日本#1    ███████████  100%                       3 min 20 s so far",
                "● quiet#3                                            1 min 1 s so far",
            ])
    }

    @Test func `are drawn in ASCII where there is nothing else`() {
        let rows = [row(live("backup#7", progress: 0.42, phase: "kopiert größte Datei", updatedAt: 12))]
        #expect(
            texts(rows, columns: 60, traits: asciiOnly) == [
                "> backup#7  ###>-----   42%  kopiert gr??te...  12 s so far"
            ])
    }

    @Test func `never touch the last column, however narrow it gets`() {
        let rows = [
            row(live("日本語の仕事#12", progress: 0.5, message: "👩‍👩‍👧 漢字 text", updatedAt: 5)),
            row(live("b#1", .blocked, message: "may I?", updatedAt: 5)),
        ]
        for traits in [plainColors, asciiOnly, colorful] {
            for columns in 1...200 {
                let size = TerminalSize(columns: columns, rows: 10)
                let frame = Frame(rows, size: size, traits: traits)
                #expect(frame.lines.allSatisfy { $0.cells < max(columns, 2) }, "\(columns) columns")
            }
        }
    }

    @Test func `come with what waits for a person first and what waits for its turn last`() {
        let states: [RunState] = [.queued, .paused, .running, .stalled, .starting, .failed, .blocked]
        let rows = states.map { row(live($0.rawValue, $0)) }
        let order = texts(rows, columns: 80, traits: plainColors).map { $0.split(separator: " ")[1] }
        #expect(order == ["blocked", "failed", "stalled", "running", "starting", "paused", "queued"])
    }

    @Test func `keep their order when none is more urgent`() {
        let rows = (1...5).map { row(live("job#\($0)")) }
        let order = texts(rows, columns: 80, traits: plainColors).map { $0.split(separator: " ")[1] }
        #expect(order == ["job#1", "job#2", "job#3", "job#4", "job#5"])
    }

    @Test func `have those of the parts of a run below them, where all fit`() {
        var build = live("build#1", progress: 0.5, updatedAt: 5)
        var (linux, sign) = (ChildTask(path: "linux"), ChildTask(path: "mac/sign", state: .failed))
        (linux.progress, sign.message) = (0.25, "no key")
        build.tasks = [linux, sign]
        let rows = [row(build), row(live("other#1", updatedAt: 5))]
        let shown = texts(rows, columns: 60, traits: plainColors)
        #expect(shown.count == 5)
        #expect(shown[1].hasPrefix("●   linux") && shown[1].contains("25%"))
        #expect(shown[2].hasPrefix("●   mac"))
        #expect(shown[3].hasPrefix("✗     sign") && shown[3].contains("no key"))
        #expect(texts(rows, columns: 60, rows: 4, traits: plainColors).count == 2)
    }

    @Test func `that do not fit are counted`() {
        let rows = (1...10).map { row(live("job#\($0)")) } + [row(live("ask#1", .blocked))]
        let shown = texts(rows, columns: 80, rows: 5, traits: plainColors)
        #expect(shown.count == 4)
        #expect(shown[0].hasPrefix("◆ ask#1"))
        #expect(shown[3] == "+8 more")
        #expect(texts(rows, columns: 80, rows: 12, traits: plainColors).count == 11)
        #expect(texts(rows, columns: 80, rows: 1, traits: plainColors) == ["+11 more"])
    }

    @Test func `show what a run waits for`() {
        var blocked = live("a#1", .blocked, message: "Overwrite /etc/x?")
        #expect(RunWording.detail(of: blocked, at: at(0)) == "waits for an answer: Overwrite /etc/x?")
        blocked.blockedKind = .permission
        blocked.message = nil
        #expect(RunWording.detail(of: blocked, at: at(0)) == "waits for permission")
        var queued = live("a#1", .queued)
        queued.reason = .retryWait
        #expect(RunWording.detail(of: queued, at: at(0)) == "waits for the next attempt")
    }

    @Test func `show how many there are, or how many bytes a second`() {
        func detail(_ amount: WorkAmount, _ message: String? = "a.txt") -> String {
            var live = live("x", progress: 0.5, message: message)
            live.amount = amount
            return RunWording.detail(of: live, at: at(0))
        }
        #expect(detail(WorkAmount(done: 6, total: 12, unit: "files", rate: 3)) == "6/12 files, a.txt")
        #expect(detail(WorkAmount(done: 6, total: 12, unit: "files"), nil) == "6/12 files")
        #expect(detail(WorkAmount(done: 6, total: 12)) == "a.txt")
        #expect(detail(WorkAmount(done: 5e8, total: 1e9, unit: "bytes", rate: 3.4e7)) == "34 MB/s, a.txt")
        #expect(detail(WorkAmount(done: 5e8, total: 1e9, unit: "bytes")) == "a.txt")
        #expect(detail(WorkAmount(done: 1e308, total: 1e308, unit: "x"), nil) == "1e+308/1e+308 x")
        #expect(
            [0, 640, 999.6, 1234, 9_949, 9_960, 1.2e9, 9e99].map(DisplayBytes.text) == [
                "0 B", "640 B", "1.0 kB", "1.2 kB", "9.9 kB", "10 kB", "1.2 GB", "1000000000000000 PB",
            ])
    }

    @Test func `show since when a run is silent`() {
        let stalled = live("a#1", .stalled, progress: 0.42, updatedAt: 100)
        #expect(RunWording.detail(of: stalled, at: at(220)) == "stalled 2 min at 42%")
        var stale = live("a#1", progress: 0.42, phase: "copy", updatedAt: 100)
        stale.staleAt = at(200)
        #expect(RunWording.detail(of: stale, at: at(199)) == "copy")
        #expect(RunWording.detail(of: stale, at: at(220)) == "no report for 2 min: copy")
        let staleRow = LiveRow(stale, at: at(220), zone: .utc)
        let line = Frame([staleRow], size: TerminalSize(columns: 80, rows: 24), traits: colorful).lines[0]
        #expect(text(line).hasPrefix("\u{1B}[2m"))
        #expect(text(line).hasSuffix("\u{1B}[0m"))
    }

    @Test func `never let a name or message command the terminal`() {
        let evil = live("a\u{1B}[2J\u{7}#1", message: "x\u{1B}]0;t\u{7}\r\ny\u{202E}z")
        let line = texts([row(evil)], columns: 100, traits: plainColors)[0]
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    }

    @Test(arguments: [(0.0, "0%"), (0.004, "0%"), (0.29, "29%"), (0.999, "99%"), (1, "100%"), (7, "100%")])
    func `show 100 % when all is done and not before`(progress: Double, words: String) {
        #expect(RunWording.percent(progress) == words)
    }

    @Test func `draw a bar to the eighth of a cell`() {
        func bar(_ progress: Double) -> String { Bar(progress, width: 4, glyphs: true).text }
        #expect(
            (0...8).map { bar(Double($0) / 32) }.joined(separator: " ")
                == [
                    "····", "▏···", "▎···", "▍···", "▌···", "▋···", "▊···", "▉···", "█···",
                ].joined(separator: " "))
        #expect(bar(0.9999) == "███▉")
        #expect(bar(1) == "████")
        for step in 0...1000 {
            for glyphs in [true, false] {
                let bar = Bar(Double(step) / 1000, width: 17, glyphs: glyphs)
                #expect(CellWidth.of(bar.text) == 17)
            }
        }
    }
}

@Suite struct `the line that stays` {
    @Test func `shows how a run ended and how long it took`() {
        func line(_ state: RunState, _ reason: RunReason?, detail: String? = nil) -> String {
            var ended = live("backup#7", state, updatedAt: 252)
            ended.reason = reason
            return text(FinishedLine.line(ended, detail: detail, traits: plainColors))
        }
        #expect(line(.completed, .exitCode) == "✓ backup#7  completed in 4 min 12 s")
        #expect(line(.failed, .notFound) == "✗ backup#7  failed after 4 min 12 s: command not found")
        var missing = live("backup#7", .failed, updatedAt: 252)
        (missing.startedAt, missing.reason) = (nil, .notFound)
        missing.message = MissingProgram("foo", in: "/usr/bin:/bin").sentence
        for (reason, detail) in [(RunReason.notFound, nil), (nil, "no program \"foo\"")] {
            missing.reason = reason
            #expect(
                text(FinishedLine.line(missing, detail: detail, traits: plainColors))
                    == "✗ backup#7  failed: no program \"foo\"")
        }
        #expect(
            line(.failed, .exitCode, detail: "exit code 3")
                == "✗ backup#7  failed after 4 min 12 s: exit code 3")
        #expect(line(.canceled, .canceled) == "– backup#7  canceled after 4 min 12 s")
        #expect(
            line(.timedOut, .timeout)
                == "✗ backup#7  timed out after 4 min 12 s: took longer than its timeout")
    }

    @Test func `shows why a run could not be started, and no words of one that was`() {
        var ended = live("backup#8", .failed, message: "TOKEN can't be read from /tmp/x")
        ended.reason = .spawnFailed
        #expect(!text(FinishedLine.line(ended, traits: plainColors)).contains("TOKEN"))
        ended.startedAt = nil
        let why = "could not be started: TOKEN can't be read from /tmp/x"
        #expect(text(FinishedLine.line(ended, traits: plainColors)) == "✗ backup#8  failed: \(why)")
        #expect(RunWording.outcome(of: ended, detail: "could not be started") == "failed: \(why)")
    }

    @Test func `is cut to one row, the name before the outcome`() {
        var ended = live(String(repeating: "long-", count: 12) + "#7", .failed, updatedAt: 252)
        ended.reason = .exitCode
        let line = FinishedLine.line(ended, detail: "exit code 3", traits: plainColors, columns: 40)
        #expect(line.cells <= 40)
        #expect(text(line).hasPrefix("✗ long-long-") && text(line).contains("…  failed after 4"))
        #expect(FinishedLine.line(ended, traits: plainColors, columns: 1).cells <= 8)
    }
}

@Suite struct `a sentence for a narrow terminal` {
    @Test func `is broken between words`() {
        #expect(LineBreaker.lines("one two three", columns: 7) == ["one two", "three"])
        #expect(LineBreaker.lines("one", columns: 2) == ["one"])
        #expect(LineBreaker.lines("", columns: 9).isEmpty)
    }
}
