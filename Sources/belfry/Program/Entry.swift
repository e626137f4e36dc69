import API
import ArgumentParser
import Cron
import Glibc
import Host
import Tracking

/// Runs one command and ends the process with the contract's exit code.
enum Entry {
    static func run(_ given: [String]) -> Never {
        Descriptor.fillStandardStreams()
        let arguments = movingCommonOptions(given)
        // Before `--` only: what follows belongs to somebody else's command.
        let own = arguments.prefix { $0 != "--" }
        do {
            if let refusal = LaterVersion.refusal(of: Array(own)) { throw refusal }
            if let refusal = UnknownCommand.refusal(of: Array(own)) { throw refusal }
            var command = try Belfry.parseAsRoot(arguments)
            try command.run()
            exit(0)
        } catch let error as APIError {
            fail(error, asJSON: own.contains("--json"))
        } catch let failure as ExecFailure {
            fail(failure.error, asJSON: own.contains("--json"), code: failure.code)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            // Help, version and completion scripts come as errors, too.
            guard Belfry.exitCode(for: error) != .success else {
                StandardOutput.print(CompletionScript.corrected(Belfry.fullMessage(for: error)))
                exit(0)
            }
            fail(
                APIError(.badRequest, UsageSentence.of(Belfry.message(for: error)), hint: help(error)),
                asJSON: own.contains("--json"))
        }
    }

    /// `belfry --socket S status` means `belfry status --socket S`: the parser knows options of a command only
    /// behind its name.
    private static func movingCommonOptions(_ given: [String]) -> [String] {
        var rest = given[...]
        var moved: [String] = []
        while let word = rest.first, word.hasPrefix("--") {
            let name = word.prefix { $0 != "=" }
            guard ["--socket", "--config", "--system", "--json", "--color"].contains(name) else { break }
            moved.append(rest.removeFirst())
            let takesValue = name != "--system" && name != "--json" && name == word[...]
            if takesValue, let value = rest.popFirst() { moved.append(value) }
        }
        guard !rest.isEmpty else { return given }
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + moved + Array(rest[end...])
    }

    /// Ends the process because standard output could not be written.
    static func end(unwritten error: HostError) -> Never {
        // As the signal would, where the one who started us had it ignored.
        if error.code == EPIPE { exit(128 + SIGPIPE) }
        let own = Machine.arguments.prefix { $0 != "--" }
        fail(
            APIError(.outputLost, "standard output can't be written: \(error.reason)"),
            asJSON: own.contains("--json"))
    }

    private static func fail(_ error: APIError, asJSON: Bool, code: Int32? = nil) -> Never {
        if asJSON, let text = try? WireCoding.text(error) {
            StandardError.print(text)
        } else {
            // It may quote what somebody typed, or wrote elsewhere.
            StandardError.print(prose: "belfry: \(error.sentence.spoken)")
        }
        exit(code ?? error.code.row.exitCode)
    }

    private static func help(_ error: any Error) -> String? {
        let usage = Belfry.fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Usage: ") }
        guard let usage else { return nil }
        let words = usage.dropFirst("Usage: ".count).split(separator: " ")
            .prefix { $0.first.map { $0.isLetter || $0 == "-" } == true && !$0.hasPrefix("-") }
        return "See: \(words.joined(separator: " ")) --help"
    }
}

/// Refuses a command that does not exist, and names the one that was perhaps meant.
///
/// The parser calls it an unexpected argument; a person wants to know what to type instead.
enum UnknownCommand {
    /// The refusal of these words; nil: they name a command.
    static func refusal(of words: [String]) -> APIError? {
        guard let word = operand(words.first) else { return nil }
        let known = commands.flatMap(names)
        guard known.contains(word) else {
            return refusal(of: word, hint(word, among: known) ?? "See: belfry --help")
        }
        let group = commands.first { names(of: $0).contains(word) }?.configuration
        guard let group, let name = group.commandName, let below = operand(words.dropFirst().first) else {
            return nil
        }
        let knownBelow = group.subcommands.flatMap(names)
        if group.subcommands.isEmpty || knownBelow.contains(below) { return nil }
        let meant = hint(below, among: knownBelow, in: name)
        // What follows `run` may be the name of a job, what follows `messages` that of a bot, and what follows `expect`
        // that of an expectation; but no operand comes behind that.
        let isName = ["run", "messages", "expect"].contains(name)
        if isName, meant == nil || operand(words.dropFirst(2).first) == nil { return nil }
        return refusal(of: "\(name) \(below)", meant ?? "See: belfry \(name) --help")
    }

    private static func refusal(of words: String, _ hint: String) -> APIError {
        APIError(.badRequest, "no command \(Quoted.of(words))", hint: hint)
    }

    /// A word that is neither an option nor a request for help.
    private static func operand(_ word: String?) -> String? {
        word.flatMap { $0.hasPrefix("-") || $0 == "help" ? nil : $0 }
    }

    private static var commands: [any ParsableCommand.Type] { Belfry.configuration.subcommands }

    /// The nearest name beside it, or else the command of that name in a group.
    private static func hint(_ word: String, among known: [String], in group: String? = nil) -> String? {
        if let meant = sentence(elsewhere(word, in: group)) { return meant }
        if let hint = NearestName.hint(word, among: known) { return hint }
        guard group == nil, let near = NearestName.of(word, among: nested.keys) else { return nil }
        return sentence(elsewhere(near, in: nil))
    }

    private static func sentence(_ commands: [String]) -> String? {
        let named = commands.prefix(3).map { "\"belfry \($0)\"" }
        guard let last = named.last else { return nil }
        let list = named.count > 1 ? named.dropLast().joined(separator: ", ") + " or " + last : last
        return "Did you mean \(list)?"
    }

    /// The commands that this word may stand for: those of that name at the top or in groups, and what other programs
    /// call so.
    private static func elsewhere(_ word: String, in group: String?) -> [String] {
        if let same = synonyms[word] { return [same] }
        let isTop = group != nil && commands.flatMap(names).contains(word)
        return (isTop ? [word] : []) + (nested[word] ?? [])
    }

    /// The commands of groups, by their own names; those of runs and jobs first.
    private static var nested: [String: [String]] {
        var nested: [String: [String]] = [:]
        let first = ["run", "job"]
        let groups = commands.sorted { left, right in
            first.contains(left.configuration.commandName ?? "")
                && !first.contains(right.configuration.commandName ?? "")
        }
        for command in groups {
            guard let group = command.configuration.commandName else { continue }
            for below in command.configuration.subcommands where below.configuration.shouldDisplay {
                for name in names(of: below) where name != "JOB" {
                    nested[name, default: []].append("\(group) \(name)")
                }
            }
        }
        return nested
    }

    /// Names that people bring from other programs.
    private static let synonyms = [
        "start": "run", "stop": "run cancel", "kill": "run cancel", "log": "run logs", "tail": "run logs -f",
        "ps": "runs", "history": "job history", "enable": "job resume", "disable": "job pause",
        "check": "config check", "top": "watch", "version": "--version",
    ]

    static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}

// A table: what the contract names and this version does not do yet.

/// Words of the contract that belong to a later version; they are refused, and help does not name them.
enum LaterVersion {
    private static let commands: Set<String> = [
        "drain", "nodes",
    ]

    private static let flags: [String: Set<String>] = ["runs": ["--node"]]

    /// Why these arguments are refused; nil when nothing in them is of a later version.
    static func refusal(of arguments: [String]) -> APIError? {
        // A command's words stand first, one behind the other; a later one may be an option's value.
        let words = arguments.prefix { !$0.hasPrefix("-") }
        let names = [words.prefix(1), words.prefix(2)].map { $0.joined(separator: " ") }
        if let command = names.first(where: commands.contains) {
            return APIError(.notInThisVersion, "\"belfry \(command)\" is not in this version")
        }
        for name in names {
            let refused = arguments.first { argument in
                flags[name]?.contains(String(argument.prefix { $0 != "=" })) == true
            }
            if let refused {
                return APIError(
                    .notInThisVersion,
                    "\(refused.prefix { $0 != "=" }) of \"belfry \(name)\" is not in this version")
            }
        }
        return nil
    }
}
