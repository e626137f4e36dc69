import Glibc
import Performing
import TestSupport
import Testing

@testable import Host
@testable import Warden
@testable import WardenProtocol

extension OutputFile {
    /// The file of an order's output.
    init(_ output: ProcessOrder.Output) throws(HostError) {
        try self.init(path: output.path, headBytes: output.headBytes, tailBytes: output.tailBytes)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `output` {
    @Test func `is drained always and kept bounded, with true offsets`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["seq", "1", "1000000"]))
        order.output.headBytes = 100_000
        order.output.tailBytes = 40_000
        warden.client.send(.start(order))
        let events = try await warden.until { if case .ended = $0 { true } else { false } }
        guard case .ended(let record)? = events.last else { return }
        let whole = (1...1_000_000).map(String.init).joined(separator: "\n") + "\n"
        let expected = Array(whole.utf8)
        #expect(record.exitCode == 0)
        #expect(record.outputBytes == expected.count)
        #expect(record.outputTail == Array(expected.suffix(ExitRecord.tailLimit)) && record.errorTail.isEmpty)

        // Copies may be left out, but never lie about where they belong.
        var end = 0
        for case .output(_, let offset, let bytes) in events {
            #expect(offset >= end)
            #expect(bytes[...] == expected[offset..<offset + bytes.count])
            end = offset + bytes.count
        }
        #expect(end > 0)

        var slices: [OutputLog.Slice] = []
        let log = OutputLog(path: order.output.path)
        while true {
            let slice = try log.read(from: slices.last?.end ?? 0)
            if slice.bytes.isEmpty { break }
            #expect(slice.bytes[...] == expected[slice.offset..<slice.end])
            slices.append(slice)
        }
        #expect(slices.last?.end == expected.count)
        let head = slices.filter { $0.offset < 100_000 }.map(\.bytes.count).reduce(0, +)
        let tail = slices.filter { $0.offset >= 100_000 }.map(\.bytes.count).reduce(0, +)
        #expect(head == 100_000)
        #expect((30_000...40_000).contains(tail))
    }

    @Test(arguments: [1, 7, 4095, 4096, 4097, 9000])
    func `leaves its newest bytes, whatever it came in`(size: Int) {
        let bytes = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        var recent = RecentBytes()
        for start in stride(from: 0, to: bytes.count, by: size) {
            recent.append(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(recent.newest == Array(bytes.suffix(ExitRecord.tailLimit)))
    }

    @Test func `has a log for errors alone where the order names one`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("printf out; printf err >&2; (sleep 0.3; echo late >&2) &"))
        order.errorPath = order.output.path + ".err"
        warden.client.send(.start(order))
        let events = try await warden.until { if case .ended = $0 { true } else { false } }
        guard case .ended(let record)? = events.last else { return }
        #expect(record.outputBytes == 3)
        #expect(record.outputTail == Array("out".utf8) && record.errorTail == Array("err".utf8))
        #expect(try warden.log(of: order) == "out")
        var copies: [UInt8] = []
        for case .output(_, _, let bytes) in events { copies += bytes }
        #expect(copies == Array("out".utf8))
        let errors = OutputLog(path: order.output.path + ".err")
        // What outlives the run goes the same way.
        #expect(try await Shell.run("until grep -q late \(errors.path); do sleep 0.01; done") == 0)
        #expect(try errors.read(from: 0).bytes == Array("errlate\n".utf8))
    }

    @Test func `can be read while the job runs`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("echo before; sleep 1000"))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "before")
        #expect(try warden.log(of: order) == "before\n")
    }

    @Test func `is copied for parsing only when asked`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("echo x"))
        order.isOutputWatched = false
        warden.client.send(.start(order))
        let events = try await warden.until { if case .ended = $0 { true } else { false } }
        #expect(!events.contains { if case .output = $0 { true } else { false } })
    }

    @Test func `replaces what an older log at its path had`() throws {
        let folder = try TemporaryFolder()
        let plan = ProcessOrder.Output(path: folder.file("new/a.log"), headBytes: 3, tailBytes: 8)
        var first = try OutputFile(plan)
        first.append(Array("0123456789abcdefghij".utf8)[...])
        #expect(try OutputLog(path: plan.path).pieceOffsets() == [0, 13, 15, 17, 19])
        _ = try OutputFile(plan)
        #expect(try OutputLog(path: plan.path).pieceOffsets() == [0])
        #expect(try OutputLog(path: plan.path).read(from: 0).bytes.isEmpty)
    }

    @Test func `does not make a state folder that was moved away, and refuses the run with the reason`()
        async throws
    {
        let warden = try await WardenAtWork()
        let state = warden.folder.file("state")
        #expect(unsafe rename(state, warden.folder.file("away")) == 0)
        var order = warden.order(.shell("echo lost"))
        order.output.path = state + "/output/job/\(order.key).log"
        warden.client.send(.start(order))
        let events = try await warden.until { if case .refused = $0 { true } else { false } }
        guard case .refused(_, .badOutput, let text)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(text == "the folder \(state) does not exist")
        #expect(unsafe access(state, F_OK) != 0)
        // Moved back it is where it was, and runs find their folder in it.
        #expect(unsafe rename(warden.folder.file("away"), state) == 0)
        order = warden.order(.shell("echo kept"), attempt: 2)
        order.output.path = state + "/output/job/\(order.key).log"
        try await warden.run(order)
        #expect(try warden.log(of: order) == "kept\n")
    }

    @Test func `shows from where it continues when bytes were dropped`() throws {
        let folder = try TemporaryFolder()
        let plan = ProcessOrder.Output(path: folder.file("a.log"), headBytes: 3, tailBytes: 8)
        var file = try OutputFile(plan)
        file.append(Array("0123456789abcdefghij".utf8)[...])
        let log = OutputLog(path: plan.path)
        #expect(try log.read(from: 1) == .init(offset: 1, bytes: Array("12".utf8)))
        #expect(try log.read(from: 3) == .init(offset: 13, bytes: Array("de".utf8)))
        #expect(try log.read(from: 14) == .init(offset: 14, bytes: Array("e".utf8)))
        #expect(try log.read(from: 20) == .init(offset: 20, bytes: []))
        file.append(Array("k".utf8)[...])
        #expect(try log.read(from: 20) == .init(offset: 20, bytes: Array("k".utf8)))
    }

    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `that a full disk did not take is missing, and what comes when there is room is not`() throws {
        let disk = try SmallDisk(megabytes: 1)
        let plan = ProcessOrder.Output(
            path: disk.folder.file("a.log"), headBytes: 1 << 20, tailBytes: 1 << 20)
        var file = try OutputFile(plan)
        file.append(Array("begin".utf8)[...])
        try disk.fill()
        for _ in 1...8 { file.append([UInt8](repeating: 0x78, count: 100_000)[...]) }
        try disk.free()
        file.append(Array("end".utf8)[...])
        #expect(file.count == 800_008)
        let log = OutputLog(path: plan.path)
        let begin = try log.read(from: 0)
        #expect(begin.offset == 0 && begin.bytes.starts(with: Array("begin".utf8)))
        #expect(try log.read(from: begin.end) == .init(offset: 800_005, bytes: Array("end".utf8)))
        #expect(try log.pieceOffsets() == [0, 800_005])
    }

    @Test func `is found behind a piece that a full disk left empty`() throws {
        let folder = try TemporaryFolder()
        let log = OutputLog(path: folder.file("a.log"))
        try PrivateFolder.make(log.pieceFolder)
        try SmallFile.replace(log.path, with: Array("abc".utf8))
        for (offset, text) in [(10, ""), (20, ""), (30, "end")] {
            try SmallFile.replace(log.file(offset), with: Array(text.utf8))
        }
        #expect(try log.read(from: 3) == .init(offset: 30, bytes: Array("end".utf8)))
        #expect(try log.read(from: 12) == .init(offset: 30, bytes: Array("end".utf8)))
    }

    @Test func `without a tail keeps the head and counts the rest`() throws {
        let folder = try TemporaryFolder()
        var file = try OutputFile(.init(path: folder.file("a.log"), headBytes: 4, tailBytes: 0))
        file.append(Array("0123456789".utf8)[...])
        #expect(file.count == 10)
        #expect(try OutputLog(path: folder.file("a.log")).read(from: 0).bytes == Array("0123".utf8))
    }

    @Test func `of lines is cut at line ends wherever the bytes were cut`() {
        let text = Array("{\"a\":1}\r\n\n{\"b\":2}\nlast".utf8)
        for step in 1...text.count {
            var splitter = LineSplitter()
            var lines: [[UInt8]] = []
            for start in stride(from: 0, to: text.count, by: step) {
                lines += splitter.split(text[start..<min(start + step, text.count)])
            }
            if let last = splitter.finish() { lines.append(last) }
            #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["{\"a\":1}", "{\"b\":2}", "last"])
        }
    }

    @Test func `that never ends a line takes no memory and nothing after it is lost`() {
        var splitter = LineSplitter()
        let long = [UInt8](repeating: 0x78, count: 5000)
        #expect(splitter.split(long[...]).isEmpty)
        #expect(splitter.split(long[...]).isEmpty)
        #expect(splitter.split(Array("\nnext\n".utf8)[...]) == [Array("next".utf8)])
    }
}
