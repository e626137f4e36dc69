import DBus
import TestSupport
import Testing
import Timeline

/// A daemon whose wall clock is set, as an administrator or a time source would.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled("needs libfaketime, of Debian's package faketime") { FakeClock.library != nil })
struct `a daemon whose clock is set` {
    /// A daemon that sees `time` first.
    private func start(at time: String, _ config: String) async throws -> (Belfry, FakeClock) {
        let folder = try TemporaryFolder()
        let clock = try FakeClock(Moment(iso8601: time), in: folder)
        let belfry = try Belfry(config, clock: clock, in: folder)
        try await belfry.start()
        return (belfry, clock)
    }

    /// Makes the daemon look at its clock: no kernel reports this one.
    private func nudge(_ belfry: Belfry) async throws {
        #expect(try await belfry.run("job", "pause", "idle").code == 0)
    }

    /// The slots that became runs, as the history lists them, oldest first.
    private func slots(of job: String, _ belfry: Belfry) async throws -> [String] {
        let rows = try await belfry.json("job", "history", job, "--limit", "1000").list
        return rows.filter { $0["id"] != nil }.compactMap { $0["slot"].text }.reversed()
    }

    private static let hourly = """
        jobs:
          idle: { schedule: manual, command: ["true"] }
          hourly: { schedule: "0 * * * *", command: ["true"] }
        """

    @Test func `an hour ahead runs what was leapt over once, and not before its time`() async throws {
        let (belfry, clock) = try await start(at: "2027-01-05T10:20:00Z", Self.hourly)
        let events = try belfry.events()
        #expect(try await belfry.json("job", "show", "hourly")["nextAt"].text == "2027-01-05T11:00:00Z")
        try clock.set(to: Moment(iso8601: "2027-01-05T12:30:00Z"))
        try await nudge(belfry)
        _ = try await events.event("run.completed", of: "hourly")
        #expect(try await slots(of: "hourly", belfry) == ["2027-01-05T12:00:00Z"])
        let why = try await belfry.json("job", "history", "hourly", "--at", "2027-01-05T11:00Z").list
        #expect(why.compactMap { $0["reason"].text } == ["superseded"])
        #expect(try await belfry.json("job", "history", "hourly", "--at", "2027-01-05T11:01Z").list.isEmpty)
        let rows = try await belfry.json("job", "history", "hourly").list
        #expect(
            rows.contains { $0["reason"].text == "superseded" && $0["slot"].text == "2027-01-05T11:00:00Z" })
        #expect(try await belfry.json("job", "show", "hourly")["nextAt"].text == "2027-01-05T13:00:00Z")
    }

    @Test func `back by an hour waits, and by five starts again, doubling nothing`() async throws {
        let (belfry, clock) = try await start(at: "2027-01-05T10:30:00Z", Self.hourly)
        let events = try belfry.events()
        // It is there before its slot, however long its start took.
        try clock.set(to: Moment(iso8601: "2027-01-05T10:59:55Z"))
        try await nudge(belfry)
        // Comes by itself, on a timer that the daemon armed.
        _ = try await events.event("run.completed", of: "hourly")
        try clock.set(to: Moment(iso8601: "2027-01-05T09:59:30Z"))
        try await nudge(belfry)
        let problems = try await belfry.json("status")["problems"].list
        #expect(problems.contains { $0["kind"].text == "clock" })
        #expect(try await belfry.json("job", "show", "hourly")["nextAt"].text == "2027-01-05T12:00:00Z")
        #expect(try await slots(of: "hourly", belfry) == ["2027-01-05T11:00:00Z"])

        // The new era begins when the daemon looks at its clock, and not after its first slot.
        try clock.set(to: Moment(iso8601: "2027-01-05T05:30:00Z"))
        try await nudge(belfry)
        try clock.set(to: Moment(iso8601: "2027-01-05T05:59:57Z"))
        try await nudge(belfry)
        _ = try await events.event("run.completed", of: "hourly")
        #expect(
            try await slots(of: "hourly", belfry).sorted() == [
                "2027-01-05T06:00:00Z", "2027-01-05T11:00:00Z",
            ])
        let late = try await belfry.json("runs", "hourly").list.compactMap { $0["latenessMs"].integer }
        #expect(late.count == 2 && late.allSatisfy { $0 >= 0 && $0 < 60_000 })
    }

    @Test func `an hour ahead answers no question that waits for half of one`() async throws {
        let (belfry, clock) = try await start(at: "2027-01-05T10:20:00Z", Self.hourly)
        let events = try belfry.events()
        let words = ["confirm", "Deploy?", "--default", "yes", "--after", "30m"]
        let confirm = try ChildProcess(
            BuiltProgram.path("belfry"), words, environment: belfry.environment,
            streams: .files(output: belfry.folder.file("said"), errors: belfry.folder.file("said.errors")))
        try confirm.closeInput()
        let id = try await events.event("question.asked")["subject"].text ?? ""
        // What is closed at its time comes after a look at all that was asked before.
        #expect(try await belfry.run("confirm", "Ready?", "--default", "no", "--after", "1s").code == 1)
        _ = try await events.event("question.answered")
        try clock.set(to: Moment(iso8601: "2027-01-05T11:25:00Z"))
        try await nudge(belfry)
        // Another question has the keeper look at its clock; that it is closed comes after what was due before.
        let other = try ChildProcess(
            BuiltProgram.path("belfry"), ["confirm", "Now?", "--default", "no", "--after", "1s"],
            environment: belfry.environment)
        try other.closeInput()
        let closed = try await events.event("question.answered")["subject"].text
        #expect(closed != nil && closed != id)
        _ = await other.status()
        #expect(try await belfry.run("answer", id, "no").code == 0)
        _ = await confirm.status()
        #expect(belfry.lines(of: "said") == ["no"])
    }

    @Test func `past a slot of a job that left the file while it was stopped does not start it`() async throws
    {
        let (belfry, clock) = try await start(
            at: "2027-01-05T10:30:00Z",
            Self.hourly + """

                  danger: { schedule: "0 * * * *", command: ["true"] }
                """)
        try await belfry.stop()
        try clock.set(to: Moment(iso8601: "2027-01-05T11:00:20Z"))
        try belfry.configure(Self.hourly)
        try await belfry.start()
        let events = try belfry.events()
        _ = try await events.event("run.completed", of: "hourly")
        let missed = try await belfry.json("job", "history", "danger", "--at", "2027-01-05T11:00Z").list
        #expect(missed.compactMap { $0["reason"].text } == ["definitionChanged"])
        #expect(missed.compactMap { $0["state"].text } == ["missed"])
        #expect(try await slots(of: "danger", belfry).isEmpty)
    }

    @Test func `over both changes of a year runs a night's job once each time`() async throws {
        let (belfry, clock) = try await start(
            at: "2027-03-28T00:30:00Z",
            """
            jobs:
              idle: { schedule: manual, command: ["true"] }
              night: { schedule: { cron: "30 2 * * *", zone: Europe/Berlin }, command: ["true"] }
            """)
        let events = try belfry.events()
        // 02:30 does not exist: it runs when the clocks show 03:00.
        let spring = try await belfry.run("job", "next", "night", "-n", "1").text
        #expect(spring.contains("2027-03-28T03:00:00+02:00") && spring.contains("moved from 02:30"))
        try clock.set(to: Moment(iso8601: "2027-03-28T00:59:57Z"))
        try await nudge(belfry)
        _ = try await events.event("run.completed", of: "night")
        try clock.set(to: Moment(iso8601: "2027-10-31T00:10:00Z"))
        try await nudge(belfry)
        _ = try await events.event("run.completed", of: "night")
        try clock.set(to: Moment(iso8601: "2027-10-31T00:29:57Z"))
        try await nudge(belfry)
        _ = try await events.event("run.completed", of: "night")
        // The second 02:30 of that night.
        try clock.set(to: Moment(iso8601: "2027-10-31T01:30:03Z"))
        try await nudge(belfry)
        #expect(try await belfry.json("job", "show", "night")["nextAt"].text == "2027-11-01T02:30:00+01:00")
        #expect(
            try await slots(of: "night", belfry) == [
                "2027-03-28T01:00:00Z", "2027-10-30T00:30:00Z", "2027-10-31T00:30:00Z",
            ])
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a machine that sleeps` {
    @Test func `is announced on the system bus, and the daemon follows it`() async throws {
        let bus = try await PrivateBus.start()
        let login = try await DBusConnection.connect(to: bus.address, deadline: .seconds(60))
        #expect(try await login.own("org.freedesktop.login1", deadline: .seconds(60)))
        let belfry = try Belfry(bus: bus)
        try await belfry.start()
        // Sent again until the daemon has connected to the bus.
        let sending = Task {
            while !Task.isCancelled {
                for sleeps in [true, false] {
                    try await login.emit(
                        path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager",
                        member: "PrepareForSleep", [.bool(sleeps)])
                }
                _ = try await login.busID(deadline: .seconds(60))
            }
        }
        try await belfry.logged("the machine falls asleep")
        try await belfry.logged("the machine woke up")
        sending.cancel()
        #expect(try await belfry.run("status").code == 0)
    }
}
