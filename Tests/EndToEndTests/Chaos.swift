import TestSupport
import Testing

/// Daemon and warden, killed at random moments under load; `bench chaos 1000` does it for as long as one likes.
@Suite(.serialized, .timeLimit(.minutes(15))) struct `a tower under chaos` {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `loses and doubles no slot, no run and no notice in twenty kills`(seed: UInt64) async throws {
        try await expect(2, of: ["chaos", "20", "--seed", String(seed), "--no-questions"])
    }

    /// Six forms, of which each receiver fails in its own ways; `bench chaos-channels` makes 10,000 deliveries.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `delivers all, in order and under one id, while receivers die`(seed: UInt64) async throws {
        try await expect(1, of: ["chaos-channels", "1200", "--seed", String(seed)])
    }

    /// Runs the bench, which has to succeed and to print that so many of its figures are kept.
    private func expect(_ kept: Int, of words: [String]) async throws {
        let bench = try ChildProcess(BuiltProgram.path("bench"), words, streams: .bothInLines)
        var printed: [String] = []
        for await line in bench.lines { printed.append(line) }
        let code = await bench.status()
        #expect(code == 0, "\(printed.joined(separator: "\n"))")
        #expect(printed.count { $0.hasSuffix(" ok") } == kept)
    }
}
