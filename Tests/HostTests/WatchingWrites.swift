import Host
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `notices of writes` {
    /// The notices of a watch, in order.
    private final class Noticed: Sendable {
        private let (stream, continuation) = AsyncStream.makeStream(of: WriteNotices.Notice.self)

        func note(_ notice: WriteNotices.Notice) { continuation.yield(notice) }

        /// Waits until the file was closed.
        func closed() async { for await notice in stream where notice == .closed { return } }

        func next() async -> WriteNotices.Notice? {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
    }

    @Test func `come for a file that is not there yet, and while it is written`() async throws {
        let folder = try TemporaryFolder()
        let (notices, noticed) = (WriteNotices(), Noticed())
        let watch = notices.watch(folder.file("log")) { noticed.note($0) }
        #expect(watch != nil)
        let file = try Descriptor.open(folder.file("log"), 0o101, mode: 0o600)
        #expect(await noticed.next() == .written)
        try file.writeAll(Array("one".utf8)[...])
        #expect(await noticed.next() == .written)
        try await Shell.run("echo more >> log", in: folder.path)
        await noticed.closed()
        withExtendedLifetime((watch, file)) {}
    }

    @Test func `come to each reader of a file, and of no other file`() async throws {
        let folder = try TemporaryFolder()
        let notices = WriteNotices()
        let (first, second) = (Noticed(), Noticed())
        let other = Mutex(0)
        let watches = [
            notices.watch(folder.file("log")) { first.note($0) },
            notices.watch(folder.file("log")) { second.note($0) },
            notices.watch(folder.file("other")) { _ in other.withLock { $0 += 1 } },
        ]
        try await Shell.run("echo one > log", in: folder.path)
        await first.closed()
        await second.closed()
        #expect(other.withLock { $0 } == 0)
        withExtendedLifetime(watches) {}
    }

    @Test func `come of every file of a folder, until nobody watches it`() async throws {
        let folder = try TemporaryFolder()
        let (notices, noticed, late) = (WriteNotices(), Noticed(), Noticed())
        var watch = notices.watch(folder: folder.path) { noticed.note($0) }
        #expect(watch != nil)
        try await Shell.run("echo one > a", in: folder.path)
        await noticed.closed()
        watch = nil
        watch = notices.watch(folder: folder.path) { late.note($0) }
        try await Shell.run("echo two > b", in: folder.path)
        await late.closed()
        #expect(notices.watch(folder.file("none/log")) { _ in } == nil)
        withExtendedLifetime(watch) {}
    }
}

@Suite struct `a folder watch` {
    @Test func `reports files in the folder and in the folders in it, new ones too`() async throws {
        let folder = try TemporaryFolder()
        let zones = folder.file("zones")
        try await Shell.run(
            "mkdir -p zones/Europe && echo 1 > zones/Europe/Berlin", in: folder.path)
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        let watch = try FolderWatch(zones, quiet: .milliseconds(100)) { continuation.yield() }
        var turns = changes.makeAsyncIterator()
        try await Shell.run(
            "for i in 1 2 3; do echo $i > zones/new; mv zones/new zones/version; done", in: folder.path)
        await turns.next()
        try await Shell.run(
            "echo 2 > zones/b && mv zones/b zones/Europe/Berlin", in: folder.path)
        await turns.next()
        try await Shell.run(
            "mkdir zones/Asia && echo 1 > zones/Asia/Tokyo", in: folder.path)
        await turns.next()
        try await Shell.run(
            "echo 2 > zones/Asia/Tokyo", in: folder.path)
        await turns.next()
        withExtendedLifetime(watch) {}
    }

    @Test func `refuses what is no folder`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: HostError.self) { try FolderWatch(folder.file("none")) {} }
    }
}

/// Messages as the kernel writes them; the machine that runs the tests keeps its network.
@Suite struct `what the kernel reports of the network` {
    private func word(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func attribute(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        return [UInt8(4 + value.count), 0, type, 0] + value + padding
    }

    private func message(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        word(UInt32(16 + body.count)) + word(type) + word(0) + word(0) + body
    }

    /// The address of interface 2.
    private func address(_ bytes: [UInt8], type: UInt32 = 20, flags: UInt8 = 0x80, scope: UInt8 = 0)
        -> [UInt8]
    {
        let family: UInt8 = bytes.count == 4 ? 2 : 10
        return message(type, [family, 24, flags, scope] + word(2) + attribute(1, bytes))
    }

    /// A route of interface 2, to everywhere or to a network.
    private func route(_ gateway: [UInt8], length: UInt8 = 0, type: UInt32 = 24, kind: UInt8 = 1) -> [UInt8] {
        message(
            type,
            [2, length, 0, 0, 254, 3, 0, kind] + word(0) + attribute(15, word(254)) + attribute(5, gateway)
                + attribute(4, word(2)))
    }

    private func changes(_ bytes: [UInt8]) -> [NetworkChange] { NetworkChange.changes(in: bytes[...]) }

    @Test func `are addresses that come and go, each under one name`() {
        let found = changes(
            address([10, 0, 0, 7]) + address([10, 0, 0, 7], type: 21) + address([10, 0, 0, 8]))
        #expect(found.map(\.isThere) == [true, false, true])
        #expect(found[0].way == found[1].way && found[0].way != found[2].way)
    }

    @Test func `are routes to everywhere, and no others`() {
        #expect(changes(route([10, 0, 0, 1])).map(\.isThere) == [true])
        #expect(changes(route([10, 0, 0, 1], type: 25)).map(\.isThere) == [false])
        #expect(changes(route([10, 0, 0, 1])) != changes(route([10, 0, 0, 2])))
        #expect(changes(route([10, 0, 0, 1], length: 24)) == [])
        // Unreachable.
        #expect(changes(route([10, 0, 0, 1], kind: 7)) == [])
    }

    @Test func `leaves out what leads nowhere, and what can't be used yet`() {
        #expect(changes(address([127, 0, 0, 1], scope: 254)) == [])
        let local: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 14)
        #expect(changes(address(local, scope: 253)) == [])
        let global: [UInt8] = [0x20, 0x01] + [UInt8](repeating: 0, count: 14)
        #expect(changes(address(global, flags: 0xC0)) == [])
        #expect(changes(address(global, flags: 0x80)).count == 1)
    }

    @Test func `may be broken off anywhere`() {
        let whole = address([10, 0, 0, 7]) + route([10, 0, 0, 1])
        for length in 0...whole.count {
            #expect(changes(Array(whole.prefix(length))).count <= 2)
        }
        for place in whole.indices {
            var broken = whole
            broken[place] = 0xFF
            #expect(changes(broken).count <= 2)
            broken[place] = 0
            #expect(changes(broken).count <= 2)
        }
    }
}
