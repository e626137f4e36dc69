package import Tracking

/// How a bot that is a program prints its reply.
package enum ProgramDialect: String, Hashable, Sendable, CaseIterable {
    /// `claude -p --output-format stream-json`.
    case claude
    /// `codex exec --json`.
    case codex
    /// `gemini -p --output-format stream-json`.
    case gemini
    /// Any program: text, with an object of Belfry's own in the last line where it wants.
    case text
}

/// How a program ended.
package enum BotProgramEnd: Hashable, Sendable {
    /// With this code.
    case code(Int)
    /// By a signal.
    case signal
}

/// Reads what a program prints as a bot's reply: lines of JSON, or text.
///
/// Anybody may have written the bytes. A program that promised JSON and prints something else fails, with the line; what it
/// said before is kept.
package struct ProgramDecoder: Sendable {
    /// The most bytes of a line.
    package static let longestLine = 8 << 20

    private var lines = LineCutter(limit: Self.longestLine)
    private var count = ReplyCount()
    private var reader: any LineReader

    /// A reader of the output of a program of this dialect.
    package init(_ dialect: ProgramDialect) {
        reader =
            switch dialect {
            case .claude: ClaudeLines()
            case .codex: CodexLines()
            case .gemini: GeminiLines()
            case .text: TextLines()
            }
    }

    /// Reads the next bytes and calls `report` with what they complete, in order.
    package mutating func receive(_ bytes: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void) {
        var rest = bytes
        do throws(LineCutter.TooLong) {
            while !count.isOver, let line = try lines.next(in: &rest) { read(line, report) }
        } catch {
            count.fail(ReplyFailure(.malformed, detail: "a line is too long"), report)
        }
    }

    /// The output ended: reports the end of the reply, or its failure, unless it is known already.
    package mutating func end(_ end: BotProgramEnd, _ report: (ReplyEvent) -> Void) {
        let last = lines.rest
        if !count.isOver, !last.isEmpty { read(last, report) }
        for step in reader.end(end) { apply(step, report) }
        if count.isOver { return }
        switch end {
        case .code(0): count.fail(ReplyFailure(.truncated), report)
        case .code(let code): count.fail(ReplyFailure(.program(exit: code)), report)
        case .signal: count.fail(ReplyFailure(.program(exit: nil)), report)
        }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void) {
        for step in reader.read(line) { apply(step, report) }
    }

    private mutating func apply(_ step: LineStep, _ report: (ReplyEvent) -> Void) {
        switch step {
        case .event(let event): count.report(event, report)
        case .finish(let finish): count.finish(finish, report)
        case .fail(let failure, let saidNothing): count.fail(failure, saidNothing: saidNothing, report)
        }
    }
}

/// What a line of a program's output means.
enum LineStep: Hashable {
    /// Something that is not the last.
    case event(ReplyEvent)
    /// The reply is complete.
    case finish(Finish)
    /// The reply failed; whether all that was reported of it is what explains the failure.
    case fail(ReplyFailure, saidNothing: Bool = false)
}

/// Reads the lines of one program.
protocol LineReader: Sendable {
    /// What a line means; empty lines are handed over, too.
    mutating func read(_ line: ArraySlice<UInt8>) -> [LineStep]

    /// What the end of the output means; nothing where only the code counts.
    mutating func end(_ end: BotProgramEnd) -> [LineStep]
}

/// Reads lines of which each is a JSON object.
protocol JSONLineReader: LineReader {
    /// What the object of a line reports.
    mutating func read(_ json: JSON) -> [LineStep]
}

extension JSONLineReader {
    mutating func read(_ line: ArraySlice<UInt8>) -> [LineStep] {
        guard line.contains(where: { $0 > 0x20 }) else { return [] }
        guard let json = JSON(parsing: line, repairing: true), case .members = json else {
            let text = CleanText.line(String(decoding: line.prefix(4096), as: UTF8.self), limit: 120)
            return [.fail(ReplyFailure(.malformed, detail: "a line is not JSON: \(text)"))]
        }
        return read(json)
    }
}

/// What the readers of JSON lines share.
enum JSONLine {
    /// What kind of failure a program's own words describe; `.program` where they say nothing known.
    static func kind(of words: String, else other: ReplyFailure.Kind) -> ReplyFailure.Kind {
        let words = words.lowercased()
        func says(_ parts: String...) -> Bool { parts.contains { words.contains($0) } }
        if says("usage limit", "credit balance", "quota") { return .budget }
        if says("rate limit", "rate_limit", "too many requests") { return .rateLimited(after: nil) }
        if says("overloaded") { return .overloaded(after: nil) }
        if says("invalid api key", "authentication", "not logged in", "unauthorized", "please run /login") {
            return .auth
        }
        return other
    }
}

// The sessions that programs keep of their own, so that they know what was said before.
extension BotProgram {
    /// Whose sessions it resumes; nil: each call of it stands alone.
    ///
    /// In a sandbox only what may be written stays: without the folder of its sessions none is found again.
    package func sessionProvider(home: String?) -> String? {
        guard keepsSession, let folder = dialect.sessionFolder else { return nil }
        if let sandbox {
            guard let home else { return nil }
            let path = "\(home)/\(folder)"
            guard sandbox.write.contains(where: { path == $0 || path.hasPrefix($0 == "/" ? $0 : $0 + "/") })
            else { return nil }
        }
        return dialect.rawValue
    }

    /// The words of a command that resume a session of it; `words` are those without one.
    ///
    /// - Source: Claude Code, "CLI reference"; Codex CLI, "Non-interactive mode"; Gemini CLI, "CLI cheatsheet".
    func words(_ words: [String], resuming id: String) -> [String] {
        switch dialect {
        case .claude, .gemini: return words + ["--resume", id]
        case .codex:
            // A subcommand with arguments of its own: the prompt is the last of them.
            guard let place = words.firstIndex(of: Self.promptWord) else {
                return words + ["resume", id, "-"]
            }
            return words[..<place] + ["resume", id] + words[place...]
        case .text: return words
        }
    }
}

extension ProgramDialect {
    /// Where in the home folder it keeps its sessions; nil: it keeps none that can be resumed.
    fileprivate var sessionFolder: String? {
        switch self {
        case .claude: ".claude"
        case .codex: ".codex"
        case .gemini: ".gemini"
        case .text: nil
        }
    }

    /// Whether what it reports as used is what the whole session used.
    ///
    /// - Source: openai/codex issue 17539: `turn.completed` has the totals of the thread.
    private var reportsWholeSession: Bool { self == .codex }

    /// What one reply used, of what was reported in a session that `before` was used in.
    ///
    /// Totals only rise: smaller ones are those of the reply alone.
    package func usage(of reported: TokenUsage, after before: BotUsage?) -> TokenUsage {
        guard reportsWholeSession, let before else { return reported }
        var usage = reported
        let earlier = BotUsage(
            inputTokens: before.inputTokens.asTokens, cachedTokens: before.cachedTokens.asTokens,
            outputTokens: before.outputTokens.asTokens)
        usage.input -= earlier.inputTokens - earlier.cachedTokens
        usage.cacheRead -= earlier.cachedTokens
        usage.output -= earlier.outputTokens
        return min(usage.input, usage.cacheRead, usage.output) < 0 ? reported : usage
    }

    /// What the next reply of the session must know of the usage; nil: nothing.
    package func total(of reported: TokenUsage?) -> BotUsage? {
        guard reportsWholeSession, let reported else { return nil }
        var total = BotUsage(reported, price: nil)
        total.costMicros = nil
        return total
    }
}

/// What programs write about a session that they do not know any more.
package enum LostSession {
    /// Whether the program's own words mean that.
    ///
    /// - Source: nanoclaw 1.2.52, container-runner.ts, for Claude Code; Codex CLI 0.15x and Gemini CLI 0.2x as printed.
    package static func isMeant(by words: String) -> Bool {
        let words = words.lowercased()
        let names = [
            "no conversation found", "session not found", "no saved session", "no rollout found",
            "invalid session identifier", "no previous sessions found",
        ]
        if names.contains(where: words.contains) { return true }
        return words.contains(".jsonl") && (words.contains("enoent") || words.contains("no such file"))
    }
}
