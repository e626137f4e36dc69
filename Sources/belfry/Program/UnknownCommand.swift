import API
import ArgumentParser
import Cron

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

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}
