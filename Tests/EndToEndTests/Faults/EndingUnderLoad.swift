import Glibc
import Host
import TestSupport
import Testing

/// SIGTERM while others keep the daemon waiting.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the daemon's end under load` {
    @Test func `waits for no webhook that hangs and for no reader that reads nothing`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "hang")
        let belfry = try await Belfry.start(
            """
            jobs:
              tick: { schedule: "* * * * * *", command: ["true"] }
            """, hook: hook)
        let feed = try ChildProcess(
            BuiltProgram.path("belfry"), ["events", "--since", "0", "--json"], environment: belfry.environment
        )
        feed.signal(SIGSTOP)
        // Somebody who asks and never reads, and somebody who never asks.
        let silent = try LocalSocket.connect(belfry.socketPath)
        let deaf = try LocalSocket.connect(belfry.socketPath)
        let request = Array("GET /v1/events?since=0 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        _ = try LocalSocket.send(request[...], over: deaf)
        // The first webhook is on its way, and hangs.
        let hung = try await hook.record()
        // None of them ends by itself; the webhook's own limit would end it as a failed attempt.
        #expect(try await belfry.stop() == 0)
        withExtendedLifetime((silent, deaf)) {}
        await feed.end()
        // What hung is sent again by the next one.
        try await belfry.start()
        // On a slow machine many came after it.
        let entries = try await belfry.json("outbox", "--limit", "1000").list
        let first = try #require(entries.first { $0["id"].text == hung.id })
        #expect(first["attempts"].integer == 0 && first["lastError"].text == nil, "\(first)")
        #expect(try await belfry.stop() == 0)
    }
}
