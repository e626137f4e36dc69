import Timeline
package import Tracking

/// A form that is sent by a program: it says what to run and what the end means, and the sender does the rest.
///
/// The rest is starting it once for each attempt, ending it in time, and reading what it printed.
package protocol ProgramForm: EdgeForm {
    /// The key of the settings that names the program.
    static var programKey: String { get }
    /// What a person does where there is no such program.
    static var missingHint: String { get }
    /// The program and its arguments.
    var command: [String] { get }
    /// How long it may take.
    var timeout: Duration { get }

    /// What is run for the parcel.
    func call(_ parcel: Parcel) -> ProgramCall

    /// What the program's end means; `nil`: it took the notice.
    func judge(_ answer: ProgramAnswer) -> DeliveryError?

    /// The line of what it printed that explains its end best; `nil`: it printed nothing.
    func explanation(in output: LastLines) -> String?
}

extension ProgramForm {
    /// The sender that runs programs.
    package var carrier: FormCarrier { .program(self) }

    package func explanation(in output: LastLines) -> String? { FailureLine.find(in: output) }

    /// What the answer means by `table`: the end, what was printed and what to do in one line; `nil` for code 0.
    func failure(
        _ answer: ProgramAnswer, by table: FailureTable<ProgramEnd>, hint: String? = nil
    ) -> DeliveryError? {
        if answer.end == .exited(0) { return nil }
        let name = command.first?.split(separator: "/").last.map(String.init) ?? ""
        let line = explanation(in: answer.output).map { CleanText.line($0, limit: 140) }
        let said = [answer.end.words(name, within: timeout), line].compactMap(\.self)
        let advice = answer.end.isMissing ? Self.missingHint : hint
        return table.judge(
            answer.end,
            detail: ([said.joined(separator: ": ")] + [advice].compactMap(\.self)).joined(separator: "; "))
    }
}

/// One call of a program.
package struct ProgramCall: Hashable, Sendable {
    /// The program and its arguments.
    package var command: [String]
    /// What it reads.
    package var input: [UInt8]
    /// What is added to its environment.
    package var environment: [String: String] = [:]
    /// How long it may take; then it is ended with everything it started.
    package var timeout: Duration
}

/// How long a form's program may take.
enum ProgramTimeout {
    static let field = FormField(HTTPReach.timeoutKey, .duration, "how long it may take", example: "30s")

    /// The timeout of these settings; left out, 30 s.
    /// - Throws: ``FormError/badTimeout(_:longest:)``.
    static func read(_ values: FormValues) throws(FormError) -> Duration {
        let timeout = values.duration(HTTPReach.timeoutKey) ?? .seconds(30)
        guard timeout > .zero, timeout <= longest else { throw .badTimeout(timeout, longest: longest) }
        return timeout
    }

    private static let longest = Duration.seconds(600)
}

/// How a program that was called answered.
package struct ProgramAnswer: Hashable, Sendable {
    /// How it ended.
    package var end: ProgramEnd
    /// The newest lines that it printed.
    package var output: LastLines

    /// An answer; `printed` is what it printed last.
    package init(_ end: ProgramEnd, printed: [UInt8] = []) {
        self.end = end
        output = LastLines(printed)
    }
}

/// How a program that was called ended.
package enum ProgramEnd: Hashable, Sendable {
    /// By itself, with this code.
    case exited(Int)
    /// By a signal of somebody else.
    case signaled(Int)
    /// It took too long and was ended.
    case timedOut
    /// There is no such program, or it may not be run; and what is known of it.
    case missing(String)
    /// It was not started for another reason.
    case notStarted(String)
    /// Nobody knows: what watched it ended first.
    case lost
    /// The daemon stops, or no longer has the channel; the program may still deliver.
    case abandoned

    /// The end of the program `name` that had this long, as a clause.
    fileprivate func words(_ name: String, within timeout: Duration) -> String {
        switch self {
        case .exited(let code): "\(name) exited with code \(code)"
        case .signaled(let number): "\(name) was ended by \(SignalName.text(number))"
        case .timedOut: "\(name) took longer than \(timeout.limitWords) and was ended"
        case .missing(let reason): reason
        case .notStarted(let reason): "\(name) could not be started: \(reason)"
        case .lost: "how \(name) ended is not known: its warden ended first"
        case .abandoned: "stopped before \(name) ended"
        }
    }

    /// Whether there is no such program.
    var isMissing: Bool { if case .missing = self { true } else { false } }
}

extension FailureTable where Answer == ProgramEnd {
    /// What the ends of programs mean where a form has no rules of its own: a code but 0 and 75 refuses.
    ///
    /// - Source: sysexits.h of sendmail for 75, `EX_TEMPFAIL`.
    static var program: FailureTable {
        FailureTable(
            [
                .init(.retry, .askedAgain) { $0 == .exited(75) },
                .init(.giveUp, .rejected) { if case .exited = $0 { true } else { false } },
                .init(.retry, .timeout) { $0 == .timedOut },
                .init(.unreachable, .stopping) { $0 == .abandoned },
                .init(.unreachable, .noProgram) {
                    if case .notStarted = $0 { true } else { $0.isMissing }
                },
            ], otherwise: .retry, .disconnected)
    }
}

extension FailureTable.Row where Answer == ProgramEnd {
    /// A row of these exit codes.
    init(
        _ codes: Set<Int>, _ consequence: FailureTable<ProgramEnd>.Consequence, _ reason: DeliveryReason
    ) {
        self.init(consequence, reason) {
            if case .exited(let code) = $0 { codes.contains(code) } else { false }
        }
    }
}
