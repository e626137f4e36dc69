import Testing
import Tracking

@Suite struct `the output of a job` {
    private func scan(_ records: [String], endedBy separator: String = "\n") -> [ProgressReport] {
        var scanner = OutputScanner()
        let bytes = Array(records.map { $0 + separator }.joined().utf8)
        return scanner.receive(bytes[...], at: at(0)) + scanner.finish()
    }

    /// Lines as the tools print them; three each, so that the last one is believed.
    static let recorded: [(tool: String, records: [String], progress: Double, phase: String?)] = [
        (
            "rsync --info=progress2",
            [
                "      5,242,880  26%  120.02MB/s    0:00:00 (xfr#9, to-chk=31/41)",
                "     11,010,048  54%   98.11MB/s    0:00:00 (xfr#21, to-chk=19/41)",
                "     18,500,000  92%  440.29MB/s    0:00:00 (xfr#37, to-chk=3/41)",
            ], 0.92, nil
        ),
        (
            "wget --progress=bar:force:noscroll",
            [
                "/dev/null  21%[>     ] 13.40M 28.9MB/s", "/dev/null  55%[=>    ] 35.20M 29.1MB/s",
                "/dev/null  88%[===>  ] 56.90M 29.9MB/s",
            ], 0.88, nil
        ),
        (
            "wget dots",
            [
                "  1024K ........ ........ 3% 1.03G 0s", "  2048K ........ ........ 6% 1.03G 0s",
                "  3072K ........ ........ 9% 1.03G 0s",
            ], 0.09, nil
        ),
        (
            "curl -#", ["#                31.2%", "##               62.5%", "###              95.7%"], 0.957,
            nil
        ),
        (
            "aria2c",
            [
                "[#204257 9MiB/64MiB(14%) CN:1 DL:10MiB ETA:5s]",
                "[#204257 16MiB/64MiB(25%) CN:1 DL:10MiB ETA:4s]",
                "[#204257 23MiB/64MiB(36%) CN:1 DL:10MiB ETA:3s]",
            ], 0.36, nil
        ),
        (
            "git clone --progress",
            [
                "Receiving objects:  32% (97/302)", "Receiving objects:  33% (100/302)",
                "Receiving objects:  34% (103/302)",
            ], 0.34, "Receiving objects"
        ),
        ("ninja", ["[3/6] cc a.c", "[4/6] cc b.c", "[5/6] ld prog"], 5.0 / 6, nil),
        (
            "cargo build",
            [
                "    Building [>        ] 1/4: x(bin)", "    Building [===>     ] 2/4: y",
                "    Building [=====>   ] 3/4: x(bin), z",
            ], 0.75, "Building"
        ),
        ("pytest", [".. [ 33%]", "... [ 66%]", "...... [100%]"], 1, nil),
        (
            "pytest -v",
            [
                "tests/test_a.py::test_x PASSED     [ 32%]", "tests/test_b.py::test_more PASSED  [ 64%]",
                "tests/test_c.py::test_z PASSED     [ 97%]",
            ], 0.97, nil
        ),
        (
            "tqdm",
            [
                "scan:  20%|██        | 6/30 [00:00<00:00, 48.89it/s]",
                "scan:  27%|██▋       | 8/30 [00:00<00:00, 48.89it/s]",
                "scan:  33%|███▎      | 10/30 [00:00<00:00, 48.89it/s]",
            ], 0.33, "scan"
        ),
        (
            "restic --json",
            [
                #"{"message_type":"status","percent_done":0.0098,"total_files":41,"files_done":1}"#,
                #"{"message_type":"status","percent_done":0.0298,"total_files":41,"files_done":1}"#,
                #"{"message_type":"status","percent_done":0.5,"total_files":41,"files_done":21}"#,
            ], 0.5, nil
        ),
        (
            "a language server's percentage",
            [#"{"percentage":1}"#, #"{"percentage":2}"#, #"{"percentage":30}"#], 0.3, nil
        ),
        ("a bot's percent", [#"{"progress":1}"#, #"{"progress":2}"#, #"{"progress":3}"#], 0.03, nil),
        ("a bot's fraction", [#"{"progress":0.1}"#, #"{"progress":0.2}"#, #"{"progress":1}"#], 1, nil),
        (
            "cmake",
            ["[ 12%] Building C a.o", "[ 25%] Building C b.o", "[ 37%] Building C c.o"], 0.37, "Building"
        ),
        (
            "swift build", ["[3/90] Compiling A", "[4/90] Compiling B", "[9/90] Compiling C"], 0.1,
            "Compiling"
        ),
        ("docker build", ["Step 1/7 : FROM a", "Step 2/7 : RUN b", "Step 3/7 : RUN c"], 3.0 / 7, nil),
        ("of", ["1 of 12", "2 of 12", "3 of 12"], 0.25, nil),
        (
            "of, in words", ["packing file 4 of 12", "packing file 5 of 12", "packing file 6 of 12"], 0.5,
            "packing"
        ),
        ("out of", ["copied: 1 out of 4.", "copied: 2 out of 4.", "copied: 3 out of 4."], 0.75, "copied"),
        ("of, in brackets", ["(2 of 8) a", "(4 of 8) b", "(6 of 8) c"], 0.75, nil),
        ("of amounts", ["1.5 of 6.0 GB", "3.0 of 6.0 GB", "4.5 of 6.0 GB"], 0.75, nil),
        ("counted", ["1/12 files", "2/12 files", "3/12 files"], 0.25, nil),
        ("a word and a percentage", ["packing 25%", "packing 50%", "packing 75%"], 0.75, "packing"),
        ("a script", ["Uploading 3/10", "Uploading 4/10", "Uploading 5/10"], 0.5, "Uploading"),
    ]

    @Test(arguments: recorded.indices)
    func `finds progress in the shapes tools really print`(index: Int) {
        let (tool, records, progress, phase) = Self.recorded[index]
        for separator in ["\n", "\r", "\r\n"] {
            let reports = scan(records, endedBy: separator)
            #expect(reports.count == 1, "\(tool)")
            #expect(abs((reports.last?.progress ?? -1) - progress) < 1e-9, "\(tool)")
            #expect(reports.last?.phase == phase, "\(tool)")
        }
    }

    @Test(arguments: [
        ("packing file %d of 12", "packing file 4 of 12", "12 files"),
        ("%d/12 files", "4/12 files", "12 files"),
        ("copied %d of 12 batches", "copied 4 of 12 batches", "12 batches"),
        ("Uploading %d/12", nil, nil), ("(%d of 12) a", nil, nil),
    ])
    func `keeps what is counted in words, and as the result of the whole`(
        shape: String, said: String?, result: String?
    ) {
        func line(_ count: Int) -> String { shape.replacing("%d", with: "\(count)") }
        #expect(scan([line(2), line(3), line(4)]).last?.message == said)
        let whole = scan([line(10), line(11), line(12)]).last?.message
        #expect(whole.flatMap(ProgressTitle.result) == result)
        #expect(ProgressTitle.result(of: said ?? "no count") == (said == nil ? "no count" : nil))
    }

    @Test(arguments: [
        ["2026/03/12 ok", "2026/03/13 ok", "2026/03/14 ok"],
        ["GET /a/1/20", "GET /a/2/20", "GET /a/3/20"],
        ["v1.5%", "v1.6%", "v1.7%"],
        ["101%", "102%", "103%"],
        ["12 files", "13 files", "14 files"],
        ["1/12 10:00 ok", "2/12 10:00 ok", "3/12 10:00 ok"],
        ["1 of 12-03-2026", "2 of 12-03-2026", "3 of 12-03-2026"],
        ["1 of 1.2.3", "1 of 2.2.3", "1 of 3.2.3"],
        ["attempt 1 of 3", "attempt 2 of 3", "attempt 3 of 3"],
        ["Retry 1/3", "Retry 2/3", "Retry 3/3"],
        ["1 of 9 tests failed", "2 of 9 tests failed", "3 of 9 tests failed"],
        ["1 of 12% used", "2 of 12% used", "3 of 12% used"],
        ["2 of us", "3 of us", "4 of us"],
        ["12 of 4", "13 of 4", "14 of 4"],
        ["1of 12", "2of 12", "3of 12"],
        ["3/1", "4/1", "5/1"],
        ["1,024  10% ir-chk=1/2", "1,024  20% ir-chk=1/2", "1,024  30% ir-chk=1/2"],
        ["cpu 10%", "cpu 10%", "cpu 10%"],
        ["a 10%", "b 20%", "c 30%"],
        ["10%", "5%", "7%"],
        [#"{"x":{"progress":0.1}}"#, #"{"x":{"progress":0.2}}"#, #"{"x":{"progress":0.3}}"#],
        [#"{"percent_done":10}"#, #"{"percent_done":20}"#, #"{"percent_done":30}"#],
        ["\u{1B}]9;4;1;10\u{7}", "\u{1B}]9;4;1;20\u{7}", "\u{1B}]9;4;1;30%\u{7}"],
    ])
    func `finds nothing in numbers that only look like progress`(records: [String]) {
        #expect(scan(records).isEmpty)
    }

    @Test func `is read without the colours and movements in it`() {
        let reports = scan([
            "\u{1B}[1;32m10\u{1B}[0m%", "\u{1B}[2K\u{1B}]0;title 99%\u{1B}\\20%", "\u{1B}(B30\u{1B}[m%",
        ])
        #expect(reports.map(\.fraction) == [0.3])
    }

    @Test func `names the next phase when a second title rises`() {
        let first = (1...3).map { "Receiving objects: \($0 * 30)%" }
        let second = (1...4).map { "Resolving deltas: \($0 * 10)%" }
        let reports = scan(first + second)
        #expect(reports.map(\.phase) == ["Receiving objects", "Resolving deltas", "Resolving deltas"])
        #expect(reports.map(\.fraction) == [0.9, 0.3, 0.4])
    }

    @Test func `changes the phase of a build only when two records in a row do the same`() {
        let words = ["Building", "Building", "Building", "Linking", "Building", "Linking", "Linking"]
        let reports = scan(words.enumerated().map { "[ \($0.offset + 10)%] \($0.element) C x" })
        #expect(reports.map(\.phase) == ["Building", nil, nil, nil, "Linking"])
    }

    @Test func `sticks to the first bar while two take turns`() {
        let reports = scan((1...8).flatMap { ["one: \($0 * 10)%", "two: \($0 * 5)%"] })
        #expect(Set(reports.map(\.phase)) == ["one"])
        #expect(reports.last?.fraction == 0.8)
    }

    @Test func `is given up for the run after two falls`() {
        var scanner = OutputScanner()
        func feed(_ percents: [Int]) -> [ProgressReport] {
            scanner.receive(Array(percents.map { "\($0)%\n" }.joined().utf8)[...], at: at(0))
        }
        #expect(feed([10, 20, 30, 5, 40]).map(\.fraction) == [0.3, 0.4])
        #expect(!scanner.hasGivenUp && scanner.belief != nil)
        #expect(feed([1]) == [ProgressReport(isWithdrawal: true)])
        #expect(scanner.hasGivenUp && scanner.belief == nil)
        #expect(feed([50, 60, 70, 80, 90]).isEmpty)
        #expect(scanner.finish().isEmpty)
    }

    @Test func `comes in pieces of any size`() {
        let bytes = Array("10%\r20%\r\n30%\n\u{1B}[2K40%\r50%".utf8)
        for size in 1...bytes.count {
            var scanner = OutputScanner()
            var found: [Double?] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                found += scanner.receive(piece, at: at(0)).map(\.fraction)
            }
            found += scanner.finish().map(\.fraction)
            #expect(found == [0.3, 0.4, 0.5], "pieces of \(size)")
        }
    }

    @Test func `costs no more for a million lines, and its last line still counts`() {
        var scanner = OutputScanner()
        let flood = Array((1...1000).map { "\(Double($0) / 10)%\n" }.joined().utf8)
        let read = scanner.receive(flood[...], at: at(0))
        #expect(read.count == 48)
        #expect(scanner.finish().map(\.fraction) == [1])
    }

    @Test func `holds no more than 8 KiB of a line that does not end`() {
        var scanner = OutputScanner()
        for percent in [10, 20, 30] {
            let line = "\(percent)% " + String(repeating: "x", count: 100_000) + "99%\n"
            let reports = scanner.receive(Array(line.utf8)[...], at: at(0))
            #expect(reports.map(\.fraction) == (percent == 30 ? [0.3] : []))
        }
    }
}
