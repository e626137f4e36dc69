package import Tracking

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
