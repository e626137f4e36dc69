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
