import Testing
import Timeline
import Tracking

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
