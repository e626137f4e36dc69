import Delivery
import Glibc
import Host
import Performing
import ProgramChannel
import Synchronization
import TestSupport
import Testing
import Timeline
import WardenProtocol

/// The desk of a daemon with a real warden, and what reaches the keeper of its runs.
private final class DeskHome: Sendable {
    let folder: TemporaryFolder
    private let warden = Mutex<Int32>(0)

    init() throws {
        folder = try TemporaryFolder()
        for name in ["state", "w"] { try PrivateFolder.make(folder.file(name)) }
    }

    deinit {
        let pid = warden.withLock(\.self)
        if pid > 0 { kill(pid, SIGKILL) }
    }

    /// A daemon until `work` has ended; then it is killed, and its warden goes on.
    func whileServing<Result: Sendable>(
        _ work: @Sendable @escaping (ProgramDesk, Keeper) async throws -> Result
    ) async throws -> Result {
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        let desk = ProgramDesk(folder: folder.file("w/notices"))
        let keeper = Keeper(desk.share(client))
        var launch = WardenLaunch(
            executable: try BuiltProgram.path("belfry-warden"), state: folder.file("state"), tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keeper.run() }
            defer { group.cancelAll() }
            let pid = try await client.connect(launching: launch).pid
            warden.withLock { $0 = pid }
            return try await work(desk, keeper)
        }
    }

    /// A channel that runs this script.
    func channel(_ script: String, desk: ProgramDesk, timeout: Duration? = nil) throws -> ProgramSender {
        try channel(["/bin/sh", "-c", script, "notifier"], desk: desk, timeout: timeout)
    }

    func channel(_ words: [String], desk: ProgramDesk, timeout: Duration? = nil) throws -> ProgramSender {
        var values = FormValues()
        values["command"] = .words(words)
        values["timeout"] = timeout.map { .duration($0) }
        return ProgramSender(name: "any", form: try CommandForm(values), desk: desk)
    }
}

/// Takes the events that the keeper of runs would.
private final class Keeper: Sendable {
    let performer: any Performer
    private let seen = Mutex<[PerformerEvent]>([])

    init(_ performer: any Performer) { self.performer = performer }

    func run() async {
        while await performer.waitForEvents() {
            let events = performer.takeEvents()
            seen.withLock { $0 += events }
        }
    }

    /// All that came so far.
    var events: [PerformerEvent] { seen.withLock(\.self) }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a program as a channel` {
    private let now = Moment(seconds: 1_800_000_000)

    private func parcel(_ id: String = "0190a", attempt: Int = 1) -> Parcel {
        Parcel(
            id: id, type: "run.failed", timestamp: now,
            body: Array(
                #"{"data":{"notice":{"title":"backup failed","body":"no \"tape\"; $(id)\nexit code 3"}}}"#
                    .utf8),
            attempt: attempt)
    }

    @Test func `gets the notice on its standard input and in its environment`() async throws {
        let home = try DeskHome()
        let (input, words) = (home.folder.file("input"), home.folder.file("words"))
        try await home.whileServing { desk, keeper in
            let channel = try home.channel(
                "cat >\(input); printf '%s|%s|%s|%s' \"$NOTICE_ID\" \"$NOTICE_TYPE\" \"$NOTICE_TITLE\" \"$NOTICE_BODY\" >\(words)",
                desk: desk)
            let receipt = try await channel.deliver(parcel(), at: now)
            #expect(receipt == Receipt(at: now, kind: .accepted))
            #expect(keeper.events.filter { $0 != .caughtUp }.isEmpty, "the runs' keeper sees none of it")
            // The warden obeys in order: by the end of another one the first is acknowledged.
            _ = try await home.channel("true", desk: desk).deliver(parcel("0190b"), at: now)
        }
        #expect(try Array(SmallFile.text(input).utf8) == parcel().body)
        #expect(
            try SmallFile.text(words)
                == "0190a|run.failed|backup failed|no \"tape\"; $(id)\nexit code 3")
        #expect(try Folder.names(in: home.folder.file("w/notices")).isEmpty, "what it printed is removed")
        let records = try Folder.names(in: home.folder.file("w/runs"))
        #expect(!records.contains { $0.contains("0190a") }, "its end is acknowledged")
    }

    @Test func `is judged by its exit code, with what it printed`() async throws {
        let home = try DeskHome()
        let now = now
        try await home.whileServing { desk, _ in
            let ends: [(script: String, error: DeliveryError)] = [
                (
                    "echo no such room >&2; exit 1",
                    .giveUp(.rejected, detail: "sh exited with code 1: no such room")
                ),
                ("echo later; exit 75", .retry(.askedAgain, detail: "sh exited with code 75: later")),
                ("kill -9 $$", .retry(.disconnected, detail: "sh was ended by SIGKILL")),
            ]
            for (place, end) in ends.enumerated() {
                let channel = try home.channel(end.script, desk: desk)
                await #expect(throws: end.error) {
                    try await channel.deliver(parcel("e\(place)"), at: now)
                }
            }
            let slow = try home.channel("sleep 1000", desk: desk, timeout: .milliseconds(200))
            await #expect(
                throws: DeliveryError.retry(.timeout, detail: "sh took longer than 200 ms and was ended")
            ) {
                try await slow.deliver(parcel("slow"), at: now)
            }
            let missing = try home.channel(["no-such-notifier"], desk: desk)
            await #expect(
                throws: DeliveryError.unreachable(
                    .noProgram,
                    detail: "no program \"no-such-notifier\"; install it, or correct command: of this channel"
                )
            ) { try await missing.deliver(parcel("missing"), at: now) }
        }
    }

    @Test func `is not run twice for one attempt when the daemon is killed meanwhile`() async throws {
        let home = try DeskHome()
        let (gate, count) = (home.folder.file("gate"), home.folder.file("count"))
        guard unsafe mkfifo(gate, 0o600) == 0 else { throw HostError.last("mkfifo") }
        let script = "echo x >>\(count); read line <\(gate); exit 75"
        let (now, parcel) = (now, parcel())
        let opened = try await home.whileServing { desk, _ in
            let channel = try home.channel(script, desk: desk)
            let attempt = Task { try await channel.deliver(parcel, at: now) }
            // Waits until the program reads.
            let opened = try await blocking { try Descriptor.open(gate, O_WRONLY) }
            attempt.cancel()
            await #expect(throws: DeliveryError.unreachable(.stopping, detail: "stopped before sh ended")) {
                try await attempt.value
            }
            return opened
        }
        try await home.whileServing { desk, _ in
            let channel = try home.channel(script, desk: desk)
            _ = try opened.write([0x0A])
            await #expect(throws: DeliveryError.retry(.askedAgain, detail: "sh exited with code 75")) {
                try await channel.deliver(parcel, at: now)
            }
        }
        #expect(try SmallFile.text(count) == "x")
    }
}
