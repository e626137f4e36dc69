import Glibc
import Host
import Performing
import TestSupport
import Testing
import Timeline
import WardenProtocol

/// What daemon and warden of protocol version 1 said to each other, recorded from their sockets.
///
/// Never edited: the protocol only grows, and this is what it has grown from.
enum FirstVersion {
    static let key = RunKey(run: "01a0c450-6c00-7000-8000-000000000001", attempt: 1)
    static let other = RunKey(run: key.run, attempt: 2)

    // The daemon.
    static let hello = bytes(
        "03000000010802")
    static let start = bytes(
        "83000000020a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "3110021a106563686f206f6e653b20657869742037221142454c4652595f4a4f423d6261636b75702a042f74"
            + "6d703080a0bad2353880dac40942122f746d702f62662d76312f6f75742e6c6f674880808001508080800158"
            + "02602e")
    static let query = bytes(
        "2b000000040a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "311004")
    static let startMissing = bytes(
        "5a000000020a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "311004120f6e6f2d737563682d70726f6772616d3880dac40942112f746d702f62662d76312f6f322e6c6f67"
            + "480250025802")
    static let queryAll = bytes(
        "0100000004")
    static let acknowledge = bytes(
        "2b000000050a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "311002")
    static let queryAgain = bytes(
        "2b000000040a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "311002")

    // The warden.
    static let helloAnswer = bytes(
        "3200000001080210a65018d88619222435363530316164612d666161642d346339342d383738642d30393163"
            + "31663765653133302800")
    static let caughtUp = bytes(
        "010000000a")
    static let started = bytes(
        "3b000000020a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "31100210fe501884891920f69ad783a3b5b006")
    static let output = bytes(
        "33000000040a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "31100210001a046f6e650a")
    static let ended = bytes(
        "52000000080a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "3110021002180e30fe5038f69ad783a3b5b0064092add783a3b5b00648a21250ba1258f8b40160086800")
    static let unknown = bytes(
        "2b000000090a280a2430316130633435302d366330302d373030302d383030302d3030303030303030303030"
            + "311004")

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the first version of the protocol` {
    @Test func `is understood by this warden`() async throws {
        let warden = try await WardenAtWork()
        await warden.hangUp()
        let socket = try LocalSocket.connect(warden.folder.file("w/warden.sock"))
        #expect(try LocalSocket.send((FirstVersion.hello + FirstVersion.start)[...], over: socket) > 0)
        var seen = try messages(from: socket) { if case .ended = $0 { true } else { false } }
        guard case .hello(let hello)? = seen.first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.version == WardenHello.currentVersion)
        #expect(seen.contains { if case .started(FirstVersion.key, _, _, _) = $0 { true } else { false } })
        #expect(seen.contains(.output(FirstVersion.key, offset: 0, bytes: Array("one\n".utf8))))
        guard case .ended(let record)? = seen.last else { return }
        #expect(record.key == FirstVersion.key && record.exitCode == 7)

        let rest =
            FirstVersion.query + FirstVersion.startMissing + FirstVersion.acknowledge
            + FirstVersion.queryAgain
        #expect(try LocalSocket.send(rest[...], over: socket) == rest.count)
        seen = try messages(from: socket) { $0 == .unknown(FirstVersion.key) }
        #expect(seen.first == .unknown(FirstVersion.other))
        #expect(
            seen.contains { if case .refused(FirstVersion.other, .notFound, _) = $0 { true } else { false } })
        OutputLog(path: "/tmp/bf-v1/out.log").remove()
        unsafe rmdir("/tmp/bf-v1")
    }

    @Test func `is understood by this daemon's client, which asks it for nothing it does not know`()
        async throws
    {
        let folder = try TemporaryFolder()
        let listener = try LocalSocket.listen(folder.file("warden.sock"))
        let client = try WardenClient(directory: folder.path)
        async let hello = client.connect(launching: nil)
        let socket = try accept(listener)
        let answer =
            FirstVersion.helloAnswer + FirstVersion.started + FirstVersion.output + FirstVersion.ended
            + FirstVersion.unknown + FirstVersion.caughtUp
        #expect(try LocalSocket.send(answer[...], over: socket) == answer.count)
        #expect(try await hello.version == 1)
        var order = ProcessOrder(key: FirstVersion.key, work: .shell("id"), output: .init(path: "/o"))
        order.user = "nobody"
        client.send(.start(order))
        var events: [PerformerEvent] = []
        for await event in client.events {
            events.append(event)
            if case .refused = event { break }
        }
        guard events.count == 6, case .started(FirstVersion.key, let process?, _) = events[0],
            case .ended(let record) = events[2], case .refused(_, let refusal, _) = events[5]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(events[1] == .output(FirstVersion.key, offset: 0, bytes: Array("one\n".utf8)))
        #expect(record.exitCode == 7 && record.pid == process.pid && record.outputBytes == 4)
        #expect(record.outputTail.isEmpty && record.errorTail.isEmpty)
        #expect(try #require(record.cpu) > .zero && #require(record.maxResidentKiB) > 0)
        #expect(events[3] == .unknown(FirstVersion.other) && events[4] == .caughtUp)
        #expect(refusal == .exhausted)
    }

    @Test func `keeps its own runs from being paused while it finishes them, and no others`() async throws {
        let folder = try TemporaryFolder()
        let old = folder.file("old/1")
        #expect(try await Shell.run("mkdir -p \(old)") == 0)
        let listeners = try [folder.path, old].map { try LocalSocket.listen($0 + "/warden.sock") }
        let client = try WardenClient(directory: folder.path)
        #expect(!client.pauses(FirstVersion.key), "no warden is connected")
        async let answered = client.connect(launching: nil)
        var sockets: [Descriptor] = []
        for (listener, version) in zip(listeners, [WardenHello.currentVersion, 3]) {
            let socket = try accept(listener)
            let hello = WardenHello(version: version, pid: 7, startTime: 1, bootID: "b", runs: 1)
            try send([.hello(hello)], over: socket)
            sockets.append(socket)
        }
        _ = try await answered
        // Which attempts the older one has is not known yet.
        #expect(!client.pauses(FirstVersion.key) && !client.pauses(FirstVersion.other))
        for (socket, key) in zip(sockets, [FirstVersion.key, FirstVersion.other]) {
            try send(
                [.started(key, pid: 9, startTime: 1, at: Moment(microseconds: 1)), .caughtUp], over: socket)
        }
        for await event in client.events where event == .caughtUp { break }
        #expect(client.pauses(FirstVersion.key) && !client.pauses(FirstVersion.other))
        // It has nothing left to do, and ends.
        client.acknowledge(FirstVersion.other)
        try waitForAcknowledgement(from: sockets.removeLast())
        for await event in client.events where event == .caughtUp { break }
        #expect(client.pauses(FirstVersion.key) && client.pauses(FirstVersion.other))
    }

    /// Waits until the client has sent the command.
    private func waitForAcknowledgement(from socket: Descriptor) throws {
        let kind = WardenCommand.acknowledge(FirstVersion.other).frame[4]
        var (frames, received) = (FrameBuffer(), [Descriptor]())
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            while let frame = try frames.next() { if frame.kind == kind { return } }
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&waiting, 1, 30_000) == 1, "nothing was acknowledged")
            guard
                case .bytes(let count) = try LocalSocket.receive(
                    from: socket, into: &buffer, received: &received)
            else { return }
            frames.append(buffer[..<count])
        }
    }

    private func send(_ messages: [WardenMessage], over socket: Descriptor) throws {
        let bytes = messages.flatMap(\.frame)
        #expect(try LocalSocket.send(bytes[...], over: socket) == bytes.count)
    }

    private func accept(_ listener: Descriptor) throws -> Descriptor {
        while true {
            var waiting = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, 30_000)
            if let socket = try LocalSocket.accept(listener) { return socket }
        }
    }

    private func messages(
        from socket: Descriptor, until isLast: (WardenMessage) -> Bool
    ) throws -> [WardenMessage] {
        var frames = FrameBuffer()
        var buffer = [UInt8](repeating: 0, count: 4096)
        var received: [Descriptor] = []
        var seen: [WardenMessage] = []
        while true {
            while let frame = try frames.next() {
                guard let message = try WardenMessage(kind: frame.kind, frame.fields) else { continue }
                seen.append(message)
                if isLast(message) { return seen }
            }
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&waiting, 1, 30_000) == 1, "the warden fell silent")
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &received)
            guard case .bytes(let count) = reading else { return seen }
            frames.append(buffer[..<count])
        }
    }
}
