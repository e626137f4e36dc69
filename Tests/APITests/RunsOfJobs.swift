import API
import APIClient
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `runs over the socket` {
    @Test func `are listed in the order they were made in, whatever the clock said`() async throws {
        try await House.whileStanding { house in
            let now = Moment.now
            for (id, at) in [("a", now), ("b", now + .seconds(320_000_000)), ("c", now + .seconds(5))] {
                let run = RunRecord(
                    id: id, job: "clock-\(id)", bot: "belfry", kind: .exec, cause: "exec:\(id)", queuedAt: at,
                    revision: 1)
                try await house.ledger.commit([.insertRun(run, orIgnore: false)])
            }
            let list = try await house.belfry("runs", "--json").output
            #expect(try WireCoding.decode([WireRun].self, from: list.utf8).map(\.id) == ["c", "b", "a"])
        }
    }

    @Test func `are listed beside a pause that is older than all of them and goes on`() async throws {
        try await House.whileStanding { house in
            let now = Moment.now
            let pause = SlotSpan(
                job: "backup", era: 0, first: now - .seconds(8_000_000), last: now, count: 900,
                state: .skipped,
                reason: .paused)
            let over = SlotSpan(
                job: "backup", era: 0, first: now - .seconds(9_000_000), last: now - .seconds(8_500_000),
                count: 50, state: .skipped, reason: .overlap)
            for span in [over, pause] { try await house.ledger.commit([.recordSpan(span, follows: nil)]) }
            for number in 1...3 {
                let run = RunRecord(
                    id: "r\(number)", job: "other", bot: "belfry", kind: .exec, cause: "exec:\(number)",
                    queuedAt: now - .seconds(60 * number), revision: 1)
                try await house.ledger.commit([.insertRun(run, orIgnore: false)])
            }
            for options in [["--since", "1d"], ["--limit", "2"]] {
                let list = try await house.belfry(["runs", "--json"] + options).output
                let rows = try WireCoding.decode([WireRun].self, from: list.utf8)
                #expect(rows.first?.reason == .paused && rows.first?.count == 900, "\(list)")
                #expect(!rows.contains { $0.reason == .overlap }, "\(list)")
            }
        }
    }

    @Test func `are started, followed and shown, and exit as the job did`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry(
                "job", "add", "work", "--shell", "echo out; echo err >&2; printf 'a\\0b'; exit 7")
            let followed = try await house.belfry("run", "work", "--follow", "--json")
            #expect(followed.status == 7, "\(followed.errors)")
            let lines = try followed.output.split(separator: "\n").map {
                try WireCoding.decode(WireLive.self, from: $0.utf8)
            }
            #expect(lines.last?.state == .failed)
            #expect(lines.last?.status == .failed)
            #expect(Set(lines.map(\.run)) == ["work#1"])

            let shown = try await house.belfry("run", "show", "work#1", "--json")
            let run = try WireCoding.decode(WireRun.self, from: shown.output.utf8)
            #expect(run.state == .failed && run.reason == .exitCode && run.exitCode == 7)
            #expect(run.kind == "manual" && run.attempts?.count == 1)
            #expect(run.startedAt != nil && run.endedAt != nil && run.outputBytes == 11)

            let logs = try await house.belfry("run", "logs", "-f", "work#1")
            #expect(logs.output.utf8.count == 11)
            #expect(logs.output.contains("out\n") && logs.output.contains("err\n"))
            #expect(logs.output.contains("a\0b"))

            let list = try await house.belfry("runs", "work")
            #expect(list.output.contains("work#1") && list.output.contains("failed: exit code 7"))
            #expect(try await house.belfry("runs", "--state", "completed", "--json").output == "[]\n")

            let again = try await house.belfry("run", "retry", "work#1", "--json")
            let second = try WireCoding.decode(WireRun.self, from: again.output.utf8)
            #expect(second.name == "work#2" && second.retryOf == run.id)
        }
    }

    @Test func `show why where their output can't be read, and none where there is no file`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "work", "--shell", "true")
            _ = try await house.belfry("run", "work", "--follow")
            let empty = try await house.belfry("run", "logs", "work#1")
            #expect(empty.status == 0 && empty.output.isEmpty, "\(empty)")
            let run = try #require(try await house.ledger.runs(RunFilter(job: "work", limit: 1)).first)
            let path = house.folder.file("output/work/\(run.id).1.log")
            try PrivateFolder.make(path)
            for words in [["run", "logs", "work#1"], ["run", "logs", "-f", "work#1"]] {
                let answer = try await house.belfry(words)
                #expect(answer.status == 1 && answer.output.isEmpty, "\(answer)")
                #expect(answer.errors.contains("the output of work#1 can't be read: "), "\(answer)")
                #expect(answer.errors.contains(path), "\(answer)")
            }
        }
    }

    @Test func `are one for one key, and refused while the last continues`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "long", "--shell", "echo started; exec sleep 1000")
            let first = try await house.belfry("run", "long", "--key", "k")
            #expect(first.output.hasPrefix("long#1 is "))
            #expect(try await house.belfry("run", "long", "--key", "k").output.hasPrefix("long#1 is "))
            let busy = try await house.belfry("run", "long")
            #expect(busy.status == 5 && busy.errors.contains("long#1"))
            // The output is there while it runs, and follows to the end.
            try await blocking {
                var query = LogsQuery()
                query.follow = true
                let stream = try house.client.open(
                    Endpoints.logs(RunName(job: "long", ordinal: 1), query: query))
                var text = ""
                while !text.hasSuffix("\n"), case .bytes(let bytes) = try stream.next(timeout: .seconds(120))
                {
                    text += String(decoding: bytes, as: UTF8.self)
                }
                #expect(text == "started\n")
                _ = try house.client.ask(Endpoints.cancelRun(RunName(job: "long", ordinal: 1)))
                #expect(try stream.next(timeout: .seconds(120)) == .ended)
            }
            let ended = try await house.belfry("run", "show", "long#1", "--json")
            #expect(try WireCoding.decode(WireRun.self, from: ended.output.utf8).state == .canceled)
            #expect(try await house.belfry("run", "cancel", "long#1").status == 5)
            let unknown = try await house.belfry("run", "show", "long#9")
            #expect(unknown.status == 4)
            #expect(unknown.errors == "belfry: no run \"long#9\". The newest is long#1.\n")
            #expect(
                try await house.belfry("run", "logs", "lnog#1").errors.contains("Did you mean \"long#1\"?"))
        }
    }

    @Test func `of exec run here, with this environment, and exit as the command did`() async throws {
        try await House.whileStanding { house in
            let answer = try await house.belfry(
                ["exec", "--name", "probe", "--", "/bin/sh", "-c", "echo $MARK $PWD $BELFRY_RUN; exit 3"],
                environment: ["MARK": "seen"])
            #expect(answer.status == 3, "\(answer.errors)")
            #expect(answer.output == "seen \(house.folder.path) probe#1\n")
            #expect(try await house.belfry("exec", "--", "/nonexistent/program").status == 127)
            #expect(try await house.belfry("exec", "--", "/etc/passwd").status == 126)
            #expect(try await house.belfry("exec", "--", "/bin/sh", "-c", "kill -9 $$").status == 137)
            #expect(try await house.belfry("exec", "--", "/bin/true").status == 0)
            let runs = try await house.belfry("runs", "--json")
            let kinds = try WireCoding.decode([WireRun].self, from: runs.output.utf8).map(\.kind)
            #expect(kinds == Array(repeating: "exec", count: 5))
        }
    }
}
