import Foundation
import TestSupport
import Testing

/// Whether a daemon is there: what passes through must not depend on it.
enum Company: CaseIterable, CustomStringConvertible {
    case daemon, none

    var description: String { self == .daemon ? "a daemon" : "no daemon" }

    func home() async throws -> Belfry {
        switch self {
        case .daemon: try await Belfry.start()
        case .none: try Belfry()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `belfry exec passes through` {
    @Test(arguments: Company.allCases)
    func `what it prints, byte for byte, each stream to its own`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell(
            """
            head -c 20000000 /dev/urandom >big
            belfry exec -- sh -c 'cat big; echo oops >&2' >copy 2>errors
            echo $?; cmp big copy && echo same; cat errors
            belfry exec -- cat big | md5sum | cut -d' ' -f1; md5sum <big | cut -d' ' -f1
            """)
        let lines = answer.lines
        #expect(lines.prefix(3) == ["0", "same", "oops"], "\(answer)")
        #expect(lines.count == 5 && lines[3] == lines[4], "\(answer)")
        #expect(answer.errors.isEmpty)
    }

    @Test(arguments: Company.allCases)
    func `what it reads, from a pipe and a file, to its end`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell(
            """
            head -c 20000000 /dev/urandom >big
            cat big | belfry exec -- md5sum; belfry exec -- md5sum <big; md5sum <big
            belfry exec -- cat </dev/null; echo $?
            """)
        let lines = answer.lines
        #expect(lines.count == 4 && Set(lines.prefix(3)).count == 1 && lines[3] == "0", "\(answer)")
    }

    @Test(arguments: Company.allCases)
    func `only what it reads; the rest is there for the next`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell(
            "printf 'one\\ntwo\\n' | { belfry exec -- sh -c 'read x; echo it read $x'; cat; }")
        #expect(answer.lines == ["it read one", "two"], "\(answer)")
    }

    @Test(arguments: Company.allCases)
    func `the end of a reader who has seen enough`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell("belfry exec -- yes | head -n 2; echo over")
        #expect(answer.lines == ["y", "y", "over"], "\(answer)")
    }

    @Test(arguments: Company.allCases)
    func `folder, mask and exactly this environment`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell(
            """
            umask 027; mkdir here; cd here
            PROBE='a  b' belfry exec --name probe -- sh -c 'umask; pwd; echo "$PROBE"; echo $BELFRY_JOB'
            env -i PATH="$PATH" HOME="$HOME" BELFRY_SOCKET="$BELFRY_SOCKET" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" \
                BELFRY_STATE="$BELFRY_STATE" belfry exec -- env | cut -d= -f1 | grep -v '^BELFRY' | sort | xargs
            """)
        #expect(
            answer.lines == [
                "0027", belfry.folder.file("here"), "a  b", "probe",
                "HOME NOTIFY_SOCKET PATH PROGRESS_FD XDG_RUNTIME_DIR",
            ], "\(answer)")
    }

    @Test(
        arguments: Company.allCases,
        [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)])
    func `signals, and the code of one who dies of them`(
        company: Company, signal: (name: String, code: Int32)
    ) async throws {
        let belfry = try await company.home()
        let gate = try Gate(in: belfry.folder)
        let process = try belfry.startShell(
            "exec belfry exec --name probe -- sh -c 'echo >gate; exec sleep 1000'",
            output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        let number = try #require(["HUP": 1, "INT": 2, "QUIT": 3, "TERM": 15][signal.name])
        process.signal(Int32(number))
        #expect(await process.status() == signal.code)
        if company == .daemon {
            let events = try belfry.events()
            #expect(try await events.event("run.canceled", of: "probe")["run"].text != nil)
        }
    }

    @Test(arguments: Company.allCases)
    func `signals to one who takes them otherwise`(company: Company) async throws {
        let belfry = try await company.home()
        let gate = try Gate(in: belfry.folder)
        let process = try belfry.startShell(
            """
            exec belfry exec -- sh -c 'trap "echo caught; exit 7" INT; echo >gate; while :; do sleep 0.05; done'
            """, output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        process.signal(SIGINT)
        #expect(await process.status() == 7)
        #expect(belfry.lines(of: "out") == ["caught"])
    }

    @Test func `everything, though the daemon is killed in the middle`() async throws {
        let belfry = try await Belfry.start()
        let (gate, next) = (try Gate(in: belfry.folder), try Gate("next", in: belfry.folder))
        let process = try belfry.startShell(
            """
            head -c 30000000 /dev/urandom >big
            { cat big; echo >gate; read line <next; cat big; } | belfry exec --name sum -- tee copy | md5sum
            cat big big | md5sum
            """, output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        try await belfry.kill()
        try next.open()
        #expect(await process.status() == 0)
        let lines = belfry.lines(of: "out")
        #expect(lines.count == 2 && lines[0] == lines[1], "\(lines)")
        try await belfry.start()
        let ended = try await belfry.events().event("run.completed", of: "sum")
        #expect(ended["job"].text == "sum")
        #expect(try await belfry.json("run", "show", "sum#1")["outputBytes"].number == 60_000_000)
    }

    /// Issue 10, 12.
    @Test(arguments: Company.allCases)
    func `what a background process prints later, to whoever reads the pipe to its end`(
        company: Company
    ) async throws {
        let belfry = try await company.home()
        let (gate, next) = (try Gate(in: belfry.folder), try Gate("next", in: belfry.folder))
        let process = try belfry.startShell(
            """
            { belfry exec -- sh -c '(read line <next; echo late; echo oops >&2) & echo hi'; echo >gate; } | cat
            """, output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        // It has returned, though its pipe is still open.
        try await gate.passed()
        try next.open()
        #expect(await process.status() == 0)
        #expect(belfry.lines(of: "out") == ["hi", "late"])
        #expect(belfry.lines(of: "err") == ["oops"])
    }

    /// Issue 10, 12.
    @Test(arguments: Company.allCases)
    func `what a background process prints later, to a file, and returns at once`(
        company: Company
    ) async throws {
        let belfry = try await company.home()
        let next = try Gate("next", in: belfry.folder)
        let answer = try await belfry.shell(
            """
            belfry exec -- sh -c '(read line <next; echo late) & echo hi; exit 3' >copy; echo $?; cat copy
            echo >next; for i in $(seq 600); do grep -s late copy && exit; sleep 0.1; done
            """)
        withExtendedLifetime(next) {}
        #expect(answer.lines == ["3", "hi", "late"], "\(answer)")
        #expect(answer.errors.isEmpty)
    }

    /// Issue 10, 1.
    @Test(.enabled(if: SmallDisk.isAllowed), arguments: Company.allCases)
    func `no success when the disk of its terminal's output is full, nor a hang-up`(company: Company)
        async throws
    {
        let belfry = try await company.home()
        let disk = try SmallDisk(at: belfry.folder.file("tiny"), kilobytes: 64)
        defer { withExtendedLifetime(disk) {} }
        let answer = try await belfry.shell(
            """
            belfry exec --pty --name fill -- sh -c 'trap "echo hup >>after" HUP; head -c 2000000 /dev/zero
            echo ended >>after' >tiny/o
            """)
        #expect(answer.code == 125)
        #expect(
            answer.errors.hasPrefix("belfry: standard output can't be written: No space left on device"))
        #expect(belfry.lines(of: "after") == ["ended"])
    }

    @Test(arguments: Company.allCases)
    func `no success when its output is closed, unless nothing is printed there`(company: Company)
        async throws
    {
        let belfry = try await company.home()
        for flag in ["", "--json"] {
            let answer = try await belfry.shell("belfry exec \(flag) -- sh -c 'echo lost; exit 0' >&-")
            #expect(answer.code == 125, "\(flag)")
            #expect(answer.errors.contains("standard output can't be written: Bad file descriptor"))
        }
        let silent = try await belfry.shell("belfry exec -- sh -c 'echo kept >&2; exit 4' >&-")
        #expect(silent.code == 4 && silent.errors == "kept\n")
    }

    /// Issue 10, 1.
    @Test(.enabled(if: SmallDisk.isAllowed), arguments: Company.allCases)
    func `no success when the disk of its output is full`(company: Company) async throws {
        let belfry = try await company.home()
        let disk = try SmallDisk(at: belfry.folder.file("tiny"), kilobytes: 64)
        defer { withExtendedLifetime(disk) {} }
        for bytes in [200_000, 5_000_000] {
            let answer = try await belfry.shell(
                "belfry exec --name fill -- head -c \(bytes) /dev/zero >tiny/o; code=$?; rm tiny/o; exit $code"
            )
            #expect(answer.code == 125)
            let sentence = "belfry: standard output can't be written: No space left on device"
            #expect(answer.errors.hasPrefix(sentence))
            #expect(answer.errors.contains("incomplete"))
            if company == .daemon { #expect(answer.errors.contains("belfry run logs fill#")) }
        }
        let json = try await belfry.shell("belfry exec --json --name fill -- true >/dev/full")
        #expect(json.code == 125)
        #expect(try JSON(json.errors)["error"]["kind"].text == "outputLost")
    }
}
