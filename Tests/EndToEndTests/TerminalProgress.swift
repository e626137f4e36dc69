import Testing

@Suite(.timeLimit(.minutes(5))) struct `a job that sends its progress to a terminal` {
    @Test func `is as far as it says, and blocked when it waits`() async throws {
        let belfry = try await Belfry.start(
            #"""
            jobs:
              bar: { schedule: manual, shell: "printf '\\033]9;4;1;42\\033\\\\'; sleep 1000" }
              ask: { schedule: manual, shell: "printf '\\033]7501;state=blocked:kind=auth\\007'; sleep 1000" }
            """#)
        let feed = try belfry.feed("watch")
        try await belfry.run("run", "bar")
        let half = try await feed.next { $0["run"].text == "bar#1" && $0["progress"].number != nil }
        #expect(half["progress"].number == 0.42)
        try await belfry.run("run", "ask")
        let blocked = try await feed.next { $0["run"].text == "ask#1" && $0["state"].text == "blocked" }
        #expect(blocked["blockedKind"].text == "auth")
    }
}
