import API
import APIClient
import Glibc
import Host
import TestSupport
import Testing
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `the command line on a terminal` {
    /// Runs `belfry` on a pseudo-terminal and returns all it wrote there; `act` is called with its process
    /// id once `sign` was seen.
    private static func onTerminal(
        _ house: House, _ arguments: [String], when sign: String = "",
        _ act: @escaping @Sendable (Int32) -> Void = { _ in }
    ) async throws -> (status: Int32, text: String) {
        try await blocking {
            let master = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var unlocked: Int32 = 0
            var number: Int32 = -1
            var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            // What unlockpt(3) and ptsname(3) do; the Glibc module lacks them. TIOCSPTLCK, TIOCGPTN.
            #expect(unsafe ioctl(master.raw, 0x4004_5431, &unlocked) == 0)
            #expect(unsafe ioctl(master.raw, 0x8004_5430, &number) == 0)
            #expect(unsafe ioctl(master.raw, UInt(TIOCSWINSZ), &size) == 0)
            let name = "/dev/pts/\(number)"
            var environment = Machine.environment
            for name in ["CI", "NO_COLOR", "ACCESSIBLE"] { environment[name] = nil }
            environment["BELFRY_SOCKET"] = house.client.socket
            environment["BELFRY_TIMEOUT"] = "60"
            environment["TERM"] = "xterm-256color"
            environment["LANG"] = "C.UTF-8"
            environment["LC_ALL"] = nil
            let pid = try {
                let slave = try Descriptor.open(name, O_RDWR | O_NOCTTY)
                return try ChildProgram(
                    path: BuiltProgram.path("belfry"), arguments: ["belfry"] + arguments,
                    environment: environment, descriptors: [slave, slave, slave]
                ).start()
            }()
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            var hasActed = false
            // The read fails once nobody holds the other end any more.
            while case .bytes(let count)? = try? master.read(into: &buffer) {
                bytes += buffer[..<count]
                if !hasActed, String(decoding: bytes, as: UTF8.self).contains(sign) {
                    hasActed = true
                    act(pid)
                }
            }
            var status: Int32 = 0
            _ = unsafe waitpid(pid, &status, 0)
            return ((status >> 8) & 0xFF, String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func `shows a run as one row, and leaves one line of its end`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry(
                "job", "add", "steps", "--shell",
                "for n in 1 2 3 4; do echo \"{\\\"progress\\\":0.$n}\" >&$PROGRESS_FD; sleep 0.2; done; exit 3"
            )
            let shown = try await Self.onTerminal(house, ["run", "steps", "--follow"])
            #expect(shown.status == 3)
            #expect(shown.text.contains("steps#1"))
            #expect(
                shown.text.contains("failed after <1 s: exit code 3") || shown.text.contains("exit code 3"))
            #expect(shown.text.components("\u{1B}[?25l") == shown.text.components("\u{1B}[?25h"))
            #expect(shown.text.hasSuffix("\u{1B}[?25h"))
            #expect(shown.text.contains("\u{1B}[31m"))
            let plain = try await Self.onTerminal(
                house, ["run", "steps", "--follow", "--progress", "plain", "--color", "never"])
            #expect(!plain.text.contains("\u{1B}") && plain.text.contains("steps#2"))
        }
    }

    @Test func `removes its rows when it is interrupted, and the run continues`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "long", "--shell", "exec sleep 1000")
            let shown = try await Self.onTerminal(
                house, ["run", "long", "--follow"], when: "long#1", { _ = kill($0, SIGINT) })
            #expect(shown.status == 130)
            let rest = shown.text.split(separator: "\u{1B}[?25h").last ?? ""
            #expect(rest.hasPrefix("long#1 is still active. ") && !rest.contains("\u{1B}"), "\(rest)")
            let run: String = try await house.belfry("run", "show", "long#1", "--json").output
            // The row is there before the process is: the run may still have to be started.
            let state = try WireCoding.decode(WireRun.self, from: run.utf8).state
            #expect([.queued, .starting, .running].contains(state))
            #expect(try await house.belfry("run", "cancel", "long#1").status == 0)
        }
    }

    @Test func `ends what exec runs when it is interrupted`() async throws {
        try await House.whileStanding { house in
            let shown = try await Self.onTerminal(
                house, ["exec", "--name", "probe", "--", "/bin/sh", "-c", "echo ready; exec sleep 1000"],
                when: "ready", { _ = kill($0, SIGINT) })
            #expect(shown.status == 128 + SIGINT)
            // On a busy machine the daemon records the end after the command has ended.
            var state = RunState.running
            while !state.isEnded {
                let run: String = try await house.belfry("run", "show", "probe#1", "--json").output
                state = try WireCoding.decode(WireRun.self, from: run.utf8).state
                try Task.checkCancellation()
            }
            #expect(state == .canceled)
        }
    }

    @Test func `shows tables that fit, and times for people`() async throws {
        try await House.whileStanding { house in
            let name = "a-job-with-a-name-that-nobody-may-cut"
            _ = try await house.belfry(
                "job", "add", name, "--cron", "0,5,10,15,20,25,30,35,40,45,50,55 0-6,8-23 1-28 1-6,8-12 *",
                "--bot", "a-bot-with-a-long-name", "--", "true")
            _ = try await house.belfry("job", "add", "yearly", "--cron", "30 2 1 1 *", "--", "true")
            let listed = try await Self.onTerminal(house, ["job", "list", "--color", "never"])
            let lines = listed.text.split { $0 == "\r\n" || $0 == "\n" }
            #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 80 }, "\(listed.text)")
            #expect(lines.contains { $0.hasPrefix("\(name)  ") && $0.contains("…") })
            let piped = try await house.belfry("job", "list")
            #expect(piped.output.contains("8-12 *") && piped.output.contains("-01-01T02:30:00+00:00"))
            let next = try await Self.onTerminal(house, ["job", "next", "yearly", "-n", "1"])
            #expect(next.text.contains(/[A-Z][a-z]{2} 1 Jan (\d{4} )?02:30 \(\+00:00\)/), "\(next.text)")
            let cron = try await Self.onTerminal(
                house, ["cron", "next", "30 2 1 1 *", "-n", "1", "--zone", "UTC"])
            #expect(cron.text.contains(/1 Jan (\d{4} )?02:30 \(\+00:00\), in \d+/), "\(cron.text)")
            let words = try await Self.onTerminal(house, ["cron", "words", "every day at 2:30 in Tokyo"])
            #expect(
                words.text.contains("every day, Asia/Tokyo time")
                    && words.text.contains(/02:30 \(\+09:00\), in \d/), "\(words.text)")
            let status = try await Self.onTerminal(house, ["status", "--color", "never"])
            #expect(status.status == 0)
            #expect(status.text.split { $0 == "\r\n" }.allSatisfy { $0.count <= 80 }, "\(status.text)")
        }
    }

    @Test func `breaks sentences between words, but none that is piped`() async throws {
        try await House.whileStanding { house in
            let words = ["job", "add", "My Job", "--", "true"]
            let piped = try await house.belfry(words).errors
            #expect(piped.split(separator: "\n").count == 1 && piped.count > 80)
            let shown = try await Self.onTerminal(house, words)
            let lines = shown.text.split { $0 == "\r\n" || $0 == "\n" }
            #expect(lines.count == 2 && lines.allSatisfy { $0.count <= 80 }, "\(shown.text)")
            #expect(lines.joined(separator: " ").split(separator: " ") == piped.split { " \n".contains($0) })
        }
    }

    @Test func `shows a zone only where it is not that of this machine`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "here", "--cron", "30 2 * * *", "--", "true")
            _ = try await house.belfry(
                "job", "add", "there", "--cron", "30 2 * * *", "--zone", "Asia/Tokyo", "--", "true")
            let rows = try await house.belfry("job", "list").output.split(separator: "\n")
            #expect(rows.contains { $0.hasPrefix("here   30 2 * * *             20") }, "\(rows)")
            #expect(rows.contains { $0.hasPrefix("there  30 2 * * * Asia/Tokyo  20") }, "\(rows)")
        }
    }

    @Test func `lets the shell complete names that the daemon knows`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "backup", "--", "true")
            _ = try await house.belfry("job", "add", "digest", "--", "true")
            let script = """
                PATH=$1:$PATH; source <(belfry --generate-completion-script bash)
                COMP_WORDS=(belfry job show ""); COMP_CWORD=3; COMP_LINE="belfry job show "; COMP_POINT=16
                _belfry; echo "${COMPREPLY[*]}"
                """
            let programs = SmallFile.parent(of: try BuiltProgram.path("belfry"))
            let answer = try await house.run("/bin/bash", ["-c", script, "bash", programs])
            #expect(answer.output == "backup digest\n", "\(answer.errors)")
            for shell in ["zsh", "fish"] {
                let text = try await house.belfry("--generate-completion-script", shell)
                #expect(text.status == 0 && text.output.contains("belfry"))
            }
        }
    }
}

extension String {
    /// How often `part` occurs.
    fileprivate func components(_ part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
