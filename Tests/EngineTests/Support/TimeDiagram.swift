import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@testable import Engine

/// What happens, drawn against time, and below it what each channel makes of it.
///
///     place 10m
///     rule  failed,recovered -> desk phone
///     rule  quiet 10:20-11:00
///     story f-m---c
///     desk  !-----!
///     phone !-----!
///
/// A place is a stretch of time, the first begins at 10:00 on 2026-03-03; a letter happens when its place begins. All
/// timers run in their order, and whatever is put in line for a channel is delivered at once, unless a rule says `down`.
///
/// - Letters: `f` and `g` fail the job `backup` in two ways, `e` fails a run of it that a person asked for, `c` completes
///   it; `p` fails the job `ping`, `o` completes it; `x`, `y` and `z` fail the jobs of these names, `X`, `Y` and `Z`
///   complete them. `m`, `l` and `u` are a message in the thread `main`, of low urgency, and a critical one; `n` is one
///   in another thread, `v` one of another bot. `q` asks a question, `a` answers the newest. `r` reads the thread `main`,
///   `k` reads the job `backup`, `d` puts its item away on the desktop. `D` asks for the digest, `E` ends all silences;
///   both release all that is held.
/// - Signs: `!` rings on the desktop, or is sent; `.` is shown there without a sound, `x` is taken away; `h` is held;
///   `w` is withdrawn: what was held is not sent any more; `s` is not sent because of a rule that came meanwhile; `D` is a
///   digest of what was held; `~` changes what waits for its channel. Several at one place stand in brackets.
struct TimeDiagram {
    private static let start = at("10:00:00")
    private static let names = ["desk", "hook", "phone", "pager"]

    private(set) var rules: [Substring] = []
    private(set) var story: Substring = ""
    /// What is drawn for each channel.
    private(set) var rows: [String: String] = [:]
    private var place = Duration.seconds(600)

    /// Reads a drawing.
    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let value = words.last?.drop(while: { $0 == " " }) else {
                throw Unreadable(line: String(line))
            }
            switch words[0] {
            case "place": place = try Duration(text: value)
            case "rule": rules.append(value)
            case "story": story = value
            case let name where Self.names.contains(String(name)): rows[String(name)] = String(value)
            default: throw Unreadable(line: String(line))
            }
        }
    }

    struct Unreadable: Error { var line: String }

    /// What the channels of the drawing get from this dispatcher.
    func drawn(by dispatcher: Dispatcher = Dispatcher()) async throws -> [String: String] {
        let curl = try CurlMulti()
        defer { curl.close() }
        var setup = Setup()
        for rule in rules { try setup.read(String(rule)) }
        let channels = try Self.channels(by: curl).filter { rows.keys.contains($0.name) }
        var drawn: [String: String] = [:]
        try await Tower.run(
            at: Self.start, channels: channels, routes: setup.routes, hasRoutes: !setup.routes.isEmpty,
            bots: ["ops": setup.bot], dispatcher: dispatcher
        ) { tower in
            try await setup.apply(to: tower)
            var stage = Stage(tower: tower, rows: rows.keys.sorted(), down: setup.down)
            try await stage.quiesce()
            for (number, letter) in story.enumerated() {
                try await stage.pass(to: Self.start + place * number)
                if letter != "-" { try await stage.perform(letter) }
                try await stage.pass(before: Self.start + place * (number + 1))
                stage.endPlace()
            }
            drawn = stage.drawn
        }
        return drawn
    }

    private static func channels(by curl: CurlMulti) throws -> [any Channel] {
        var (ntfy, pager) = (FormValues(), FormValues())
        ntfy["url"] = .address(try HTTPAddress("https://ntfy.sh/alerts"))
        pager["url"] = .address(try HTTPAddress("https://alerts.example.org"))
        return [
            makeDesk(clock: ManualClock(now: start)), try makeHook("hook", curl: curl),
            try HTTPSender(name: "phone", form: try NtfyForm(ntfy), userAgent: "Belfry/test", curl: curl),
            try HTTPSender(
                name: "pager", form: try AlertmanagerForm(pager), userAgent: "Belfry/test", curl: curl),
        ]
    }
}

/// The rules of a drawing.
private struct Setup {
    var routes: [Route] = []
    var bot = BotProfile(name: "ops")
    var down: Set<String> = []
    private var inhibitions: [Inhibition] = []
    private var silences: [(matcher: String, from: Moment, until: Moment)] = []
    private var labels: [String: [String: String]] = [:]
    private var wishes: [String: NotifyWish] = [:]

    init() {}

    mutating func read(_ rule: String) throws {
        let words = rule.split(separator: " ").map(String.init)
        if words.contains("->") { return routes.append(try route(words)) }
        switch (words[0], words.count) {
        case ("quiet", _): bot.restraint.quiet = try DailyHours(Array(words.dropFirst()), in: .utc)
        case ("budget", 2): bot.restraint.budget = Int(words[1])
        case ("alertAfter", 2): bot.restraint.alertAfter = try #require(Int(words[1]))
        case ("acknowledged", 2): bot.restraint.acknowledgedFor = try Duration(text: words[1])
        case ("each", 1): bot.restraint.sendsEachFailure = true
        case ("off", 1): bot.restraint.isShown = false
        case ("urgency", 2): bot.urgency = Urgency(rawValue: words[1])
        case ("wait", 2): bot.policy.wait = try Duration(text: words[1])
        case ("again", 2): bot.policy.ringAgainAfter = try Duration(text: words[1])
        case ("down", 2): down.insert(words[1])
        // silence MATCHER FROM UNTIL
        case ("silence", 4): silences.append((words[1], at(words[2] + ":00"), at(words[3] + ":00")))
        // inhibit FAILING SILENCED [EQUAL]
        case ("inhibit", 3...4):
            inhibitions.append(
                Inhibition(
                    failing: [try Matcher(words[1])], silences: [try Matcher(words[2])],
                    equal: Array(words.dropFirst(3))))
        // label JOB KEY VALUE
        case ("label", 4): labels[words[1], default: [:]][words[2]] = words[3]
        // wish JOB WISH
        case ("wish", 3):
            guard let wish = NotifyWish(rawValue: words[2]) else { throw TimeDiagram.Unreadable(line: rule) }
            wishes[words[1]] = wish
        default: throw TimeDiagram.Unreadable(line: rule)
        }
    }

    /// Reads `failed,recovered -> desk phone after 30m during 10:20-11:00 if host=db1`.
    private func route(_ words: [String]) throws -> Route {
        let events = try words[0].split(separator: ",").map { try #require(RouteWord(rawValue: String($0))) }
        let conditions = ["after", "during", "if"]
        let names = words.dropFirst(2).prefix { !conditions.contains($0) }
        var route = Route(when: Set(events), to: Array(names))
        var rest = words.dropFirst(2 + names.count)
        while let word = rest.popFirst(), let value = rest.popFirst() {
            switch word {
            case "after": route.after = try Duration(text: value)
            case "during": route.during = try DailyHours([value], in: .utc)
            default: route.about.append(try Matcher(value))
            }
        }
        return route
    }

    func apply(to tower: Tower) async throws {
        let inhibitions = inhibitions
        tower.activeConfiguration.change { $0.inhibitions = inhibitions }
        for silence in silences {
            var draft = SilenceDraft(matchers: [silence.matcher], until: silence.until, by: "test")
            draft.from = silence.from
            _ = try await tower.control.addSilence(draft)
        }
        for job in Set(labels.keys).union(wishes.keys) {
            var spec = JobSpec.manual(job)
            spec.bot = "ops"
            spec.labels = labels[job] ?? [:]
            spec.notify = wishes[job]
            try await tower.ledger.commit([
                .putJob(
                    JobRecord(spec: spec, origin: .cli, revision: 1, since: tower.clock.now), replacing: nil)
            ])
        }
    }
}

/// Plays a story, and notes what it comes to.
private struct Stage {
    let tower: Tower
    let rows: [String]
    let down: Set<String>
    private(set) var drawn: [String: String] = [:]
    private var signs: [String: String] = [:]
    private var onDesk: Set<String> = []
    /// What an entry was when it was last looked at.
    private var seen: [String: (sign: Character, body: [UInt8])] = [:]
    private var question: String?

    init(tower: Tower, rows: [String], down: Set<String>) {
        (self.tower, self.rows, self.down) = (tower, rows, down)
    }

    mutating func endPlace() {
        for row in rows {
            let signs = signs[row] ?? ""
            drawn[row, default: ""] += signs.isEmpty ? "-" : signs.count == 1 ? signs : "(\(signs))"
        }
        signs = [:]
    }

    // MARK: Time

    /// Lets time pass until then; what is due at that moment happens.
    mutating func pass(to moment: Moment) async throws {
        while let next = try await nextTimer(), next <= moment { try await step(to: next) }
        try await step(to: moment)
    }

    /// The same with what is due before that moment.
    mutating func pass(before moment: Moment) async throws {
        while let next = try await nextTimer(), next < moment { try await step(to: next) }
    }

    private mutating func step(to moment: Moment) async throws {
        if moment > tower.clock.now { tower.clock.advance(to: moment) }
        try await quiesce()
    }

    private func nextTimer() async throws -> Moment? {
        let items = try await tower.ledger.itemsToWake(limit: .max).compactMap(\.flushAt)
        let held = try await tower.ledger.outbox(states: [.held], limit: .max).compactMap(\.nextAt)
        return (items + held).min()
    }

    /// Waits until all that is due has happened, and notes what the channels were given.
    mutating func quiesce() async throws {
        let now = tower.clock.now
        try await tower.until {
            guard try await tower.ledger.cursor(of: ItemKeeper.consumer) == tower.ledger.lastEvent() else {
                return false
            }
            let items = try await tower.ledger.itemsToWake(limit: .max).compactMap(\.flushAt)
            let held = try await tower.ledger.outbox(states: [.held], limit: .max)
                .filter { $0.held?.isJudgedAgain == true }.compactMap(\.nextAt)
            return (items + held).allSatisfy { $0 > now }
        }
        for row in rows { if row == "desk" { try await lookAtDesk() } else { try await look(at: row) } }
    }

    // MARK: Channels

    private mutating func lookAtDesk() async throws {
        let surfaces = try await tower.ledger.surfaces(channel: "desk", all: true)
            .sorted { ($0.wantedAt, $0.item) < ($1.wantedAt, $1.item) }
        for surface in surfaces where surface.wanted != surface.shown {
            let isThere = try await ItemKey(surface.item).asyncMap { try await tower.shown($0) } != nil
            let wasThere = onDesk.contains(surface.item)
            if isThere { onDesk.insert(surface.item) } else { onDesk.remove(surface.item) }
            if isThere || wasThere {
                signs["desk", default: ""].append(!isThere ? "x" : surface.ring ? "!" : ".")
            }
            try await tower.ledger.commit([
                .showSurface(
                    channel: "desk", item: surface.item, revision: surface.wanted,
                    remote: isThere ? RemoteID(generation: "s", id: surface.item) : nil, at: tower.clock.now)
            ])
        }
    }

    private mutating func look(at channel: String) async throws {
        for entry in try await tower.entries(of: channel).sorted(by: { $0.createdAt < $1.createdAt }) {
            let isDue = entry.state == .pending || entry.nextAt.map { $0 <= tower.clock.now } ?? false
            let sign: Character =
                switch entry.state {
                case .held where !isDue: "h"
                case .pending, .held, .delivered: entry.cause.hasPrefix("digest:") ? "D" : "!"
                case .suppressed: "s"
                default: "w"
                }
            let before = seen.updateValue((sign, entry.body), forKey: entry.id)
            if before?.sign != sign {
                signs[channel, default: ""].append(sign)
            } else if entry.state == .pending, let body = before?.body, body != entry.body {
                signs[channel, default: ""].append("~")
            }
            if isDue, !entry.state.isSettled, !down.contains(channel) { try await deliver(entry) }
        }
    }

    private func deliver(_ entry: OutboxRecord) async throws {
        var move = OutboxMove(
            id: entry.id, from: entry.state, attempts: entry.attempts, to: .delivered,
            nextAttempts: entry.attempts + 1)
        move.settledAt = tower.clock.now
        try await tower.ledger.commit([.moveOutbox(move)])
    }

    // MARK: Letters

    mutating func perform(_ letter: Character) async throws {
        switch letter {
        case "f": try await end("backup", exitCode: 1)
        case "g": try await end("backup", exitCode: 2)
        case "e": try await tower.end("backup", .failed, exitCode: 1)
        case "c": try await end("backup")
        case "p": try await end("ping", exitCode: 1)
        case "o": try await end("ping")
        case "x", "y", "z": try await end("\(letter)", exitCode: 1)
        case "X", "Y", "Z": try await end(letter.lowercased())
        case "m": try await tower.say("hello")
        case "l": try await tower.say("psst", urgency: .low)
        case "u": try await tower.say("fire", urgency: .critical)
        case "n": try await tower.say("news", thread: "other")
        case "v": try await tower.say("hello", bot: "news")
        case "q":
            let id = freshID()
            question = id
            var draft = QuestionDraft(id: id, "Go on?", choices: ["yes", "no"])
            draft.bot = "ops"
            draft.grace = .seconds(1200)
            _ = try await tower.control.ask(draft)
        case "a": _ = try await tower.control.answer(try #require(question), "yes", by: "desk")
        case "r": try await tower.control.readItem("thread:ops/main", by: "laptop")
        case "k": try await tower.control.readItem("job:backup", by: "laptop")
        case "d":
            let shown = try #require(try await tower.shown(.job("backup")))
            let dismissal = Fact.Dismissal("job:backup", on: "desk", revision: shown.revision)
            try await tower.ledger.commit([.append(NewEvent(.itemDismissed(dismissal), at: tower.clock.now))])
        case "D": _ = try await tower.control.digest()
        case "E":
            for silence in try await tower.control.silences(all: false) {
                _ = try await tower.control.endSilence(silence.id)
            }
        default: throw TimeDiagram.Unreadable(line: "\(letter)")
        }
        try await quiesce()
        if letter == "D" || letter == "E" { try await release() }
    }

    /// Waits until nothing is held any more.
    private mutating func release() async throws {
        try await tower.until { try await nextTimer() == nil }
        try await quiesce()
    }

    /// A run of the job, which its schedule began, ends now.
    private func end(_ job: String, exitCode: Int? = nil) async throws {
        let begun = try await tower.begin(job, bySchedule: true)
        try await tower.end(begun, exitCode == nil ? .completed : .failed, exitCode: exitCode)
    }
}

extension ItemKey? {
    /// What `body` makes of it; nil of none.
    fileprivate func asyncMap<Value>(
        _ body: (ItemKey) async throws -> Value?
    ) async rethrows -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}

/// Expects what happens to be as `drawing` shows it; `what` is the sentence of the drawing.
func expectAsDrawn(
    _ drawing: String, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let diagram = try TimeDiagram(drawing)
    let drawn = try await diagram.drawn()
    #expect(drawn == diagram.rows, "\(what)", sourceLocation: sourceLocation)
}
