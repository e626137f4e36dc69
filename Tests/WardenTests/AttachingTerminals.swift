import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a terminal that is attached to a run` {
    /// A terminal's connection, with our ends of the streams it offered.
    struct Terminal {
        var link: ClientConnection
        let output: Descriptor
        let errors: Descriptor

        init(_ warden: WardenAtWork, token: String, input: Descriptor? = nil) throws {
            let (output, errors) = (
                try Descriptor.pipe(nonblockingRead: false), try Descriptor.pipe(nonblockingRead: false)
            )
            (self.output, self.errors) = (output.read, errors.read)
            link = try ClientConnection(directory: warden.folder.file("w"))
            var streams: [(number: Int, descriptor: Descriptor)] = [(1, output.write), (2, errors.write)]
            if let input { streams.append((0, input)) }
            try link.attach(token, streams)
        }

        /// The next message, waited for.
        mutating func message() throws -> WardenMessage? {
            while true {
                if let message = try link.nextMessage() { return message }
                var waiting = pollfd(fd: link.socket.raw, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&waiting, 1, 20_000) == 1, try link.receive() else { return nil }
            }
        }
    }

    /// All that comes out of a pipe, to its end.
    static func all(_ pipe: Descriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case .bytes(let count) = try pipe.read(into: &buffer) { bytes += buffer[..<count] }
        return bytes
    }

    private func order(_ warden: WardenAtWork, _ text: String, _ token: String) -> ProcessOrder {
        var order = warden.order(.shell(text))
        order.attachment = token
        order.environment["PATH"] = "/usr/bin:/bin"
        return order
    }

    @Test func `gets each stream, the end of it, and the word`() async throws {
        let warden = try await WardenAtWork()
        let input = try Descriptor.pipe(nonblockingRead: false)
        var terminal = try Terminal(warden, token: "t", input: input.read)
        let order = order(warden, "read x; echo it read $x; echo oops >&2; env | grep -c HOME; exit 3", "t")
        warden.client.send(.start(order))
        try input.write.writeAll(Array("hello\n".utf8)[...])
        guard case .started(order.key, _, _, _)? = try terminal.message(),
            case .ended(let record)? = try terminal.message()
        else {
            Issue.record("another message came")
            return
        }
        #expect(record.exitCode == 3)
        #expect(String(decoding: try Self.all(terminal.output), as: UTF8.self) == "it read hello\n0\n")
        #expect(String(decoding: try Self.all(terminal.errors), as: UTF8.self) == "oops\n")
        #expect(try await warden.end(of: order.key) == record)
        let log = try warden.log(of: order)
        #expect(log.contains("it read hello\n") && log.contains("oops\n"))
    }

    @Test func `is waited for when it reads slowly, and misses nothing`() async throws {
        let warden = try await WardenAtWork()
        var terminal = try Terminal(warden, token: "t")
        let order = order(warden, "head -c 5000000 /dev/zero; echo done >&2", "t")
        warden.client.send(.start(order))
        // The job can't end before somebody reads: its own pipe and ours hold less than it writes.
        warden.client.send(.query(order.key))
        try await warden.start(of: order.key)
        #expect(try Self.all(terminal.output).count == 5_000_000)
        #expect(String(decoding: try Self.all(terminal.errors), as: UTF8.self) == "done\n")
        #expect(try terminal.message() != nil)
        #expect(try await warden.end(of: order.key).outputBytes == 5_000_005)
    }

    @Test func `disconnects, and the run continues`() async throws {
        let warden = try await WardenAtWork()
        var terminal: Terminal? = try Terminal(warden, token: "t")
        let order = order(warden, "head -c 5000000 /dev/zero; exit 4", "t")
        warden.client.send(.start(order))
        #expect(try terminal?.message() != nil)
        terminal = nil
        let record = try await warden.end(of: order.key)
        #expect(record.exitCode == 4 && record.outputBytes == 5_000_000)
    }

    @Test func `is the only one its run may be started for`() async throws {
        let warden = try await WardenAtWork()
        let order = order(warden, "true", "nobody offered this")
        warden.client.send(.start(order))
        try await warden.until { event in
            guard case .refused(order.key, .other, let text) = event else { return false }
            return text.contains("closed its connection")
        }
    }

    @Test func `may signal its own run and no other, and gives no orders`() async throws {
        let warden = try await WardenAtWork()
        let other = warden.order(.shell("exec sleep 1000"), run: UniqueID.v4())
        warden.client.send(.start(other))
        try await warden.start(of: other.key)
        var terminal = try Terminal(warden, token: "t")
        let own = order(warden, "trap '' TERM; echo ready; read x; exec sleep 1000", "t")
        warden.client.send(.start(own))
        guard case .started? = try terminal.message() else {
            Issue.record("it was not started")
            return
        }
        var commands: [WardenCommand] = [.signal(other.key, number: 9), .cancel(own.key, reason: "no")]
        commands += [.start(warden.order(.shell("true"), run: UniqueID.v4())), .signal(own.key, number: 2)]
        for command in commands { terminal.link.outgoing.append(command.frame) }
        try terminal.link.outgoing.flush(to: terminal.link.socket)
        let record = try await warden.end(of: own.key)
        // A person ended it: canceled, by what it died of.
        #expect(record.cause == .canceled && record.signal == 2 && record.cancelReason == "signal")
        warden.client.send(.query(other.key))
        try await warden.start(of: other.key)
        warden.client.send(.cancel(other.key, reason: "over"))
        try await warden.end(of: other.key)
    }
}
