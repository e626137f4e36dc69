import TestSupport
import Testing

@testable import Tracking

@Suite struct `a notify datagram` {
    private func read(_ text: String) -> NotifyDatagram? { NotifyDatagram(Array(text.utf8)[...]) }

    @Test(arguments: [
        ("X_PROGRESS=0.42", 0.42), ("X_PROGRESS=42%", 0.42), ("X_PROGRESS=21/50", 0.42),
        ("X_PROGRESS=3/10", 0.3), ("X_PROGRESS=1", 1), ("X_PROGRESS=0", 0), ("X_PROGRESS=12.5%", 0.125),
        ("X_IMPORT_PROGRESS=7%", 0.07), ("X_SYSUPDATE_PROGRESS=60", 0.6),
        ("X_IMPORT_PROGRESS=7%\nX_PROGRESS=0.5", 0.5), ("X_PROGRESS=0.5\nX_IMPORT_PROGRESS=7%", 0.5),
    ])
    func `report progress as a fraction, a percentage or amounts`(text: String, progress: Double) {
        #expect(read(text)?.report.progress == progress)
    }

    @Test(arguments: [
        "X_PROGRESS=", "X_PROGRESS=42", "X_PROGRESS=-1%", "X_PROGRESS=101%", "X_PROGRESS=5/0",
        "X_PROGRESS=9/3", "X_PROGRESS=nan", "X_PROGRESS=inf", "X_PROGRESS=0x1", "X_PROGRESS=1e-1",
        "X_PROGRESS=1/2/3", "X_PROGRESS=.", "X_PROGRESS=%", "X_PROGRESS=/",
        "X_PROGRESS=0.1234567890123456789012", "X_IMPORT_PROGRESS=200", "PROGRESS=42%", "x_progress=42%",
    ])
    func `report none by a number that can't be one`(text: String) {
        #expect(read(text)?.report.progress == nil)
    }

    @Test func `reads what systemd-notify sends`() {
        let datagram = read("STATUS=Uploading 3/10\nX_PROGRESS=0.30\nX_TOTAL=10")
        #expect(datagram?.report == ProgressReport(fraction: 0.3, message: "Uploading 3/10"))
        #expect(read("READY=1")?.isReady == true)
        #expect(read("READY=1")?.report.word == .working)
    }

    @Test func `prefers its own message over the status line`() {
        #expect(read("X_MESSAGE=ours\nSTATUS=theirs")?.report.message == "ours")
    }

    @Test(arguments: [
        ("X_STATE=blocked:permission", ProgressReport.Word.blocked(.permission)),
        ("X_STATE=blocked:auth", .blocked(.auth)), ("X_STATE=blocked", .blocked(.question)),
        ("X_STATE=working", .working), ("X_STATE=blocked:boss", nil), ("X_STATE=working:hard", nil),
        ("X_STATE=done", nil), ("X_STATE=", nil),
    ])
    func `report what the job waits for`(text: String, word: ProgressReport.Word?) {
        #expect(read(text)?.report.word == word)
    }

    @Test func `report a phase and the seconds left`() {
        let datagram = read("X_PHASE=verify\nX_ETA_SEC=90")
        #expect(datagram?.report == ProgressReport(phase: "verify", etaSeconds: 90))
    }

    @Test func `report nothing by words it does not know`() {
        #expect(read("WATCHDOG=1\nMAINPID=7\n=\nnoise\nX_=1\n\n")?.report.isEmpty == true)
        #expect(read("")?.report.isEmpty == true)
    }

    @Test func `of a part of the work leaves all but the message to that part`() {
        let datagram = read("X_TASK=child/1\nX_PROGRESS=90%\nX_PHASE=p\nX_MESSAGE=m\nX_STATE=blocked:auth")
        var report = ProgressReport(message: "m")
        report.part = ReportedPart(path: "child/1", progress: 0.9, word: .blocked)
        #expect(datagram?.report == report)
    }

    @Test func `is refused when it is longer than 8 KiB`() {
        #expect(read("STATUS=" + String(repeating: "x", count: 8185)) != nil)
        #expect(read("STATUS=" + String(repeating: "x", count: 8186)) == nil)
    }
}

@Suite struct `a question in a datagram` {
    private func question(_ text: String) -> ReportedQuestion? {
        NotifyDatagram(Array(text.utf8)[...])?.question
    }

    @Test func `has choices, a key, a deadline and a default`() throws {
        let plain = try #require(question("X_QUESTION=Deploy?"))
        #expect(plain.text == "Deploy?" && plain.key == "Deploy?" && plain.choices == ["yes", "no"])
        #expect(plain.fallback == nil && plain.openFor == nil)
        let whole = try #require(
            question(
                "X_DEFAULT=later\nX_AFTER=1h30m\nX_CHOICES= now , later\nSTATUS=x\nX_QUESTION=When?\nX_QUESTION_KEY=k"
            ))
        #expect(whole.choices == ["now", "later"] && whole.key == "k")
        #expect(whole.fallback == "later" && whole.openFor == .seconds(5400))
        #expect(try #require(question("X_QUESTION=Name?\nX_CHOICES=")).choices.isEmpty)
        #expect(ReportedQuestion.id(of: "k", in: "r") != ReportedQuestion.id(of: "k", in: "s"))
    }

    @Test(arguments: [
        "X_QUESTION= ", "X_CHOICES=a,b", "X_QUESTION=a\nX_CHOICES=x,X", "X_QUESTION=a\nX_AFTER=soon",
        "X_QUESTION=a\nX_AFTER=0s", "X_QUESTION=a\nX_DEFAULT=yes",
        "X_QUESTION=a\nX_DEFAULT=maybe\nX_AFTER=1m",
        "X_QUESTION=a\nX_CHOICES=" + String(repeating: "x", count: 61),
        "X_QUESTION=a\nX_CHOICES=1,2,3,4,5,6,7,8,9,10,11",
        "X_QUESTION=" + String(repeating: "x", count: 4001), "X_QUESTION=a\nX_CHOICES=a, ,b",
    ])
    func `that can't be asked is none`(text: String) {
        #expect(question(text) == nil)
    }
}

@Suite struct `a progress line` {
    private func read(_ text: String) -> ProgressReport? { ProgressLine.report(Array(text.utf8)[...]) }

    @Test(arguments: [
        (#"{"progress":0.42}"#, 0.42), (#" { "progress" : 42 , "total" : 100 } "#, 0.42),
        (#"{"progress":4.2e-1,"x":[1,{"y":[]}],"z":null,"w":true}"#, 0.42),
        (#"{"progress":0.1,"progress":0.42}"#, 0.42), (#"{"\u0070rogress":0.42}"#, 0.42),
    ])
    func `reports progress as a fraction or as amounts`(text: String, progress: Double) {
        #expect(read(text)?.progress == progress)
    }

    @Test(arguments: [
        #"{"progress":42}"#, #"{"progress":-0.5}"#, #"{"progress":"0.42"}"#, #"{"progress":5,"total":0}"#,
        #"{"progress":7,"total":3}"#, #"{"x":{"progress":0.42}}"#, #"{"progress":1e999}"#, "{}",
    ])
    func `reports none by a value that can't be one`(text: String) {
        #expect(read(text)?.progress == nil)
    }

    @Test(arguments: [
        "", "{", "}", "[]", "42", #"{"a":1,}"#, #"{"a" 1}"#, #"{a:1}"#, #"{"a":01}"#, #"{"a":1.}"#,
        #"{"a":.5}"#, #"{"a":+1}"#, #"{"a":nul}"#, #"{"a":1}x"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#,
        "{\"a\":\"\n\"}", #"{"a":"b}"#, #"{"a":[1,2}"#, #"{"a":NaN}"#, #"{"a":1}{"b":2}"#,
        #"{"a":[[[[[[[[1]]]]]]]]}"#,
    ])
    func `is nothing unless it is one whole object`(text: String) {
        #expect(read(text) == nil)
    }

    @Test func `reports message, phase, state and seconds left`() {
        let report = read(
            #"{"message":"a\t\"b\" \u00e9 \ud83d\ude00 \ud800","phase":"p","state":"blocked:auth","eta":30}"#)
        #expect(
            report
                == ProgressReport(
                    phase: "p", message: "a\t\"b\" é 😀 \u{FFFD}", word: .blocked(.auth), etaSeconds: 30))
    }

    @Test func `of a part of the work leaves all but the message to that part`() {
        var report = ProgressReport(message: "m")
        report.part = ReportedPart(path: "a/b", progress: 0.9, word: .failed)
        #expect(read(#"{"id":"a/b","progress":0.9,"message":"m","state":"error"}"#) == report)
    }

    @Test func `comes in pieces of any size`() {
        let bytes = Array("{\"progress\":0.1}\n{\"progress\":0.2}\nnoise\n{\"progress\":0.3}".utf8)
        for size in 1...bytes.count {
            var lines = ProgressLine()
            var found: [Double?] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                found += lines.receive(piece, at: at(0)).map(\.fraction)
            }
            found += lines.finish().map(\.fraction)
            #expect(found == [0.1, 0.2, 0.3], "pieces of \(size)")
        }
    }

    @Test func `is read fifty times a second, and the newest of the others when the second has passed`() {
        var lines = ProgressLine()
        let flood = (1...1000).map { "{\"progress\":\(Double($0) / 1000)}\n" }.joined()
        let first = lines.receive(Array(flood.utf8)[...], at: at(0))
        #expect(first.map(\.fraction) == (1...50).map { Double($0) / 1000 })
        #expect(lines.heldUntil == at(1))
        #expect(lines.receive([], at: at(0.5)).isEmpty)
        #expect(lines.receive([], at: at(1)).map(\.fraction) == [1])
        #expect(lines.heldUntil == nil)
        #expect(lines.finish().isEmpty)
    }
}

@Suite struct `the progress that a job sends to a terminal` {
    private func read(_ text: String, cut: Int = .max) -> [ProgressReport] {
        var reader = StatusSequences()
        var rest = Array(text.utf8)[...]
        var reports: [ProgressReport] = []
        while !rest.isEmpty {
            reports += reader.receive(rest.prefix(cut))
            rest = rest.dropFirst(cut)
        }
        return reports
    }

    @Test(arguments: [Int.max, 1, 3]) func `is read in both forms, wherever it is cut`(cut: Int) {
        let text = "a\u{1B}]9;4;1;33\u{1B}\\b\u{1B}[31mred\u{1B}]9;4;1;42\u{07}\u{1B}]0;title\u{07}c"
        #expect(read(text, cut: cut) == [ProgressReport(fraction: 0.33), ProgressReport(fraction: 0.42)])
    }

    @Test(
        arguments: [
            ("9;4;0;0", nil), ("9;4;0", nil), ("9;4;3", ProgressReport()),
            ("9;4;2;50", ProgressReport(fraction: 0.5)),
            ("9;4;1;101", nil), ("9;4;1;-5", nil), ("9;4;1;nan", nil), ("9;4", nil), ("9;a message", nil),
            ("9;4;4;10", ProgressReport(fraction: 0.1)),
        ] as [(String, ProgressReport?)])
    func `means what terminals make of it`(sequence: String, report: ProgressReport?) {
        #expect(read("\u{1B}]\(sequence)\u{1B}\\") == [report].compactMap(\.self))
    }

    @Test func `is read from the status protocol, with the parts of the work`() {
        let message = Base64.encode(Array("copying größe".utf8))
        let reports = read(
            "\u{1B}]7501;state=working:progress=42:msg=\(message)\u{1B}\\"
                + "\u{1B}]7501;state=blocked:kind=permission\u{07}"
                + "\u{1B}]7501;id=build/linux:state=working:progress=10\u{1B}\\"
                + "\u{1B}]7501;id=build:state=clear\u{1B}\\")
        #expect(
            reports.first
                == ProgressReport(fraction: 0.42, message: "copying größe", word: .working))
        #expect(reports[1].word == .blocked(.permission))
        #expect(reports[2].part == ReportedPart(path: "build/linux", progress: 0.1, word: .working))
        #expect(reports[3].part?.word == .clear)
    }

    @Test(arguments: [
        "progress=42", "state=working:UP=1", "state=working:x=a b", "state=flying", "state", "?",
        "id=a//b:state=working", "id=1/2/3/4/5/6/7/8/9:state=working", "state=wor\u{01}king",
        "id=\(String(repeating: "x", count: 33)):state=done",
        "state=working:msg=\(String(repeating: "QUFB", count: 1100))",
    ])
    func `is refused where it is not of the protocol's form`(text: String) {
        #expect(read("\u{1B}]7501;\(text)\u{1B}\\").isEmpty)
    }

    @Test func `is what a shell within the job has begun, as a message`() {
        var sequences = StatusSequences()
        func read(_ text: String) -> [ProgressReport] { sequences.receive(Array(text.utf8)[...]) }
        let begun = read("\u{1B}]3008;start=a1;type=command;cwd=/x;cmdline=make\\x3b ls -\\xzz\u{1B}\\")
        #expect(begun == [ProgressReport(message: "make; ls -\\xzz")] && begun[0].isRemark)
        #expect(read("\u{1B}]3008;end=a1;exit=success\u{1B}\\").isEmpty)
        #expect(read("\u{1B}]3008;start=a1;type=shell\u{1B}\\\u{1B}]3008;start=a;cmdline=\u{07}").isEmpty)
    }

    @Test func `stays within bounds, whatever is sent`() {
        var generator = SeededGenerator(seed: 18)
        var reader = StatusSequences()
        let alphabet = Array("\u{1B}]9;4;17501state=working:progres0\u{07}\\id/".utf8) + [0, 255]
        for _ in 0..<300 {
            let piece = (0..<4000).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            for report in reader.receive(piece[...]) {
                #expect((0...1).contains(report.progress ?? 0))
            }
        }
    }
}
