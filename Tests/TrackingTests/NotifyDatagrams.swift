import Testing
import Tracking

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
