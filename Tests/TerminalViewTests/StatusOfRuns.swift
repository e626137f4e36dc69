import Testing
import Tracking

@testable import TerminalView

@Suite struct `what a terminal is sent of runs by name` {
    private func traits(
        _ variables: [String: String] = [:], osc: TerminalTraits.Wish = .always
    ) -> TerminalTraits {
        TerminalTraits(
            progress: .live, taskbar: osc, isTerminal: true,
            environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"].merging(variables) { $1 })
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `is one record of each, and one of all, when they change`() {
        var reports = StatusReports()
        func update(_ runs: LiveState...) -> [String] { reports.update(runs).map(text) }
        var backup = live("backup#7", progress: 0.421)
        backup.phase = "copying"
        #expect(
            update(backup) == [
                "\u{1B}]7501;state=working:id=ops/backup-7:progress=42:title=YmFja3VwIzc=:msg=Y29weWluZw==\u{1B}\\",
                "\u{1B}]7501;state=working:app=belfry:progress=42\u{1B}\\",
            ])
        backup.progress = 0.429
        #expect(update(backup).isEmpty)
        var asking = live("ask#1", .blocked)
        asking.blockedKind = .permission
        let both = update(backup, asking)
        #expect(both.last == "\u{1B}]7501;state=blocked:app=belfry:kind=permission\u{1B}\\")
        #expect(update(backup).first == "\u{1B}]7501;state=clear:id=ops/ask-1\u{1B}\\")
    }

    @Test func `is a title at Konsole, which has the old one again when no run is left`() {
        let konsole = traits(["KONSOLE_VERSION": "260401"], osc: .auto)
        #expect(konsole.showsTitle && !traits(["KONSOLE_VERSION": "230400"], osc: .auto).showsTitle)
        #expect(!traits(["KONSOLE_VERSION": "260401", "TMUX": "/t"], osc: .always).showsTitle)
        #expect(!traits().showsTitle)
        var title = WindowTitle()
        let backup = live("backup#7", progress: 0.421)
        #expect(text(title.update([backup])) == "\u{1B}[22;2t\u{1B}]2;42% backup#7\u{1B}\\")
        #expect(title.update([backup]).isEmpty)
        #expect(
            text(title.update([backup, live("ask\u{7}#1", .blocked)]))
                == "\u{1B}]2;ask#1, blocked +1\u{1B}\\")
        #expect(title.update([]) == WindowTitle.clear && title.update([]).isEmpty)
        var reports = TerminalReports(konsole)
        #expect(text(reports.update([backup], at: at(0))).contains("]2;42% backup#7\u{1B}"))
        #expect(text(TerminalReports.clear(konsole)).hasSuffix("\u{1B}[23;2t"))
    }

    @Test func `is read back by the reader of what jobs send`() throws {
        for (index, state) in RunState.allCases.enumerated() {
            var run = live("job-\(index)#1", state, progress: 0.5, message: "at \u{1B}]0;x\u{7} work: 日本語")
            run.blockedKind = state == .blocked ? .auth : nil
            var reports = StatusReports()
            var reader = StatusSequences()
            let sequences = reports.update([run])
            for sequence in sequences {
                #expect(sequence.count <= 4096 && sequence.suffix(2) == [0x1B, 0x5C])
                #expect(sequence.dropFirst().dropLast(2).allSatisfy { (0x20..<0x7F).contains($0) })
            }
            let read = sequences.flatMap { reader.receive($0[...]) }
            guard let part = read.compactMap(\.part).first else {
                #expect([.canceled, .skipped, .missed].contains(state))
                continue
            }
            #expect(part.path == "ops/job-\(index)-1")
            if state == .running { #expect(part.progress == 0.5 && part.word == .working) }
            if state == .blocked { #expect(part.word == .blocked) }
        }
    }

    @Test func `passes through a tmux that does not know it, where that is asked for`() {
        let old = traits(["TMUX": "/tmp/t,1,0", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"])
        var reports = TerminalReports(old)
        let bytes = text(reports.update([live("a", progress: 0.42)], at: at(0)))
        #expect(bytes.hasPrefix("\u{1B}Ptmux;\u{1B}\u{1B}]9;4;1;42\u{1B}\u{1B}\\\u{1B}\\"), "\(bytes)")
        #expect(text(TerminalReports.clear(old)).hasPrefix("\u{1B}Ptmux;\u{1B}\u{1B}]9;4;0"))
        let new = traits(["TMUX": "/tmp/t,1,0", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.7"])
        #expect(!new.passesThrough && new.showsTaskbar)
    }

    @Test func `is nothing for terminals that are not known, and where nobody wants it`() {
        #expect(TerminalReports.clear(traits(osc: .auto)).isEmpty)
        #expect(TerminalReports.clear(traits(["TERM_PROGRAM": "ghostty"], osc: .never)).isEmpty)
        let ghostty = traits(["TERM_PROGRAM": "ghostty"], osc: .auto)
        #expect(ghostty.showsTaskbar && !ghostty.showsStatus)
        #expect(traits(["TERM_FEATURES": "T3Pst"], osc: .auto).showsStatus)
    }
}

@Suite struct `a command between others on a terminal` {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `begins and ends with its id, and nothing of it ends the sequence early`() {
        let context = CommandContext(id: "0199-a;b")
        #expect(
            text(context.begin(["tar", "c;f", "é\u{1B}\\"], folder: "/home"))
                == "\u{1B}]3008;start=0199-ab;type=command;cwd=/home;cmdline=tar c\\x3bf \\xc3\\xa9\\x1b\\x5c\u{1B}\\"
        )
        #expect(text(context.finish(.code(0))) == "\u{1B}]3008;end=0199-ab;exit=success\u{1B}\\")
        #expect(text(context.finish(.code(3))) == "\u{1B}]3008;end=0199-ab;exit=failure;status=3\u{1B}\\")
        #expect(
            text(context.finish(.signal(9))) == "\u{1B}]3008;end=0199-ab;exit=crash;signal=SIGKILL\u{1B}\\")
        #expect(text(context.finish(.unknown)) == "\u{1B}]3008;end=0199-ab\u{1B}\\")
    }
}
