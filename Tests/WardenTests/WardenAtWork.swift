import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

/// A real warden process in a folder of its own, and a daemon's client of it.
///
/// Ends with everything it started.
final class WardenAtWork {
    let folder: TemporaryFolder
    let launch: WardenLaunch
    private(set) var client: WardenClient
    private(set) var hello: WardenHello
    private var events: AsyncStream<PerformerEvent>.Iterator
    /// Unique, as runs' ids are: a process is recognised by it.
    private let ownRun = UniqueID.v4()
    private var started: Set<Int32> = []
    private var wardens: Set<Int32> = []
    /// The control group that this warden alone is in, when one was made for it.
    private(set) var group: ControlGroup?

    /// A warden in a control group of its own, below this process's.
    static func inControlGroup() async throws -> WardenAtWork {
        let group = try #require(ControlGroup.own()).child("belfry-test-" + UniqueID.v4())
        try group.make()
        let warden = try await WardenAtWork(scene: ["echo $$ > \(group.path)/cgroup.procs"])
        warden.group = group
        return warden
    }

    /// The control group of a run of this warden, which may have ended.
    func group(of key: RunKey) throws -> ControlGroup {
        let record = AttemptFile(fileBytes: try SmallFile.read(folder.file("w/runs/\(key)")))
        return try #require(record?.group)
    }

    /// Whether this machine lets us make control groups.
    static let hasControlGroups = ControlGroup.own() != nil

    /// `scene` are lines of shell that set the warden's own limits, group and user; `options` are its
    /// arguments beside the usual ones.
    init(scene: [String] = [], options: [String] = []) async throws {
        folder = try TemporaryFolder()
        var executable = try BuiltProgram.path("belfry-warden")
        if !scene.isEmpty || !options.isEmpty {
            let command = ([executable] + options + ["\"$@\""]).joined(separator: " ")
            let lines = ["#!/bin/sh", "set -e"] + scene + ["exec \(command)", ""]
            executable = folder.file("staged")
            try SmallFile.replace(executable, with: Array(lines.joined(separator: "\n").utf8), mode: 0o755)
        }
        var launch = WardenLaunch(executable: executable, state: folder.file("state"), tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        self.launch = launch
        try PrivateFolder.make(folder.file("state"))
        client = try WardenClient(directory: folder.file("w"))
        events = client.events.makeAsyncIterator()
        hello = try await client.connect(launching: launch)
        wardens.insert(hello.pid)
        try await until { $0 == .caughtUp }
    }

    deinit {
        for pid in started { kill(-pid, SIGKILL) }
        for pid in wardens { kill(pid, SIGKILL) }
        client.close()
        for pid in wardens { ControlGroup.own()?.child("belfry-warden-\(pid)").remove() }
        if let group {
            // What was killed may take a moment to leave it.
            for _ in 0..<1000 where !group.remove() { sched_yield() }
        }
    }

    /// An order for `/bin/sh`, with its output in this folder.
    func order(
        _ work: ProcessOrder.Work, run: String? = nil, attempt: Int = 1, timeout: Duration? = nil,
        grace: Duration = .seconds(10)
    ) -> ProcessOrder {
        let key = RunKey(run: run ?? ownRun, attempt: attempt)
        return ProcessOrder(
            key: key, work: work, environment: ["BELFRY_JOB": "test"], folder: folder.path, timeout: timeout,
            grace: grace, output: .init(path: folder.file("output/\(key).log")))
    }

    /// Starts `order` and waits until it has ended.
    @discardableResult func run(_ order: ProcessOrder) async throws -> ExitRecord {
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
            guard case .started(key, let process, _) = event else { return false }
            found = process?.pid
            return true
        }
        return try #require(found)
    }

    /// Reads events until `isLast` says so; returns them all.
    @discardableResult func until(_ isLast: (PerformerEvent) -> Bool) async throws -> [PerformerEvent] {
        var seen: [PerformerEvent] = []
        while let event = await events.next(isolation: #isolation) {
            if case .started(_, let process?, _) = event { started.insert(process.pid) }
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

    /// The processes whose ids the job writes to these files of its folder.
    func processes(named files: [String]) async throws -> [ProcessTree.Identity] {
        for file in files {
            #expect(try await Shell.run("until [ -s \(file) ]; do sleep 0.01; done", in: folder.path) == 0)
        }
        return try files.map { file in
            let pid = try #require(Int32(SmallFile.text(folder.file(file))))
            return ProcessTree.Identity(try #require(ProcessTable.entry(pid)))
        }
    }

    /// What the job printed, as its log has it.
    func log(of order: ProcessOrder) throws -> String {
        String(decoding: try OutputLog(path: order.output.path).read(from: 0).bytes, as: UTF8.self)
    }

    /// The daemon disconnects: its process could have been killed.
    func hangUp() async {
        client.close()
        while await events.next(isolation: #isolation) != nil {}
    }

    /// Another daemon comes.
    func comeBack(launching: Bool = false) async throws {
        try await comeBack(with: launching ? launch : nil)
    }

    /// Another daemon comes, which would launch this warden.
    func comeBack(with launch: WardenLaunch?) async throws {
        client = try WardenClient(directory: folder.file("w"))
        events = client.events.makeAsyncIterator()
        hello = try await client.connect(launching: launch)
        wardens.insert(hello.pid)
    }
}
