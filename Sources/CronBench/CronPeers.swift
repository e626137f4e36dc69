import Glibc
import Host

/// Other programs that search cron expressions, measured in the same run where they are installed: robfig/cron
/// (Debian's golang-go and golang-github-robfig-cron-dev), cronsim and croniter (the tests' Python packages).
struct CronPeers {
    /// One program's figures, one element an expression.
    struct Figures {
        var name: String
        /// Nanoseconds a search in UTC and in New York, and a parse.
        var utc: [Double] = []
        var newYork: [Double] = []
        var parse: [Double] = []
        /// The sum of all answers in seconds: equal sums are equal answers.
        var utcSums: [Int64] = []
        var newYorkSums: [Int64] = []
        /// Bytes that one of a million entries takes; 0 where that was not asked.
        var bytes = 0.0
    }

    /// What can be measured on this machine; the others are named on standard output.
    ///
    /// `isBrief` asks cronsim alone, which is enough for a ratio.
    static func measure(isBrief: Bool = false) -> [Figures] {
        guard let folder = PeerFolder(files: ["main.go": golang, "peers.py": snake]) else {
            print("cron: no folder for the peers")
            return []
        }
        let python = ".build/venv/bin/python '\(folder.path)/peers.py'"
        let go = "GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS= go run '\(folder.path)/main.go'"
        let all = [("robfig", go), ("cronsim", python + " cronsim"), ("croniter", python + " croniter")]
        return all.filter { !isBrief || $0.0 == "cronsim" }.compactMap { name, command in
            guard let figures = read(name, command) else {
                print("cron: \(name) is not installed, so it is not measured")
                return nil
            }
            return figures
        }
    }

    /// Reads a line an expression: nanoseconds and sum in UTC, the same in New York, nanoseconds a parse; then
    /// perhaps one with the bytes of an entry.
    private static func read(_ name: String, _ command: String) -> Figures? {
        let lines = PeerFolder.output(of: command).split(separator: "\n")
        guard lines.count >= CronTables.expressions.count else { return nil }
        var figures = Figures(name: name)
        for line in lines.prefix(CronTables.expressions.count) {
            let words = line.split(separator: " ")
            guard words.count == 5, let utc = Double(words[0]), let utcSum = Int64(words[1]),
                let newYork = Double(words[2]), let newYorkSum = Int64(words[3]), let parse = Double(words[4])
            else { return nil }
            figures.utc.append(utc)
            figures.utcSums.append(utcSum)
            figures.newYork.append(newYork)
            figures.newYorkSums.append(newYorkSum)
            figures.parse.append(parse)
        }
        figures.bytes = lines.dropFirst(CronTables.expressions.count).first.flatMap { Double($0) } ?? 0
        return figures
    }

    private static let list = CronTables.expressions.map { "\"\($0)\"" }.joined(separator: ", ")

    private static let snake = """
        import sys, time
        from datetime import datetime, timezone
        from zoneinfo import ZoneInfo
        if sys.argv[1] == "cronsim":
            from cronsim import CronSim
            parse = lambda text, start: CronSim(text, start)
            find = lambda text, start: next(CronSim(text, start))
        else:
            from croniter import croniter
            parse = lambda text, start: croniter(text, start)
            find = lambda text, start: croniter(text, start).get_next(datetime)
        def starts(count, zone):
            state, result = 42, []
            for _ in range(count):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                result.append(datetime.fromtimestamp(1767225600 + (state >> 33) % 315532800, zone))
            return result
        def measure(text, action, moments):
            best, total = float("inf"), 0
            for _ in range(2):
                begin, total = time.perf_counter_ns(), 0
                for moment in moments:
                    total += action(text, moment)
                best = min(best, (time.perf_counter_ns() - begin) / len(moments))
            return best, total
        seconds = lambda text, start: int(find(text, start).timestamp())
        nothing = lambda text, start: 0 if parse(text, start) else 0
        for text in [\(list)]:
            count = 200 if text == "0 0 29 2 *" else 1000
            row = []
            try:
                for zone in (timezone.utc, ZoneInfo("America/New_York")):
                    row += measure(text, seconds, starts(count, zone))
                row.append(measure(text, nothing, starts(200, timezone.utc))[0])
            except Exception:
                row = [0, 0, 0, 0, 0]
            print(*row, flush=True)
        """

    private static let golang = """
        package main

        import (
            "fmt"
            "runtime"
            "time"

            "github.com/robfig/cron"
        )

        func main() {
            newYork, _ := time.LoadLocation("America/New_York")
            parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
            for _, text := range []string{\(list)} {
                schedule, err := parser.Parse(text)
                if err != nil {
                    fmt.Println("0 0 0 0 0")
                    continue
                }
                count := 1000
                if text == "0 0 29 2 *" {
                    count = 200
                }
                utc, utcSum := measure(schedule, count, time.UTC)
                zoned, zonedSum := measure(schedule, count, newYork)
                best := 1e18
                for round := 0; round < 15; round++ {
                    begin := time.Now()
                    for i := 0; i < 1000; i++ {
                        parser.Parse(text)
                    }
                    best = min(best, float64(time.Since(begin).Nanoseconds())/1000)
                }
                fmt.Println(utc, utcSum, zoned, zonedSum, best)
            }
            fmt.Println(entryBytes())
        }

        func entryBytes() float64 {
            count := 1000000
            before, after := runtime.MemStats{}, runtime.MemStats{}
            runtime.GC()
            runtime.ReadMemStats(&before)
            book := cron.New()
            job := cron.FuncJob(func() {})
            parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
            for i := 0; i < count; i++ {
                schedule, _ := parser.Parse(fmt.Sprintf("%d %d * * %d", i%60, i/60%24, i/1440%7))
                book.Schedule(schedule, job)
            }
            runtime.GC()
            runtime.ReadMemStats(&after)
            runtime.KeepAlive(book)
            return float64(after.HeapAlloc-before.HeapAlloc) / float64(count)
        }

        func measure(schedule cron.Schedule, count int, zone *time.Location) (float64, int64) {
            state := uint64(42)
            starts := []time.Time{}
            for i := 0; i < count; i++ {
                state = state*6364136223846793005 + 1442695040888963407
                starts = append(starts, time.Unix(1767225600+int64(state>>33)%315532800, 0).In(zone))
            }
            best, total := 1e18, int64(0)
            for round := 0; round < 15; round++ {
                begin := time.Now()
                total = 0
                for _, start := range starts {
                    total += schedule.Next(start).Unix()
                }
                best = min(best, float64(time.Since(begin).Nanoseconds())/float64(count))
            }
            return best, total
        }

        func min(a, b float64) float64 {
            if a < b {
                return a
            }
            return b
        }
        """
}

/// A folder with the peers' programs, removed when it is not needed any more.
final class PeerFolder {
    let path: String
    private let names: [String]

    /// Writes `files` by name into a new folder; `nil` when that can't be done.
    init?(files: [String: String]) {
        var template = Array("/tmp/belfry-peers.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        names = Array(files.keys)
        for (name, text) in files {
            guard (try? SmallFile.replace("\(path)/\(name)", with: Array(text.utf8))) != nil else {
                return nil
            }
        }
    }

    deinit {
        for name in names { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    /// What a shell command prints, its complaints dropped; empty when it can't be run.
    static func output(of command: String) -> String {
        guard let stream = unsafe popen("{ \(command); } 2>/dev/null", "r") else { return "" }
        defer { unsafe pclose(stream) }
        var bytes: [UInt8] = []
        var byte = unsafe getc(stream)
        while byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
            byte = unsafe getc(stream)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
