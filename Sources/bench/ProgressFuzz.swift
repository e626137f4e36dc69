import CronBench
import Timeline
import Tracking

/// Random bytes that look like progress, through each parser of it and on into a live state.
///
/// Nothing may trap; progress stays in 0...1 and never falls within a phase, and what people see stays short and clean. A
/// fault prints its seed and ends the program: `bench progress-fuzz [BYTES [SEED]]`, of each parser.
enum ProgressFuzz {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `arguments[0]` bytes (ten million unless said) with the seed `arguments[1]`.
    static func run(arguments: [String]) throws {
        let count = arguments.first.flatMap { Int($0) } ?? 10_000_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        print("progress-fuzz: \(count) bytes each, seed \(seed)")
        try run("what is found", count, seed, from: .text) { () -> Parse in
            var parser = OutputScanner()
            return { piece, now in piece.map { parser.receive($0, at: now) } ?? parser.finish() }
        }
        for tool in ProgressReading.Tool.allCases {
            let totals = [nil, 1000].filter { NamedReader(ProgressReading(tool: tool, total: $0)) != nil }
            for total in totals {
                let name = "\(tool.rawValue)\(total == nil ? "" : ", with a total")"
                try run(name, count / totals.count, seed, from: .parser) { () -> Parse in
                    var parser = NamedReader(ProgressReading(tool: tool, total: total))
                    return { piece, now in
                        (piece.map { parser?.receive($0, at: now) } ?? parser?.finish()) ?? []
                    }
                }
            }
        }
        try run("OSC 9;4, 7501 and 3008", count, seed, from: .osc) { () -> Parse in
            var parser = StatusSequences()
            return { piece, _ in piece.map { parser.receive($0) } ?? [] }
        }
        try run("PROGRESS_FD", count, seed, from: .native) { () -> Parse in
            var parser = ProgressLine()
            return { piece, now in piece.map { parser.receive($0, at: now) } ?? parser.finish() }
        }
        try run("NOTIFY_SOCKET", count, seed, from: .native) { () -> Parse in
            { piece, _ in piece.flatMap { NotifyDatagram($0)?.report }.map { [$0] } ?? [] }
        }
    }

    /// Parses the next bytes; nil: there are no more.
    private typealias Parse = (ArraySlice<UInt8>?, Moment) -> [ProgressReport]

    private static func run(
        _ name: String, _ count: Int, _ seed: UInt64, from source: ReportSource, _ make: () -> Parse
    ) throws {
        var random = SeededNumbers(seed: seed)
        let watch = Stopwatch()
        var (left, reports) = (count, 0)
        while left > 0 {
            let bytes = bytes(&random)
            left -= max(1, bytes.count)
            do {
                reports += try feed(bytes, to: make(), from: source, &random)
            } catch {
                throw Fault(description: "\(name), seed \(seed), \(left) bytes left: \(error)")
            }
        }
        print("  \(name): \(reports) reports, \(watch.seconds.short) s")
    }

    /// Feeds one stream in pieces, and checks what happens to the live state.
    private static func feed(
        _ bytes: [UInt8], to parse: Parse, from source: ReportSource, _ random: inout SeededNumbers
    ) throws -> Int {
        let start = Moment(seconds: 1_000)
        let task = LiveTask(id: "r", botID: "ops", run: "r#1", name: "r", botName: "Ops")
        var tracker = LiveTracker(task: task, incarnation: 1, state: .starting, at: start)
        _ = tracker.became(.running, at: start)
        var (place, count, now) = (0, 0, start)
        while place <= bytes.count {
            let end = min(bytes.count, place + Int.random(in: 1...300, using: &random))
            now = now + .milliseconds(Int64.random(in: 0...400, using: &random))
            let reports = parse(place < bytes.count ? bytes[place..<end] : nil, now)
            for report in reports {
                let before = tracker.live
                _ = tracker.receive(report, from: source, at: now)
                try check(tracker.live, after: before, report)
            }
            count += reports.count
            if place == bytes.count { break }
            place = end
        }
        _ = tracker.became(.completed, at: now)
        guard let profile = tracker.profile else { return count }
        guard RunProfile(bytes: profile.bytes) != nil else {
            throw Fault(description: "a profile that can't be read again")
        }
        return count
    }

    private static func check(
        _ live: LiveState, after before: LiveState, _ report: ProgressReport
    ) throws {
        if let progress = live.progress {
            guard (0...1).contains(progress) else { throw Fault(description: "progress is \(progress)") }
            if let earlier = before.progress, live.phase == before.phase, progress < earlier {
                guard report.isWithdrawal else { throw Fault(description: "\(progress) after \(earlier)") }
            }
        }
        for (text, limit) in [
            (live.phase, LiveTracker.phaseLimit + 16), (live.message, LiveTracker.messageLimit + 1),
        ] {
            guard let text else { continue }
            guard text.count <= limit else { throw Fault(description: "a text of \(text.count) characters") }
            guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
            else { throw Fault(description: "a control character in \(text.debugDescription)") }
        }
        guard live.tasks?.count ?? 0 <= 1000 else { throw Fault(description: "too many parts") }
        if let finish = live.finish, finish.at - before.updatedAt > .seconds(12_000_000_000) {
            throw Fault(description: "a finish at \(finish.at)")
        }
    }

    private static func bytes(_ random: inout SeededNumbers) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                for _ in 0..<Int.random(in: 0...40, using: &random) {
                    bytes.append(.random(in: 0...255, using: &random))
                }
            case 1: bytes += Array("\(Int.random(in: -5...120, using: &random))".utf8)
            case 2: bytes += Array(numbers.randomElement(using: &random) ?? [])
            case 4 where bytes.count < 4000: bytes += rising(&random)
            case 3 where !bytes.isEmpty:
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes += Array(bytes[place...].prefix(200))
            default: bytes += Array(lines.randomElement(using: &random) ?? [])
            }
        }
        return bytes
    }

    /// A tool that gets on, with a byte that is wrong here and there.
    private static func rising(_ random: inout SeededNumbers) -> [UInt8] {
        let template = templates.randomElement(using: &random) ?? ""
        var (step, text) = (Int.random(in: 0...30, using: &random), "1..100\n")
        while step <= 100, text.utf8.count < 2000 {
            text += template.split(separator: "@", omittingEmptySubsequences: false).joined(
                separator: "\(step)")
            step += Int.random(in: 1...20, using: &random)
        }
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        return bytes
    }

    private static let templates = [
        "[@/100] touch o@\n", "ok @ - step\n", "[ @%] Building C object m.c.o\n", "copied @%\n", "@/100\n",
        "{\"message_type\":\"status\",\"percent_done\":0.@,\"total_files\":41}\n",
        "tar: Write checkpoint @00\n",
        "@00000 bytes (@ MB, @ MiB) copied, @ s, 62 MB/s\r", "scan:  @%|###      | @/100 [00:00<00:00]\r",
        "Receiving objects:  @% (@/100)\r", "{\"progress\":@,\"total\":100,\"phase\":\"copy\"}\n",
        "X_PROGRESS=@/100\nSTATUS=file @\n", "\u{1B}]9;4;1;@\u{1B}\\",
        "pmstatus:hello:@.0000:Unpacking hello\n",
        "{\"stats\":{\"bytes\":@,\"totalBytes\":100}}\n", "time=00:00:@.00 bitrate=1\r",
        "   ━━━━━━━━ @.0/100.0 kB 1.2 MB/s eta 0:00:01\r",
        "#@ [build @/100] RUN make\n#@ DONE 0.1s\n", "Step @/100 : RUN make\n",
        "aaaaaaaaaa@@: Pulling fs layer\naaaaaaaaaa@@: Pull complete\n",
        "Progress: @.0 % (libc6:amd64)\n", "status: hello@: installed\n",
        "{\"type\":\"progress_percent\",\"msgid\":\"check\",\"current\":@,\"total\":100}\n",
    ]

    private static let numbers = [
        "NaN", "1e308", "-1", "1e999", "99999999999999999999999", "0.42", "100%", "7/10", "0/0", "9/1",
        "9223372036854775807", "-9223372036854775808", "inf", "00", "1.", ".5",
    ].map { Array($0.utf8) }

    private static let lines = [
        "\n", "\r", "\u{8}\u{8}\u{8}", "\u{1B}[2K\r", " ", "\u{1B}]9;4;1;", "\u{1B}]9;4;0\u{1B}\\", "\u{7}",
        "\u{1B}]7501;state=working:progress=", ":id=build/linux", ":msg=d29yaw==", "\u{1B}\\",
        "\u{1B}]7501;state=blocked:kind=auth\u{1B}\\", "{\"progress\":", "{\"percent_done\":0.", "}\n",
        ",\"total\":", ",\"phase\":\"copy\"", ",\"id\":\"a/b\"", ",\"message\":\"\\u001b[31mx\\ud800\"",
        "STATUS=half\n", "X_PROGRESS=", "X_PHASE=", "X_TASK=a/b\n", "X_STATE=blocked:permission\n",
        "X_ETA_SEC=", "READY=1\n", "\n 18,500,000  92%  440.29MB/s    0:00:00 (xfr#37, to-chk=3/41)\r",
        " 73 64.0M   73 47.0M    0     0  39.7M      0  0:00:01  0:00:01 --:--:-- 39.7M\r",
        "dlstatus:1:", "pmstatus:hello:20.0000:Unpacking hello (amd64)\n", "pmconffile:/etc/x:'a' 'b' 1 0\n",
        "status: hello: half-configured\n", "processing: install: hello\n",
        "{\"type\":\"archive_progress\",\"nfiles\":3,\"original_size\":9,\"finished\":false}\n",
        "[#204257 23MiB/64MiB(36%) CN:1 DL:10MiB ETA:3s]\n", "out_time_us=", "progress=end\n",
        "  Duration: 00:00:40.00, start: 0\n", "frame=  1 time=00:00:12.50 bitrate=\r",
        "Receiving objects:  34% (103/302)\r", "remote: Counting objects: 5, done.\n", "[5/6] touch o5\r",
        "    Building [====>   ] 2/3: x(bin)\r", "t/test_1.py::test_a PASSED   [ 97%]\n", "1..5\n",
        "ok 3 - x\n",
        "scan:  33%|###      | 10/30 [00:00<00:00, 48.89it/s]\r", "Bail out!\n",
        "  3072K ........ 9% 1.03G 0s\n",
        "62\n", "tar: Write checkpoint 1000\n", "62914560 bytes (63 MB, 60 MiB) copied, 1 s, 62 MB/s\r",
        "#5 12.3MB / 40MB 1.2s\n", "download:PROG {\"downloaded_bytes\":5,\"total_bytes\":9}\n", "日本語 50%\n",
        "\u{202E}evil 3/4\n", "#7 [build 2/5] RUN x\n", "#7 CACHED\n", "Step ", "Successfully built ",
        "a1b2c3d4e5f6: Pull complete\n", "Progress: ", " % (", "\u{1B}]3008;start=", ";type=command",
        ";exit=failure",
        "\u{1B}]3008;end=a1\u{1B}\\", "X_QUESTION=Ship it?\n", "X_CHOICES=yes,no\n", "X_UNIT=files\n",
    ].map { Array($0.utf8) }
}
