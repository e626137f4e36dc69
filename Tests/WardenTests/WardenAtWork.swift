import Glibc
import Host
import TestSupport
import Testing
import WardenProtocol

/// A real warden process in a folder of its own, and a daemon's client of it.
///
/// Ends with everything it started.
final class WardenAtWork {
    let folder: TemporaryFolder
    let launch: WardenLaunch
    private(set) var client: WardenClient
    private(set) var hello: WardenHello
    private var events: AsyncStream<WardenEvent>.Iterator
    /// Unique, as runs' ids are: a process is recognised by it.
    private let ownRun = UniqueID.v4()
    private var started: Set<Int32> = []

    /// `descriptors` is the limit the warden is started with; nil for the machine's usual one.
    init(descriptors: Int? = nil) async throws {
        folder = try TemporaryFolder()
        var executable = try BuiltProgram.path("belfry-warden")
        if let descriptors {
            let script = "#!/bin/sh\nulimit -n \(descriptors)\nexec \(executable) \"$@\"\n"
            executable = folder.file("limited")
            try SmallFile.replace(executable, with: Array(script.utf8), mode: 0o700)
        }
        launch = WardenLaunch(executable: executable, state: folder.file("state"))
        try PrivateFolder.make(folder.file("state"))
        client = try WardenClient(directory: folder.file("w"))
        events = client.events.makeAsyncIterator()
        hello = try await client.connect(launching: launch)
        try await until { $0 == .caughtUp }
    }

    deinit {
        for pid in started { kill(-pid, SIGKILL) }
        kill(hello.pid, SIGKILL)
        client.close()
    }

    /// An order for `/bin/sh`, with its output in this folder.
    func order(
        _ work: StartOrder.Work, run: String? = nil, attempt: Int = 1, timeout: Duration? = nil,
        grace: Duration = .seconds(10)
    ) -> StartOrder {
        let key = RunKey(run: run ?? ownRun, attempt: attempt)
        return StartOrder(
            key: key, work: work, environment: ["BELFRY_JOB": "test"], folder: folder.path, timeout: timeout,
            grace: grace, output: .init(path: folder.file("output/\(key).log")))
    }

    /// Starts `order` and waits until it has ended.
    @discardableResult func run(_ order: StartOrder) async throws -> ExitRecord {
        client.send(.start(order))
        return try await end(of: order.key)
    }

    /// Waits until the attempt has ended.
    @discardableResult func end(of key: RunKey) async throws -> ExitRecord {
        var record: ExitRecord?
        try await until { event in
            guard case .ended(let ended) = event, ended.key == key else { return false }
            record = ended
            return true
        }
        return try #require(record)
    }

    /// Waits until the attempt runs, and returns its first process.
    @discardableResult func start(of key: RunKey) async throws -> Int32 {
        var found: Int32?
        try await until { event in
            guard case .started(key, let pid, _, _) = event else { return false }
            found = pid
            return true
        }
        return try #require(found)
    }

    /// Reads events until `isLast` says so; returns them all.
    @discardableResult func until(_ isLast: (WardenEvent) -> Bool) async throws -> [WardenEvent] {
        var seen: [WardenEvent] = []
        while let event = await events.next(isolation: #isolation) {
            if case .started(_, let pid, _, _) = event { started.insert(pid) }
            seen.append(event)
            if isLast(event) { return seen }
        }
        Issue.record("the events ended")
        return seen
    }

    /// Waits until the job has printed `text`, as the copies of its output show.
    func output(of key: RunKey, contains text: String) async throws {
        var printed: [UInt8] = []
        try await until { event in
            guard case .output(key, _, let bytes) = event else { return false }
            printed += bytes
            return String(decoding: printed, as: UTF8.self).contains(text)
        }
    }

    /// What the job printed, as its log has it.
    func log(of order: StartOrder) throws -> String {
        String(decoding: try OutputLog(path: order.output.path).read(from: 0).bytes, as: UTF8.self)
    }

    /// The daemon goes away: its process could have been killed.
    func hangUp() async {
        client.close()
        while await events.next(isolation: #isolation) != nil {}
    }

    /// Another daemon comes.
    func comeBack(launching: Bool = false) async throws {
        client = try WardenClient(directory: folder.file("w"))
        events = client.events.makeAsyncIterator()
        hello = try await client.connect(launching: launching ? launch : nil)
    }
}
