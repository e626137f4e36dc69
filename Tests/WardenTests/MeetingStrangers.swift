import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `a stranger at the warden's socket` {
    static let nonsense: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [0, 0, 0, 0], [255, 255, 255, 255, 1],
        WardenCommand.query(nil).frame,
        WardenCommand.hello(version: 1).frame + WardenCommand.hello(version: 1).frame,
        WardenCommand.hello(version: 1).frame + [3, 0, 0, 0, 2, 0xFF, 0xFF],
        WardenCommand.acknowledge(RunKey(run: "../../etc/passwd", attempt: 1)).frame,
    ]

    @Test func `who sends nonsense is disconnected, and the daemon notices nothing`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("exec sleep 1000"))
        warden.client.send(.start(order))
        let pid = try await warden.start(of: order.key)
        for bytes in Self.nonsense where !bytes.starts(with: WardenCommand.hello(version: 1).frame) {
            try expectHangUp(warden, after: bytes)
        }
        warden.client.send(.query(order.key))
        #expect(try await warden.start(of: order.key) == pid)
    }

    @Test func `who sent hello and then nonsense is disconnected, and a daemon can come`() async throws {
        let warden = try await WardenAtWork()
        try await occupy(warden)
        await warden.hangUp()
        for bytes in Self.nonsense { try expectHangUp(warden, after: bytes) }
        try await warden.comeBack()
        try await warden.until { $0 == .caughtUp }
    }

    @Test func `who sends nothing does not keep a daemon out`() async throws {
        let warden = try await WardenAtWork()
        try await occupy(warden)
        await warden.hangUp()
        var silent: [Descriptor] = []
        for _ in 0..<40 { silent.append(try LocalSocket.connect(warden.folder.file("w/warden.sock"))) }
        try await warden.comeBack()
        #expect(try await warden.run(warden.order(.command(["true"]))).exitCode == 0)
    }

    /// Gives it a run to hold: one without ends by itself when no daemon comes for a while, however slow the test.
    private func occupy(_ warden: WardenAtWork) async throws {
        let order = warden.order(.shell("exec sleep 1000"), run: UniqueID.v4())
        warden.client.send(.start(order))
        _ = try await warden.start(of: order.key)
    }

    @Test func `who sends random bytes does not end it`() async throws {
        let warden = try await WardenAtWork()
        var random = SeededGenerator(seed: 60)
        for _ in 0..<200 {
            let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
            let socket = try LocalSocket.connect(warden.folder.file("w/warden.sock"))
            _ = try? LocalSocket.send(bytes[...], over: socket)
        }
        #expect(try await warden.run(warden.order(.command(["true"]))).exitCode == 0)
    }

    @Test func `is refused by the arguments, too`() {
        #expect(WardenOptions.parse(["--directory", "d"]) == .refuse("--directory needs an absolute path"))
        #expect(WardenOptions.parse(["--state", "/s"]) == .refuse("--state needs a --directory, too"))
        #expect(
            WardenOptions.parse(["--system", "--directory", "/d"])
                == .refuse("--system and --directory exclude each other"))
        #expect(WardenOptions.parse(["--directory"]) == .refuse("--directory needs a value"))
        #expect(
            WardenOptions.parse(["--directory", "/d", "--ready-fd", "1"])
                == .refuse("--ready-fd takes a number above 2, not \"1\""))
        #expect(
            WardenOptions.parse(["--directory", "/d", "--jobs"]) == .refuse("unknown argument \"--jobs\""))
        var options = WardenOptions(directory: "/d")
        options.state = "/s"
        options.endsWhenIdle = true
        #expect(WardenOptions.parse(["--directory", "/d", "--until-idle", "--state", "/s"]) == .run(options))
    }

    @Test func `is no daemon of this user, which finds the warden's folder by the same rule`() throws {
        guard case .serve(.user, let options) = WardenOptions.parse([]) else {
            Issue.record("without a folder it serves the user's daemon")
            return
        }
        let folder = try TemporaryFolder()
        let environment = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.file("run"), "XDG_STATE_HOME": folder.file("link"),
        ]
        // The state is reached by a link: both must resolve it.
        try PrivateFolder.make(folder.file("state"))
        unsafe symlink(folder.file("state"), folder.file("link"))
        let placed = try options.placed(for: .user, environment: environment)
        let daemon = Paths(.user, environment: environment)
        #expect(placed.directory == daemon.warden)
        #expect(placed.directory.hasPrefix(folder.file("run/belfry/")))
        #expect(placed.state == folder.file("link/belfry"))
        #expect(WardenOptions.parse(["--system"]) == .serve(.system, WardenOptions(directory: "")))
    }

    private func expectHangUp(_ warden: WardenAtWork, after bytes: [UInt8]) throws {
        let socket = try LocalSocket.connect(warden.folder.file("w/warden.sock"))
        #expect(try LocalSocket.send(bytes[...], over: socket) == bytes.count)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var received: [Descriptor] = []
        while true {
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&waiting, 1, 30_000) == 1, "it was not hung up on")
            let reading = try? LocalSocket.receive(from: socket, into: &buffer, received: &received)
            guard case .bytes = reading else { return }
        }
    }
}
