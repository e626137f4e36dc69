import Glibc
import Grouping
import Host
import Ledger
import LedgerSQLite
import Prompting
import Timeline
import Tracking

/// The bots of a chaos home: some of them have a job that is a prompt, one is a program, and one is talked to.
///
/// The provider of the others is in this process and lives on. A reply takes longer than many a daemon here lives: that of
/// a provider is cut off then, that of a program is not.
struct ChaosTalk {
    /// The jobs that are prompts, each with a bot of its own.
    static let jobs = (0..<3).map { "prompt-\($0)" }
    static let period = 3
    /// The job whose bot is a program.
    static let programJob = "program"
    /// What its replies begin and end with, with the id of their run behind it.
    fileprivate static let (begin, end) = ("begun-", "done-")
    /// The bot that people talk to.
    static let listener = "listener"
    private static let words = 12

    let provider: BareProvider
    /// What was said to the listener and accepted, by its number.
    private(set) var said: [Int] = []

    init() throws {
        provider = try BareProvider { .init(words: Self.words, pause: $0.model == Self.listener ? 40 : 120) }
    }

    /// The lines under `bots:`.
    var bots: String {
        (Self.jobs.map { Self.bot(of: $0) } + [Self.listener]).map { "  \(provider.bot($0))\n" }.joined()
            + "  scribe: { backend: { kind: command, command: [sh, scribe] } }\n"
    }

    /// The program that is a bot: it notes its start in the file `done`, as the jobs do, and takes its time.
    static func program(done: String) -> String {
        """
        cat > /dev/null
        echo "0 $BELFRY_RUN_ID $BELFRY_ATTEMPT begin" >> \(done)
        echo "\(begin)$BELFRY_RUN_ID"
        sleep 1.5
        echo "\(end)$BELFRY_RUN_ID"

        """
    }

    /// The lines under `jobs:`.
    var jobLines: String {
        Self.jobs.enumerated().map { number, job in
            """
              \(job): { schedule: "\(number)-59/\(Self.period) * * * * *", bot: \(Self.bot(of: job)), prompt: Speak. }

            """
        }.joined()
            + "  \(Self.programJob): { schedule: \"*/\(Self.period) * * * * *\", bot: scribe, prompt: Write. }\n"
    }

    private static func bot(of job: String) -> String { job.replacing("prompt", with: "poet") }

    /// Says the next number to the listener and waits for nothing; the command's process.
    func speak(_ number: Int, in home: ChaosHome) throws -> Int32 {
        try home.begin("send", Self.listener, "say-\(number).")
    }

    /// The daemon accepted what was said.
    mutating func accepted(_ number: Int) { said.append(number) }

    /// Whether the run asks a bot.
    static func isTalk(_ run: RunRecord) -> Bool {
        run.kind == .reply || jobs.contains(run.job) || run.job == programJob
    }

    /// A reply as the ledger has it.
    struct Posted {
        var run: String?
        var text: String
        /// Which of the provider's replies it is.
        var reply: Int?

        init(_ message: NumberedMessage) {
            run = message.record.run
            text = message.record.message.text
            reply = BareProvider.numbers(after: "reply-", in: text).first
        }

        /// Whether all of it is there.
        var isWhole: Bool { text.hasSuffix(" word-\(ChaosTalk.words)") }
    }
}

/// What the ledger, the logs and the provider show of the bots' replies when all has ended.
struct ChaosTalkVerdict {
    /// How many prompts of jobs were replied to, how many were cut off, and how many sayings were answered.
    private(set) var replied = 0
    private(set) var cut = 0
    /// How many replies of the program there are, and how many of them were begun before a kill and ended after it.
    private(set) var written = 0
    private(set) var outlived = 0
    private(set) var answered = 0
    /// How many summaries of the conversation the bots were asked for.
    var summaries: Int { asked.count(where: \.isSummary) }
    /// What is wrong; empty when all is well.
    private(set) var faults: [String] = []

    /// Whether what the program does may be lost: only when its warden was killed.
    private let mayLose: Bool
    private let asked: [BareProvider.Reply]
    private let kills: [Moment]
    private let output: String

    /// Reads the ledger of a home whose daemon has stopped.
    init(
        _ talk: ChaosTalk, _ ledger: SQLiteLedger, _ runs: [RunRecord], kills: [Moment], output: String,
        mayLose: Bool
    ) async throws {
        self.mayLose = mayLose
        asked = talk.provider.replies
        self.kills = kills
        self.output = output
        let written = runs.filter { $0.job == ChaosTalk.programJob }
        judgeProgram(written, try await Self.replies(of: "scribe", in: ChaosTalk.programJob, ledger))
        let runs = runs.filter { ChaosTalk.isTalk($0) && $0.job != ChaosTalk.programJob }
        var posted: [ChaosTalk.Posted] = []
        for job in ChaosTalk.jobs {
            let bot = runs.first { $0.job == job }?.bot ?? ""
            posted += try await Self.replies(of: bot, in: job, ledger)
        }
        judgeJobs(runs.filter { $0.kind != .reply }, posted)
        let answers = try await Self.replies(of: ChaosTalk.listener, in: "main", ledger)
        judgeAnswers(talk.said, answers)
        judgeRequests(runs, posted + answers)
    }

    private mutating func fault(_ text: String) { faults.append(text) }

    /// What a bot said in a thread, oldest first.
    private static func replies(
        of bot: String, in thread: String, _ ledger: SQLiteLedger
    ) async throws -> [ChaosTalk.Posted] {
        try await ledger.messages(bot: bot, thread: thread, after: 0, limit: .max)
            .filter { $0.record.message.author == .bot }.reversed().map { ChaosTalk.Posted($0) }
    }

    /// A prompt was replied to once, or is lost with what came of its reply in its log.
    private mutating func judgeJobs(_ runs: [RunRecord], _ posted: [ChaosTalk.Posted]) {
        let byRun = Dictionary(grouping: posted) { $0.run ?? "" }
        for run in runs where run.slot != nil {
            let messages = byRun[run.id] ?? []
            switch run.state {
            case .completed:
                replied += 1
                if messages.count != 1 { fault("\(run.name): completed with \(messages.count) replies") }
            case .lost where run.reason == .streamCut:
                cut += 1
                if !messages.isEmpty { fault("\(run.name): was cut off, and has a reply all the same") }
            default: fault("\(run.name): is \(run.state.rawValue) \(run.reason?.rawValue ?? "")")
            }
        }
        for message in posted where !message.isWhole { fault("a reply is not whole: \(message.text)") }
    }

    /// The program's reply to each prompt is there once and whole, whatever happened to the daemon meanwhile.
    private mutating func judgeProgram(_ runs: [RunRecord], _ posted: [ChaosTalk.Posted]) {
        let byRun = Dictionary(grouping: posted) { $0.run ?? "" }
        for run in runs where run.slot != nil {
            let messages = byRun[run.id] ?? []
            switch run.state {
            case .completed:
                written += 1
                if let start = run.startedAt, let end = run.endedAt,
                    kills.contains(where: { start < $0 && $0 < end })
                {
                    outlived += 1
                }
                let whole = "\(ChaosTalk.begin)\(run.id)\n\(ChaosTalk.end)\(run.id)"
                let texts = messages.map(\.text)
                if texts != [whole] { fault("\(run.name): completed with \(texts)") }
            case .lost where mayLose:
                if !messages.isEmpty { fault("\(run.name): is lost, and has a reply all the same") }
            default: fault("\(run.name): is \(run.state.rawValue) \(run.reason?.rawValue ?? "")")
            }
        }
        let known = Set(runs.map(\.id))
        for message in posted where message.run.map({ !known.contains($0) }) ?? true {
            fault("a reply of nobody's run: \(message.text)")
        }
    }

    /// What was said was answered once, and in the order in which it was said.
    private mutating func judgeAnswers(_ said: [Int], _ answers: [ChaosTalk.Posted]) {
        let order = answers.flatMap { answer in
            answer.reply.map { BareProvider.numbers(after: "say-", in: asked[$0].prompt) } ?? []
        }
        answered = order.count
        let times = Dictionary(grouping: order) { $0 }.mapValues(\.count)
        for number in said where times[number] == nil { fault("say-\(number) was never answered") }
        for (number, count) in times where count > 1 { fault("say-\(number) was answered \(count) times") }
        if order != order.sorted() { fault("answered in the order \(order)") }
        for answer in answers where !answer.isWhole { fault("an answer is not whole: \(answer.text)") }
    }

    /// Each reply is in the ledger or in a log unless its daemon was killed as it began, none is in two places, and nothing
    /// was asked more often than it was tried.
    private mutating func judgeRequests(_ runs: [RunRecord], _ posted: [ChaosTalk.Posted]) {
        var places: [Int: Int] = [:]
        for message in posted {
            guard let reply = message.reply else {
                fault("no reply of the provider: \(message.text)")
                continue
            }
            places[reply, default: 0] += 1
        }
        for (reply, count) in places where count > 1 { fault("reply-\(reply) is in \(count) messages") }
        var logged: [Int: Set<String>] = [:]
        for run in runs {
            for attempt in 1...run.attempt {
                let log = OutputLog(path: "\(output)/\(run.job)/\(run.id).\(attempt).log")
                guard let bytes = try? log.read(from: 0).bytes, !bytes.isEmpty else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                for reply in BareProvider.numbers(after: "reply-", in: text) {
                    logged[reply, default: []].insert("\(run.id).\(attempt)")
                }
            }
        }
        for (reply, logs) in logged where logs.count > 1 { fault("reply-\(reply) is in \(logs.count) logs") }
        // A summary of a long conversation is asked for beside its prompts, and is in no log.
        for (number, reply) in asked.enumerated() where logged[number] == nil && !reply.isSummary {
            if places[number] != nil { fault("reply-\(number) is in a message and in no log") }
            if !wasKilled(soonAfter: reply) { fault("reply-\(number) to \(reply.model) was lost") }
        }
        for (bot, runs) in Dictionary(grouping: runs, by: \.bot) {
            let (times, tries) = (
                asked.count { $0.model == bot && !$0.isSummary }, runs.reduce(0) { $0 + $1.attempt }
            )
            if times > tries { fault("\(bot) was asked \(times) times in \(tries) attempts") }
        }
    }

    /// Whether a daemon was killed before the beginning of the reply can have reached its log.
    private func wasKilled(soonAfter reply: BareProvider.Reply) -> Bool {
        guard let first = reply.first else { return true }
        let began = Moment.now - (ContinuousClock.now - first)
        return kills.contains { began - .seconds(1) < $0 && $0 < began + .seconds(1) }
    }
}

extension BareProvider.Reply {
    /// Whether the bot's own summary of its conversation was asked for.
    fileprivate var isSummary: Bool { prompt.contains(SummaryText.request) }
}
