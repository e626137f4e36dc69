import Grouping
import Testing
import Timeline
import Tracking

/// Draws a job's life, as ``Marbles`` says.
///
/// - In: `s` begins the next run, a digit is its progress in tenths, `c` completes it, `f` and `g` fail
///   it in two ways, `k` cancels it, `b` makes it wait for a person, `m` is a missed slot, `^` puts away
///   the newest version.
/// - Out: a digit is progress, `f2` the second failure of one kind, `ok` a completion, `up3` a recovery
///   after three failures, `k`, `b`, `m` as above.
private func expect(
    hears: Set<JobNews>, interval: Duration = .zero, repeatFailureAfter: Duration? = nil,
    in input: String, out: String, at location: SourceLocation = #_sourceLocation
) throws {
    let policy = JobPolicy(hears: hears, interval: interval, repeatFailureAfter: repeatFailureAfter)
    var run = 0
    let marbles = Marbles<JobItem>(
        step: .milliseconds(500),
        feed: { item, character, now in
            if character == "^" { return item.dismissed(revision: item.revision, at: now) }
            if character == "s" { run += 1 }
            return item.receive(fact(character, run: run, now), at: now, policy: policy)
        },
        wake: { $0.wake(at: $1, policy: policy) },
        flushAt: \.flushAt,
        draw: draw)
    let drawn = try marbles.run(JobItem(job: "backup", bot: "ops"), in: input)
    #expect(drawn == out, sourceLocation: location)
}

private func fact(_ character: Character, run: Int, _ now: Moment) -> JobFact {
    switch character {
    case "s": JobFact(run: run, state: .running, at: now)
    case "b": JobFact(run: run, state: .blocked, text: "may I?", at: now)
    case "c": JobFact(run: run, state: .completed, exitCode: 0, at: now)
    case "f": JobFact(run: run, state: .failed, exitCode: 1, text: "disk full at \(run):00", at: now)
    case "g": JobFact(run: run, state: .failed, exitCode: 1, text: "no such host", at: now)
    case "k": JobFact(run: run, state: .canceled, at: now)
    case "m": JobFact(run: nil, state: .missed, reason: .catchUpNone, at: now)
    default:
        JobFact(
            run: run, state: .running, progress: character.wholeNumberValue.map { Double($0) / 10 }, at: now)
    }
}

private func draw(_ item: ItemSnapshot) -> String {
    guard case .job(let report) = item.content else { return "?" }
    switch report.news {
    case .started: return "s"
    case .progress: return report.fact.progress.map { "\(Int($0 * 10))" } ?? "?"
    case .blocked: return "b"
    case .completed: return "ok"
    case .failed: return "f\(report.sameFailures)"
    case .recovered: return "up\(report.failures)"
    case .canceled: return "k"
    case .missed: return "m"
    case .skipped, .lost: return "?"
    }
}

@Suite struct `a job's item` {
    private let failures: Set<JobNews> = [.failed, .recovered]
    private let everything = Set(JobNews.allCases)

    @Test func `does not exist for a success that nobody is notified of`() throws {
        try expect(hears: failures, in: "s5c-s5c", out: "")
    }

    @Test func `rings once for a failure and counts the same one`() throws {
        try expect(hears: failures, in: "sf-sf-sf", out: "-[f1]--(f2)--(f3)")
    }

    @Test func `rings again for another failure`() throws {
        try expect(hears: failures, in: "sfsfsgsg", out: "-[f1]-(f2)-[f1]-(f2)")
    }

    @Test func `rings for the first success after a failure and for no other`() throws {
        try expect(hears: failures, in: "sfsfscsc", out: "-[f1]-(f2)-[up2]")
    }

    @Test func `begins a new count after a recovery`() throws {
        try expect(hears: failures, in: "sfscsf", out: "-[f1]-[up1]-[f1]")
    }

    @Test func `knows since when it fails, also where nobody is notified`() {
        var item = JobItem(job: "backup", bot: "ops")
        let policy = JobPolicy(hears: [])
        let start = Moment(seconds: 1_750_000_000)
        for (seconds, run, mark) in [(0, 1, "f"), (60, 2, "g"), (90, 3, "k")] as [(Int, Int, Character)] {
            let now = start + .seconds(seconds)
            _ = item.receive(fact(mark, run: run, now), at: now, policy: policy)
            #expect(item.failingSince == start)
        }
        let end = start + .seconds(120)
        _ = item.receive(fact("c", run: 4, end), at: end, policy: policy)
        #expect(item.failingSince == nil)
    }

    @Test func `turns progress into the result`() throws {
        try expect(hears: everything, in: "s3-7-c", out: "(s)(3)-(7)-[ok]")
    }

    @Test func `is removed with the run when only progress was asked for`() throws {
        try expect(hears: [.progress], in: "s3-c-", out: "(s)(3)-x")
    }

    @Test func `shows progress once a second and the result at the end of it`() throws {
        try expect(hears: everything, interval: .seconds(1), in: "s12345c", out: "(s)-(1)-(3)-(5)-[ok]")
    }

    @Test func `does not ring for every completion of a busy job`() throws {
        try expect(hears: [.completed], in: "sc-sc-sc", out: "-[ok]--(ok)--(ok)")
    }

    @Test func `does not count a cancelled run as a failure nor as a recovery`() throws {
        try expect(hears: failures, in: "sfsksf", out: "-[f1]---(f2)")
    }

    @Test func `put away stays away while it fails as before, and comes back for news`() throws {
        try expect(hears: failures, in: "sf^sfsg^sfsc", out: "-[f1]x-(f2)-[f1]x-[f1]-[up4]")
    }

    @Test func `put away during a run shows no more of that run and shows the next`() throws {
        try expect(hears: [.progress], in: "s1^234cs5", out: "(s)(1)x----(s)(5)")
    }

    @Test func `rings when a run waits for a person, and goes when it waits no more`() throws {
        try expect(hears: [.blocked], in: "s1b2c", out: "--[b]x")
    }

    @Test func `shows the recovery nobody asked for by removing the failure`() throws {
        try expect(hears: [.failed], in: "sf-sc", out: "-[f1]--x")
    }

    @Test func `shows the failure again when the progress over it ends without news`() throws {
        let some: Set<JobNews> = [.failed, .progress]
        try expect(hears: some, in: "sfs3k", out: "(s)[f1](s)(3)(f1)")
        try expect(hears: some, in: "sfs3^k", out: "(s)[f1](s)(3)x")
        try expect(hears: some, in: "sfs3c", out: "(s)[f1](s)(3)x")
    }

    @Test func `shows missed slots`() throws {
        try expect(hears: [.missed], in: "m", out: "[m]")
    }

    @Test func `lets no progress paint over a failure that is about to be shown`() throws {
        try expect(
            hears: everything, interval: .seconds(2), in: "s-fs--1", out: "(s)---[f1]---(1)")
    }

    @Test func `repeats a failure where that is asked for`() throws {
        try expect(
            hears: failures, repeatFailureAfter: .seconds(2), in: "sfsfsfsf", out: "-[f1]-(f2)-[f3]-(f4)")
    }
}

/// Draws what an item does over time: one character of input is one step, one column of output as well.
///
/// `-` is a step in which nothing happens. A version that rings is drawn `[...]`, a quiet one `(...)`, one that is not
/// shown because a person put the item away `<...>`, and `x` takes the item away. Between two steps the item is saved as JSON and read again.
struct Marbles<Item: Codable> {
    /// The time between two columns.
    var step: Duration
    /// Does what a character of the input says.
    var feed: (inout Item, Character, Moment) -> [ItemAction]
    /// Wakes the item.
    var wake: (inout Item, Moment) -> [ItemAction]
    /// When the item asked to be woken.
    var flushAt: (Item) -> Moment?
    /// What a version looks like inside its brackets.
    var draw: (ItemSnapshot) -> String

    /// The drawing of the output, without the `-` at its end.
    ///
    /// The item is woken at its very moment, and drawn in the first column not before it.
    func run(_ item: Item, in input: String) throws -> String {
        var item = item
        var output = ""
        let start = Moment(seconds: 1_700_000_000)
        for (column, character) in (input + String(repeating: "-", count: 20)).enumerated() {
            let now = start + step * column
            var actions: [ItemAction] = []
            while let moment = flushAt(item), moment <= now {
                item = try reread(item)
                actions += wake(&item, moment)
            }
            if character != "-" {
                item = try reread(item)
                actions += feed(&item, character, now)
            }
            output += drawing(of: actions)
        }
        while output.last == "-" { output.removeLast() }
        return output
    }

    private func drawing(of actions: [ItemAction]) -> String {
        let drawn = actions.map { action in
            switch action {
            case .flush(let item) where item.isDismissed: "<\(draw(item))>"
            case .flush(let item): item.reason.rings ? "[\(draw(item))]" : "(\(draw(item)))"
            case .resolve: "x"
            case .wakeAt: ""
            }
        }.joined()
        return drawn.isEmpty ? "-" : drawn
    }

    private func reread(_ item: Item) throws -> Item {
        try JSON.decode(from: JSON.encode(item))
    }
}
