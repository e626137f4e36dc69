import TestSupport
import Testing

/// Daemon and warden, killed at random moments under load; `bench chaos 1000` does it for as long as one likes.
@Suite(.serialized, .timeLimit(.minutes(15))) struct `a tower under chaos` {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `loses and doubles no slot, no run and no notice in twenty kills`(seed: UInt64) async throws {
        let bench = try ChildProcess(
            BuiltProgram.path("bench"), ["chaos", "20", "--seed", String(seed), "--no-questions"],
            streams: .bothInLines)
        var said: [String] = []
        for await line in bench.lines { said.append(line) }
        let code = await bench.status()
        #expect(code == 0, "\(said.joined(separator: "\n"))")
        #expect(said.count { $0.hasSuffix(" ok") } == 2)
    }

    /// Six forms, of which each receiver fails in its own ways; `bench chaos-channels` makes 10,000 deliveries.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `delivers all, in order and under one id, while receivers die`(seed: UInt64) async throws {
        let bench = try ChildProcess(
            BuiltProgram.path("bench"), ["chaos-channels", "1200", "--seed", String(seed)],
            streams: .bothInLines)
        var said: [String] = []
        for await line in bench.lines { said.append(line) }
        let code = await bench.status()
        #expect(code == 0, "\(said.joined(separator: "\n"))")
        #expect(said.count { $0.hasSuffix(" ok") } == 1)
    }
}
