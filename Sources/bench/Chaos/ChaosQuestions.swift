import API
import CronBench
import Glibc
import Host
import Synchronization
import Timeline
import Tracking

/// The questions of a chaos home: asked by commands and by jobs, answered on two channels at once, expired with and
/// without a default, or left by whoever asked, while the daemon and the notification server are killed.
///
/// Whoever answers is a thread of this process that looks at what is open: once the rounds are over it answers what
/// is still there.
final class ChaosQuestions: Sendable {
    /// The job that asks, the seconds from slot to slot, and the file in which it writes down what it was answered.
    static let (job, period, jobFile) = ("asker", 4, "asker.answers")
    /// The answers that there are; the first one is that of exit code 0.
    static let choices = ["yes", "no"]

    /// How a question is to end.
    enum Plan: CaseIterable {
        /// Two channels answer it at about the same time, and it has no deadline.
        case rivals
        /// Nobody answers it: its default counts.
        case fallback
        /// Nobody answers it, and it has no default.
        case silence
        /// It is answered at its deadline, or just before, or just after.
        case close
        /// Who asks is killed.
        case left
    }

    /// A question that a command of ours asks.
    struct Asked {
        var number: Int
        var plan: Plan
        var pid: Int32
        /// Where the command prints the answer.
        var output: String
        /// Whether the command was killed.
        var isKilled = false
        /// The exit code of the command; nil: it has not ended.
        var code: Int32?
    }

    /// An answer that was given, and what was said to it.
    struct Attempt {
        var question: String
        var answer: String
        var place: String
        /// Whether it was accepted; nil: nobody said so, as when the daemon was killed.
        var isAccepted: Bool?
    }

    private struct State {
        /// The numbers of questions that are asked as soon as there is a daemon.
        var orders: [Int] = []
        var asked: [Asked] = []
        var attempts: [Attempt] = []
        /// When each open question is answered next, on the clock since boot.
        var due: [String: Duration] = [:]
        var random: SeededNumbers
        var isStopped = false
        var files = 0
    }

    let desktop: ChaosDesktop
    /// Whether there are any.
    let areAsked: Bool
    /// Where the links lead.
    private let port: Int
    private let state: Mutex<State>

    init(seed: UInt64, areAsked: Bool) async throws {
        self.areAsked = areAsked
        desktop = try await ChaosDesktop(seed: seed)
        port = Int.random(in: 20_000..<32_768)
        state = Mutex(State(random: SeededNumbers(seed: seed &+ 1)))
    }

    /// What commands of ours asked.
    var asked: [Asked] { state.withLock(\.asked) }

    /// The answers that were given.
    var attempts: [Attempt] { state.withLock(\.attempts) }

    /// The text by which a question of a command is known everywhere, and no other one.
    static func tag(_ number: Int) -> String { "question-\(number):" }

    // MARK: The configuration

    /// The top-level lines.
    var lines: String { areAsked ? "listen: { address: \"127.0.0.1:\(port)\" }\n" : "" }

    /// The lines under `channels:`.
    var channel: String { areAsked ? "  desk: { kind: desktop }\n" : "" }
    /// The lines under `routes:`.
    var route: String { areAsked ? "  - { when: [question], to: [hook, sick, desk] }\n" : "" }

    /// The lines under `jobs:`; `begin` is a shell command by which a job reports its start.
    func jobLines(begin: String, belfry: String, folder: String) -> String {
        guard areAsked else { return "" }
        return """
              \(Self.job): { schedule: "*/\(Self.period) * * * * *", shell: '\(begin); \
            answer=$(\(belfry) confirm "job $BELFRY_RUN_ID: go on?" --after 6s --default no); \
            echo "$BELFRY_RUN_ID $? $answer" >> \(folder)/\(Self.jobFile)' }

            """
    }

    // MARK: Asking

    /// Has the question of this number asked as soon as there is a daemon.
    func order(_ number: Int) {
        if areAsked { state.withLock { $0.orders.append(number) } }
    }

    /// Starts a notification server where there is none.
    func showsAgain() throws {
        if areAsked, !desktop.isRunning { try desktop.launch() }
    }

    private func ask(_ number: Int, by programs: ChaosPrograms) throws {
        let (plan, milliseconds) = state.withLock { state in
            (
                Plan.allCases.randomElement(using: &state.random) ?? .rivals,
                Int.random(in: 600...2500, using: &state.random)
            )
        }
        let output = "\(programs.folder)/asked-\(number)"
        var words = ["confirm", "\(Self.tag(number)) go on?"]
        switch plan {
        case .rivals, .left: break
        case .fallback: words += ["--after", "\(milliseconds)ms", "--default", "no"]
        case .silence, .close: words += ["--after", "\(milliseconds)ms"]
        }
        let pid = try programs.start("belfry", words, output: output)
        state.withLock { $0.asked.append(Asked(number: number, plan: plan, pid: pid, output: output)) }
    }

    /// Notes which commands have ended; whether all have.
    func collect() -> Bool {
        state.withLock { state in
            for index in state.asked.indices where state.asked[index].code == nil {
                state.asked[index].code = ChaosPrograms.statusSoFar(of: state.asked[index].pid)
            }
            return state.orders.isEmpty && state.asked.allSatisfy { $0.code != nil }
        }
    }

    /// Kills a command whose plan is that, while nobody may be there to notice.
    func leaveUnseen() {
        let left = state.withLock { state in
            state.asked.filter { $0.plan == .left && $0.code == nil && !$0.isKilled }
                .randomElement(using: &state.random)
        }
        if let left { leave(left.number) }
    }

    /// Kills the command that asked the question of this number.
    private func leave(_ number: Int) {
        state.withLock { state in
            guard
                let index = state.asked.firstIndex(where: {
                    $0.number == number && $0.code == nil && !$0.isKilled
                })
            else { return }
            state.asked[index].isKilled = true
            kill(state.asked[index].pid, SIGKILL)
        }
    }

    // MARK: Answering

    /// Answers what is open until ``stop()``; `link` finds the link of a question in the webhooks that came.
    func begin(
        with programs: ChaosPrograms, link: @escaping @Sendable (_ question: String) -> String?
    ) throws {
        guard areAsked else { return }
        try BackgroundThread.start(named: "answers") { [self] in
            while !state.withLock(\.isStopped) {
                if let open = open(programs) {
                    for number in takeOrders() { try? ask(number, by: programs) }
                    for question in open { consider(question, programs, link) }
                }
                usleep(50_000)
            }
        }
    }

    private func takeOrders() -> [Int] {
        state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
    }

    /// Answers nothing more.
    func stop() { state.withLock { $0.isStopped = true } }

    /// What is open; nil: no daemon answers.
    func open(_ programs: ChaosPrograms) -> [WireQuestion]? {
        let output = file(in: programs.folder)
        defer { unsafe unlink(output) }
        guard let pid = try? programs.start("belfry", ["questions", "--json"], output: output),
            ChaosPrograms.status(of: pid) == 0, let text = try? SmallFile.text(output, limit: 1 << 22)
        else { return nil }
        return try? JSON.decode([WireQuestion].self, from: text.utf8)
    }

    private func file(in folder: String) -> String {
        state.withLock { state in
            state.files += 1
            return "\(folder)/answer-\(state.files)"
        }
    }

    /// Does to a question what its plan says, at the moment that was drawn for it.
    private func consider(
        _ question: WireQuestion, _ programs: ChaosPrograms, _ link: (String) -> String?
    ) {
        let now = Duration.sinceBoot
        let asked = state.withLock { state in
            state.asked.first { question.text.hasPrefix(Self.tag($0.number)) }
        }
        // What a job asks is answered by two, or by its default.
        let plan = asked?.plan ?? .rivals
        guard plan != .fallback, plan != .silence else { return }
        let isDue = state.withLock { state in
            if let due = state.due[question.id] {
                guard due <= now else { return false }
                // Once more, if it is still open then.
                state.due[question.id] = now + .milliseconds(2500)
                return true
            }
            let milliseconds: Int
            if plan == .close, let end = question.deadline?.moment {
                let left = (end - .now).milliseconds
                milliseconds = max(0, Int(left) + Int.random(in: -250...50, using: &state.random))
            } else {
                milliseconds = Int.random(in: 0...1500, using: &state.random)
            }
            state.due[question.id] = now + .milliseconds(milliseconds)
            return false
        }
        guard isDue else { return }
        // The daemon has to find out by itself.
        if plan == .left, let asked { return leave(asked.number) }
        answer(question, programs, link(question.id))
    }

    /// Gives a question two answers at about the same time, in two of three places, most often different ones.
    private func answer(_ question: WireQuestion, _ programs: ChaosPrograms, _ link: String?) {
        let (places, answers) = state.withLock { state in
            (
                ["api", "link", "desk"].shuffled(using: &state.random).prefix(2),
                (0..<2).map { _ in Self.choices.randomElement(using: &state.random) ?? "yes" }
            )
        }
        var waiting: [(attempt: Attempt, pid: Int32, output: String)] = []
        for (place, answer) in zip(places, answers) {
            let attempt = Attempt(question: question.id, answer: answer, place: place)
            if place == "desk" {
                let tag = question.text.split(separator: ":").first.map { $0 + ":" } ?? ""
                if desktop.press(answer, ofPopupWith: String(tag)) { note(attempt) }
                continue
            }
            let output = file(in: programs.folder)
            var pid: Int32?
            if place == "api" {
                pid = try? programs.start("belfry", ["answer", question.id, answer], output: output)
            } else if let link {
                pid = try? programs.start(
                    "curl", ["-sS", "-m", "10", "-d", "answer=\(answer)", "-w", "\n%{http_code}", link],
                    output: output)
            }
            if let pid { waiting.append((attempt, pid, output)) }
        }
        for (var attempt, pid, output) in waiting {
            let code = ChaosPrograms.status(of: pid)
            let text = (try? SmallFile.text(output, limit: 1 << 20)) ?? ""
            unsafe unlink(output)
            let isAccepted = attempt.place == "api" ? code == 0 : text.hasSuffix("\n200")
            // What was not answered may have been accepted all the same.
            let isRefused = attempt.place == "api" ? code == 5 : text.hasSuffix("\n410")
            attempt.isAccepted = isAccepted ? true : isRefused ? false : nil
            note(attempt)
        }
    }

    private func note(_ attempt: Attempt) { state.withLock { $0.attempts.append(attempt) } }

    // MARK: Coming to rest

    /// Why it is not at rest: a command that waits, an open question, a popup; nil: it is.
    func unrest(_ programs: ChaosPrograms) -> String? {
        guard areAsked else { return nil }
        guard collect() else {
            let numbers = asked.filter { $0.code == nil }.map { "\($0.number) (\($0.plan))" }
            return "commands still ask the questions \(numbers.joined(separator: ", "))"
        }
        guard let open = open(programs) else { return "no daemon answers" }
        if !open.isEmpty { return "questions are still open: \(open.map(\.text).joined(separator: ", "))" }
        guard let shown = desktop.shown() else { return "the notification server does not answer" }
        let left = shown.filter { $0.contains("go on?") }
        return left.isEmpty ? nil : "popups of closed questions are still shown: \(left)"
    }
}
