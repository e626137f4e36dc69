import TestSupport
import Testing

/// The package tzdata is upgraded under a running daemon.
@Suite(.timeLimit(.minutes(5))) struct `new zone data` {
    @Test func `move the slots to come without a word to the daemon, and status names the release`()
        async throws
    {
        let folder = try TemporaryFolder()
        let system = SystemZones.folder
        let made = try await Shell.run(
            """
            mkdir -p zones/Europe && cp \(system)/UTC zones && cp \(system)/Asia/Tokyo zones/Europe/Berlin &&
            echo 2026a >zones/+VERSION
            """, in: folder.path)
        try #require(made == 0)
        let belfry = try Belfry(
            """
            jobs:
              noon: { schedule: { cron: "0 12 * * *", zone: Europe/Berlin }, command: ["true"] }
            """, in: folder)
        try await belfry.start()
        #expect(
            try await belfry.json("job", "show", "noon")["nextAt"].text?.hasSuffix("T12:00:00+09:00") == true)
        let upgraded = try await Shell.run(
            "echo 2026b >zones/+VERSION && cp \(system)/Asia/Kolkata zones/new && mv zones/new zones/Europe/Berlin",
            in: folder.path)
        try #require(upgraded == 0)
        try await belfry.logged("zone data changed")
        // Each of the two files is a change.
        try await belfry.until { try await belfry.json("status")["tzdata"].text == "2026b" }
        try await belfry.until {
            try await belfry.json("job", "show", "noon")["nextAt"].text?.hasSuffix("T12:00:00+05:30") == true
        }
    }
}
