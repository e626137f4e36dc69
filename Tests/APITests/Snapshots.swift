import API
import APIClient
import APIServer
import Engine
import Host
import Synchronization
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `the snapshot that the daemon keeps for bars` {
    private struct DiskIsFull: Error {}

    /// Passes the versions that are written for a house to `body`, while that runs; a write may fail.
    private func following(
        _ house: House, write: @escaping @Sendable () throws -> Void = {},
        _ body: @escaping @Sendable (AsyncStream<WireSnapshot>) async throws -> Void
    ) async throws {
        let (versions, written) = AsyncStream.makeStream(of: WireSnapshot.self)
        let snapshot = LiveSnapshot(house.handler) { bytes in
            try write()
            written.yield(try WireCoding.decode(WireSnapshot.self, from: bytes))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await snapshot.run() }
            try await body(versions)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    @Test func `follows runs to their end, and bots with what they said last`() async throws {
        try await House.whileStanding { house in
            try await following(house) { versions in
                let first = try #require(await versions.first { _ in true })
                #expect(first.v == 1 && first.tasks.isEmpty && first.next == nil)
                #expect(first.bots?.map(\.name) == ["belfry"] && first.bots?.first?.unread == 0)

                let task = LiveTask(id: "r", botID: "belfry", run: "a#1", name: "a", botName: "belfry")
                let board = house.control.board
                await board.enter(task, attempt: 1, state: .running, saved: nil, at: .now)
                let second = try #require(await versions.first { _ in true })
                #expect(second.tasks.map(\.run) == ["a#1"] && second.seq > first.seq)

                await board.end("r", .completed, reason: nil, at: .now)
                let third = try #require(await versions.first { _ in true })
                #expect(third.tasks.map(\.state) == [.completed] && third.seq > second.seq)

                _ = try house.client.ask(Endpoints.notify(body: NotifyRequest(text: "Disk is\nfull")))
                var bot = third.bots?.first
                while bot?.unread != 1 { bot = try #require(await versions.first { _ in true }).bots?.first }
                #expect(bot?.lastMessage == "Disk is full")
            }
        }
    }

    @Test func `is written again where that failed, without another change`() async throws {
        try await House.whileStanding { house in
            let isFull = Mutex(true)
            let write: @Sendable () throws -> Void = {
                let fails = isFull.withLock { isFull in
                    defer { isFull = false }
                    return isFull
                }
                if fails { throw DiskIsFull() }
            }
            try await following(house, write: write) { versions in
                let first = try #require(await versions.first { _ in true })
                #expect(first.bots?.isEmpty == false && !isFull.withLock { $0 })
            }
        }
    }
}
