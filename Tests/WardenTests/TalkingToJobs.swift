import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a job that reads` {
    @Test func `gets what it is given, and the end`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["cat"]))
        order.stdin = .pipe
        warden.client.send(.start(order))
        warden.client.send(.input(order.key, offset: 0, bytes: Array("one\n".utf8)))
        warden.client.send(.input(order.key, offset: 4, bytes: [0, 255, 10]))
        warden.client.send(.closeInput(order.key))
        #expect(try await warden.end(of: order.key).exitCode == 0)
        let printed = try OutputLog(path: order.output.path).read(from: 0).bytes
        #expect(printed == Array("one\n".utf8) + [0, 255, 10])
    }

    @Test func `gets bytes that are sent again only once`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["cat"]))
        order.stdin = .pipe
        warden.client.send(.start(order))
        warden.client.send(.input(order.key, offset: 0, bytes: Array("abc".utf8)))
        warden.client.send(.input(order.key, offset: 1, bytes: Array("bcd".utf8)))
        warden.client.send(.input(order.key, offset: 9, bytes: Array("gap".utf8)))
        warden.client.send(.input(order.key, offset: 4, bytes: Array("e\n".utf8)))
        try await warden.until { $0 == .inputTaken(order.key, end: 6, isClosed: false) }
        warden.client.send(.closeInput(order.key))
        try await warden.end(of: order.key)
        #expect(try warden.log(of: order) == "abcde\n")
    }

    @Test func `is given more than fits as it takes it`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("read go; wc -c"))
        order.stdin = .pipe
        warden.client.send(.start(order))
        let whole = [UInt8](repeating: 0x78, count: 1 << 20)
        var (sent, taken) = (0, 0)
        warden.client.send(.input(order.key, offset: 0, bytes: [0x0A]))
        sent = 1
        while taken < whole.count + 1 {
            while sent < whole.count + 1, sent - taken < ProcessOrder.inputWindow {
                let part = whole[(sent - 1)...].prefix(min(1 << 16, ProcessOrder.inputWindow - sent + taken))
                warden.client.send(.input(order.key, offset: sent, bytes: Array(part)))
                sent += part.count
            }
            try await warden.until { event in
                guard case .inputTaken(order.key, let end, false) = event, end > taken else { return false }
                taken = end
                return true
            }
        }
        warden.client.send(.closeInput(order.key))
        try await warden.end(of: order.key)
        #expect(try warden.log(of: order) == "\(1 << 20)\n")
    }

    @Test func `and never does holds nobody up`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["sleep", "1000"]))
        order.stdin = .pipe
        warden.client.send(.start(order))
        let much = [UInt8](repeating: 0x78, count: 1 << 20)
        for part in 0..<8 {
            warden.client.send(.input(order.key, offset: part << 20, bytes: much))
        }
        warden.client.send(.query(order.key))
        try await warden.start(of: order.key)
        #expect(try await warden.run(warden.order(.command(["true"]), run: "other")).exitCode == 0)
        warden.client.send(.cancel(order.key, reason: "requested"))
        try await warden.end(of: order.key)
    }

    @Test func `and closed its input is reported`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("exec <&-; echo closed; exec sleep 1000"))
        order.stdin = .pipe
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "closed")
        warden.client.send(.input(order.key, offset: 0, bytes: [1]))
        try await warden.until { event in
            if case .inputTaken(order.key, _, true) = event { true } else { false }
        }
    }

    @Test func `finds a text or a file`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["wc", "-c"]), run: "text")
        order.stdin = .text([UInt8](repeating: 0x78, count: 500_000))
        #expect(try await warden.run(order).exitCode == 0)
        #expect(try warden.log(of: order) == "500000\n")

        try SmallFile.replace(warden.folder.file("in"), with: Array("from a file\n".utf8))
        order = warden.order(.command(["cat"]), run: "file")
        order.stdin = .file(warden.folder.file("in"))
        try await warden.run(order)
        #expect(try warden.log(of: order) == "from a file\n")

        order = warden.order(.command(["cat"]), run: "missing")
        order.stdin = .file(warden.folder.file("missing"))
        warden.client.send(.start(order))
        try await warden.until { event in
            if case .refused(order.key, .badInput, _) = event { true } else { false }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a job at a terminal` {
    private func order(_ warden: WardenAtWork, _ text: String) -> ProcessOrder {
        var order = warden.order(.shell(text))
        order.pty = PtySize(rows: 31, columns: 97)
        order.stdin = .pty
        return order
    }

    @Test func `has one of the asked size, and it is its own`() async throws {
        let warden = try await WardenAtWork()
        let order = order(
            warden,
            """
            test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty
            awk '{print ($5 == $8 && $6 == $1)}' /proc/$$/stat
            """)
        #expect(try await warden.run(order).exitCode == 0)
        #expect(try warden.log(of: order) == "31 97\r\n1\r\n")
    }

    @Test func `sees another size and gets a signal`() async throws {
        let warden = try await WardenAtWork()
        let order = order(warden, "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done")
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        warden.client.send(.resize(order.key, PtySize(rows: 40, columns: 120)))
        #expect(try await warden.end(of: order.key).exitCode == 0)
        #expect(try warden.log(of: order).contains("40 120"))
    }

    @Test func `reads what is typed, and the end wherever the line stands`() async throws {
        let warden = try await WardenAtWork()
        let order = order(warden, "stty -echo; echo ready; cat; echo over")
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        warden.client.send(.input(order.key, offset: 0, bytes: Array("typed\nhalf".utf8)))
        warden.client.send(.closeInput(order.key))
        #expect(try await warden.end(of: order.key).exitCode == 0)
        #expect(try warden.log(of: order) == "ready\r\ntyped\r\nhalfover\r\n")
    }

    @Test func `gets signals where they are typed: in the foreground`() async throws {
        let warden = try await WardenAtWork()
        // With job control the foreground command has a process group of its own.
        let order = order(
            warden,
            """
            trap 'echo shell' INT
            set -m
            sh -c 'trap "echo command; exit 3" INT; echo ready; while :; do sleep 0.01; done'
            echo $?
            """)
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        warden.client.send(.signal(order.key, number: Int(SIGINT)))
        try await warden.end(of: order.key)
        #expect(try warden.log(of: order).contains("command"))
        #expect(try warden.log(of: order).contains("3\r\n"))
    }

    @Test func `outlives the daemon, which finds it again`() async throws {
        let warden = try await WardenAtWork()
        let order = order(warden, "stty -echo; echo ready; read line; echo \"got $line\"")
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        await warden.hangUp()
        try await warden.comeBack()
        try await warden.until { $0 == .caughtUp }
        warden.client.send(.input(order.key, offset: 0, bytes: Array("it\n".utf8)))
        #expect(try await warden.end(of: order.key).exitCode == 0)
        #expect(try warden.log(of: order) == "ready\r\ngot it\r\n")
    }

    @Test func `can end it by hanging up`() async throws {
        let warden = try await WardenAtWork()
        // An interactive shell does not mind TERM; a terminal that hangs up ends it.
        let order = order(warden, "echo ready; exec sh -i")
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        warden.client.send(.cancel(order.key, reason: "requested"))
        #expect(try await warden.end(of: order.key).cause == .canceled)
    }
}
