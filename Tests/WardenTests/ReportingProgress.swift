import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a report` {
    /// Fails where its barrier is not passed within 5 s.
    static let notify = "systemd-notify"

    @Test func `by systemd-notify arrives, and returns at once`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell("\(Self.notify) --status=half X_PROGRESS=5/10 && \(Self.notify) X_PROGRESS=10/10"))
        warden.client.send(.start(order))
        let (texts, record) = try await reports(warden, order.key)
        #expect(record.exitCode == 0)
        #expect(texts == ["STATUS=half\nX_PROGRESS=5/10", "X_PROGRESS=10/10"])
    }

    @Test func `of a process that is none of the run's does not count`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell(
                """
                echo $NOTIFY_SOCKET > address; mkfifo go; read line < go
                env -i NOTIFY_SOCKET=$NOTIFY_SOCKET PATH=$PATH \(Self.notify) X_PROGRESS=1/2
                """))
        warden.client.send(.start(order))
        try await warden.start(of: order.key)
        let path = warden.folder.path
        #expect(
            try await Shell.run(
                """
                until [ -p go ]; do sleep 0.01; done
                NOTIFY_SOCKET=$(cat address) \(Self.notify) X_PROGRESS=9/10
                echo > go
                """, in: path) == 0)
        let (texts, record) = try await reports(warden, order.key)
        #expect(record.exitCode == 0)
        #expect(texts == ["X_PROGRESS=1/2"])
    }

    @Test func `by systemd-notify returns at once also while no daemon is there, and is kept`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell(
                """
                mkfifo go done; read line < go
                for step in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
                    \(Self.notify) X_PROGRESS=$step/13 || exit 9
                done
                echo said > done
                read line < go
                """))
        warden.client.send(.start(order))
        try await warden.start(of: order.key)
        await warden.hangUp()
        let path = warden.folder.path
        #expect(
            try await Shell.run(
                "until [ -p done ]; do sleep 0.01; done; echo > go; read line < done", in: path)
                == 0)
        try await warden.comeBack()
        var texts: [String] = []
        try await warden.until { event in
            if case .notify(order.key, let datagrams, _) = event {
                texts += datagrams.map { String(decoding: $0, as: UTF8.self) }
            }
            return texts.count == 13
        }
        #expect(texts == (1...13).map { "X_PROGRESS=\($0)/13" })
        #expect(try await Shell.run("echo > go", in: path) == 0)
        #expect(try await warden.end(of: order.key).exitCode == 0)
    }

    @Test func `goes to the daemon again after it came back`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("mkfifo go; read line < go; \(Self.notify) --status=back"))
        warden.client.send(.start(order))
        try await warden.start(of: order.key)
        await warden.hangUp()
        try await warden.comeBack()
        try await warden.until { $0 == .caughtUp }
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        let (texts, record) = try await reports(warden, order.key)
        #expect(texts == ["STATUS=back"])
        #expect(record.exitCode == 0)
    }

    @Test func `on PROGRESS_FD arrives line by line, the last one before the outcome`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell("for n in 1 2 3; do echo \"{\\\"progress\\\":$n}\" >&$PROGRESS_FD; done; printf end >&3"))
        warden.client.send(.start(order))
        var lines: [String] = []
        try await warden.until { event in
            if case .report(order.key, let line, _) = event {
                lines.append(String(decoding: line, as: UTF8.self))
            }
            if case .ended = event { return true }
            return false
        }
        #expect(lines == ["{\"progress\":1}", "{\"progress\":2}", "{\"progress\":3}", "end"])
    }

    @Test func `that no daemon has saved is sent again to the next one, and what was saved is not`()
        async throws
    {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell(
                """
                mkfifo go; echo one >&$PROGRESS_FD; \(Self.notify) --status=two; echo three >&$PROGRESS_FD
                read line < go
                """))
        warden.client.send(.start(order))
        let first = try await numbered(warden, order.key) { $0.count == 3 }
        #expect(first == [1: "one", 2: "STATUS=two", 3: "three"])
        await warden.hangUp()
        try await warden.comeBack()
        #expect(try await numbered(warden, order.key) { $0.count == 3 } == first)
        warden.client.send(.acknowledgeReports(order.key, through: 2))
        // Once this is answered, that was received.
        warden.client.send(.query(order.key))
        try await warden.start(of: order.key)
        await warden.hangUp()
        try await warden.comeBack()
        #expect(try await numbered(warden, order.key) { !$0.isEmpty } == [3: "three"])
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        await warden.hangUp()
        try await warden.comeBack()
        // Its end repeats it, too, until that is acknowledged.
        let last = try await numbered(warden, order.key) { _ in false }
        #expect(last == [3: "three"])
    }

    /// The reports with numbers, by number, until enough is seen or the attempt has ended.
    private func numbered(
        _ warden: WardenAtWork, _ key: RunKey, until isEnough: ([Int: String]) -> Bool
    ) async throws -> [Int: String] {
        var texts: [Int: String] = [:]
        try await warden.until { event in
            switch event {
            case .report(key, let line, let number?): texts[number] = String(decoding: line, as: UTF8.self)
            case .notify(key, let datagrams, let number?):
                texts[number] = datagrams.map { String(decoding: $0, as: UTF8.self) }.joined()
            case .ended(let record) where record.key == key: return true
            default: break
            }
            return isEnough(texts)
        }
        return texts
    }

    @Test func `of many does not block the job nor lose the last`() async throws {
        let warden = try await WardenAtWork()
        let script = """
            import os, socket
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            for n in range(20000): s.sendto(b"X_PROGRESS=%d/20000" % (n + 1), os.environ["NOTIFY_SOCKET"])
            """
        try SmallFile.replace(warden.folder.file("many.py"), with: Array(script.utf8))
        let order = warden.order(.command(["python3", "many.py"]))
        warden.client.send(.start(order))
        let (texts, record) = try await reports(warden, order.key)
        #expect(record.exitCode == 0)
        #expect(texts.last == "X_PROGRESS=20000/20000")
    }

    private func reports(_ warden: WardenAtWork, _ key: RunKey) async throws -> ([String], ExitRecord) {
        var texts: [String] = []
        var record: ExitRecord?
        try await warden.until { event in
            switch event {
            case .notify(key, let datagrams, _):
                texts += datagrams.map { String(decoding: $0, as: UTF8.self) }
            case .ended(let ended) where ended.key == key: record = ended
            default: break
            }
            return record != nil
        }
        return (texts, try #require(record))
    }
}
