import Performing
import TestSupport
import Testing
import Timeline

@testable import WardenProtocol

@Suite struct `the wire` {
    static let key = RunKey(run: "01a0c450-6c00-7000-8000-000000000001", attempt: 3)
    static let order = ProcessOrder(
        key: key, work: .command(["restic", "backup", "", "ö b"]),
        environment: ["A": "1", "B": "x=y", "C": ""],
        folder: "/home", timeout: .seconds(7200), grace: .milliseconds(1500),
        output: .init(path: "/tmp/out.log", headBytes: 10, tailBytes: 20), isOutputWatched: false, umask: 0o27
    )
    static let program: ProcessOrder = {
        var order = ProcessOrder(key: key, work: .command(["claude", "-p"]), output: .init(path: "/o"))
        (order.errorPath, order.inherited) = ("/o.err", ["HOME", "LC_*"])
        return order
    }()
    static let record = ExitRecord(
        key: key, cause: .canceled, exitCode: nil, signal: 15, cancelReason: "replaced", pid: 4711,
        startedAt: Moment(microseconds: 1_790_000_000_123_456), endedAt: Moment(seconds: 1_790_000_002),
        elapsed: .microseconds(1_876_544), cpu: .milliseconds(37), maxResidentKiB: 20_480,
        outputBytes: 5_000_000_000,
        survivors: [Survivor(pid: 4712, name: "ö b"), Survivor(pid: 4713, name: "")])

    static let commands: [WardenCommand] = [
        .hello(version: 1), .start(order),
        .start(ProcessOrder(key: key, work: .shell("echo $A"), output: .init(path: "/o"))), .start(program),
        .cancel(key, reason: "requested"), .query(nil), .query(key), .acknowledge(key),
        .signal(key, number: 2), .offer(stream: 0), .offer(stream: 2), .attach(token: "t"), .endStream(1),
        .acknowledgeReports(key, through: 70_000),
    ]
    static let messages: [WardenMessage] = [
        .hello(WardenHello(pid: 12, startTime: .max, bootID: "6a1f", runs: 3)),
        .started(key, pid: 99, startTime: 123_456_789, at: Moment(microseconds: -5)),
        .refused(key, .notFound, text: "no program \"x\""),
        .output(key, offset: 1 << 40, bytes: [0, 255, 10]),
        .report(key, line: Array(#"{"progress":0.5}"#.utf8)),
        .notify(key, datagram: Array("STATUS=x\nX_PROGRESS=3/10".utf8)),
        .report(key, line: [], number: 1), .notify(key, datagram: Array("STATUS=x".utf8), number: 70_000),
        .notifySocket(key), .ended(record), .unknown(key), .caughtUp, .attached(token: "t"),
    ]

    @Test(arguments: `the wire`.commands) func `brings every command across`(command: WardenCommand) throws {
        #expect(try readCommands(in: command.frame) == [command])
    }

    @Test(arguments: `the wire`.messages) func `brings every message across`(message: WardenMessage) throws {
        #expect(try readMessages(in: message.frame) == [message])
    }

    /// Frames as the first warden that knew them wrote them; made by hand from the description of the wire.
    @Test func `has the bytes that every version reads`() throws {
        let key = RunKey(run: "r", attempt: 3)
        var order = ProcessOrder(
            key: key, work: .command(["a", "b"]), environment: ["A": "1"], folder: "/h",
            timeout: .seconds(5), grace: .milliseconds(1500),
            output: .init(path: "/o", headBytes: 10, tailBytes: 20), isOutputWatched: false, umask: 0o27,
            pty: PtySize(rows: 24, columns: 80), stdin: .pty, user: "u", nice: -5,
            limits: [.memoryBytes: 64])
        order.attachment = "t"
        order.leftoverGrace = .seconds(2)
        let record = ExitRecord(
            key: key, cause: .canceled, exitCode: 1, signal: 15, cancelReason: "why", pid: 7,
            startedAt: Moment(microseconds: -1), endedAt: Moment(microseconds: 2), elapsed: .microseconds(3),
            cpu: .microseconds(4), maxResidentKiB: 5, outputBytes: 6, survivors: [Survivor(pid: 8, name: "c")]
        )
        let commands: [(WardenCommand, String)] = [
            (
                .start(order),
                """
                4d000000020a050a017210061201611201622203413d312a022f683080ade20438c08db70142022f6f48145028580060\
                2ec2020174c8028092f401683070a001780492010175980109a201050812108001
                """
            ),
            (.cancel(key, reason: "why"), "0d000000030a050a017210061203776879"),
            (.query(key), "08000000040a050a01721006"), (.query(nil), "0100000004"),
            (.acknowledge(key), "08000000050a050a01721006"),
            (.pause(key), "080000000b0a050a01721006"), (.resume(key), "080000000c0a050a01721006"),
        ]
        for (command, bytes) in commands { #expect(hex(command.frame) == bytes) }
        let ended = "0a050a0172100610061802201e2a03776879300e3801400448065008580a600c680272050810120163"
        let started = WardenMessage.started(
            key, pid: 7, startTime: 9, at: Moment(microseconds: -5))
        #expect(hex(started.frame) == "0e000000020a050a01721006100e18122009")
        #expect(hex(WardenMessage.ended(record).frame) == "2a00000008" + ended)
        #expect(hex(record.fileBytes) == ended)
        var full = record
        (full.outputTail, full.errorTail) = ([0x61, 0x62], [0x63])
        #expect(hex(full.fileBytes) == ended + "7a02616282010163")
        #expect(try ExitRecord(fileBytes: full.fileBytes) == full)
    }

    @Test func `asks no older warden for what it would pass over`() {
        #expect(WardenCommand.pause(Self.order.key).neededVersion == 4)
        #expect(Self.program.neededVersion == 3 && Self.order.neededVersion == 1)
        #expect(WardenHello.currentVersion == 5)
    }

    @Test func `numbers reasons, causes and limits as every version does`() {
        let refusals: [Refusal] = [
            .other, .notFound, .notExecutable, .badFolder, .badOutput, .badOrder, .tooLong, .exhausted,
            .badInput,
            .noSuchUser, .notPermitted, .stillAlive,
        ]
        #expect(refusals.map(\.number) == Array(0...11) && refusals.count == Refusal.allCases.count)
        #expect(Refusal.allCases.allSatisfy { Refusal(number: $0.number) == $0 })
        let causes: [ExitRecord.Cause] = [.exited, .timeout, .canceled, .lost]
        #expect(causes.map(\.number) == [1, 2, 3, 4] && causes.count == ExitRecord.Cause.allCases.count)
        let limits: [ResourceLimit] = [
            .cpuSeconds, .fileBytes, .stackBytes, .coreBytes, .processes, .descriptors, .memoryBytes,
        ]
        #expect(
            limits.map(\.number) == [0, 1, 3, 4, 6, 7, 9] && limits.count == ResourceLimit.allCases.count)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `survives being cut anywhere`() throws {
        let bytes = Self.commands.flatMap(\.frame)
        for step in [1, 2, 3, 7, 64] {
            var buffer = FrameBuffer()
            var received: [WardenCommand] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                buffer.append(bytes[start..<min(start + step, bytes.count)])
                while let frame = try buffer.next() {
                    if let command = try WardenCommand(kind: frame.kind, frame.fields) {
                        received.append(command)
                    }
                }
            }
            #expect(received == Self.commands)
        }
    }

    @Test func `skips kinds and fields of a newer version`() throws {
        var newer = FieldWriter(kind: 5)
        newer.put(200, "something new")
        newer.put(1, Self.key)
        newer.put(201, 77)
        var unheardOf = FieldWriter(kind: 99)
        unheardOf.put(1, 1)
        #expect(try readCommands(in: unheardOf.frame() + newer.frame()) == [.acknowledge(Self.key)])
    }

    @Test func `reads an unknown refusal of a newer warden as other`() throws {
        var newer = FieldWriter(kind: 3)
        newer.put(1, Self.key)
        newer.put(2, 4000)
        newer.put(3, "a new reason")
        #expect(try readMessages(in: newer.frame()) == [.refused(Self.key, .other, text: "a new reason")])
    }

    @Test(arguments: [[0, 0, 0, 0, 1], [255, 255, 255, 255, 1], [1, 0, 64, 0, 1]] as [[UInt8]])
    func `refuses a frame of an impossible length`(bytes: [UInt8]) throws {
        #expect(throws: WardenError.self) { try readCommands(in: bytes) }
    }

    @Test func `refuses a key that could leave its folder`() throws {
        for run in ["../x", "a/b", "", ".hidden", String(repeating: "x", count: 65), "a\u{0}b"] {
            let command = WardenCommand.acknowledge(RunKey(run: run, attempt: 1))
            #expect(throws: WardenError.badValue(kind: 5, number: 1)) { try readCommands(in: command.frame) }
        }
    }

    @Test func `refuses a message that lacks what it needs`() throws {
        #expect(throws: WardenError.missingField(kind: 5, number: 1)) {
            try readCommands(in: FieldWriter(kind: 5).frame())
        }
    }

    @Test func `answers random bytes with an error or with nothing, never with a crash`() {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0 ... .max, using: &generator)
        var random = SeededGenerator(seed: seed)
        for round in 0..<20_000 {
            // Half of them start as real frames, then a few bytes are changed.
            var bytes = round % 2 == 0 ? Self.commands[round / 2 % Self.commands.count].frame : []
            if bytes.isEmpty {
                bytes = (0..<Int(random.next() % 64)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
            for _ in 0..<4 where !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if let read = try? readCommands(in: bytes) {
                #expect(read.count <= bytes.count, "seed \(seed), round \(round)")
            }
            _ = try? readMessages(in: bytes)
        }
    }

    @Test func `keeps an exit record in a file`() throws {
        #expect(try ExitRecord(fileBytes: Self.record.fileBytes) == Self.record)
        #expect(throws: WardenError.self) { try ExitRecord(fileBytes: []) }
    }

    @Test func `names an attempt's files`() {
        #expect(RunKey(description: "\(Self.key)") == Self.key)
        #expect(RunKey(description: "x") == nil)
        #expect(RunKey(description: "x.0") == nil)
    }

    private func readCommands(in bytes: [UInt8]) throws -> [WardenCommand] {
        try frames(in: bytes).compactMap { try WardenCommand(kind: $0.kind, $0.fields) }
    }

    private func readMessages(in bytes: [UInt8]) throws -> [WardenMessage] {
        try frames(in: bytes).compactMap { try WardenMessage(kind: $0.kind, $0.fields) }
    }

    private func frames(in bytes: [UInt8]) throws -> [(kind: UInt8, fields: ArraySlice<UInt8>)] {
        var buffer = FrameBuffer()
        buffer.append(bytes[...])
        var frames: [(kind: UInt8, fields: ArraySlice<UInt8>)] = []
        while let frame = try buffer.next() { frames.append(frame) }
        return frames
    }
}
