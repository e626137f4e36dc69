import API
import ArgumentParser
import Glibc

/// Runs one command and ends the process with the contract's exit code.
enum Entry {
    static func run(_ given: [String]) -> Never {
        let arguments = movingCommonOptions(given)
        // Before `--` only: what follows belongs to somebody else's command.
        let own = arguments.prefix { $0 != "--" }
        do {
            if let refusal = LaterVersion.refusal(of: Array(own)) { throw refusal }
            if let refusal = unknownCommand(own.first) { throw refusal }
            var command = try Belfry.parseAsRoot(arguments)
            try command.run()
            exit(0)
        } catch let error as APIError {
            fail(error, asJSON: own.contains("--json"))
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            // Help, version and completion scripts come as errors, too.
            guard Belfry.exitCode(for: error) != .success else {
                StandardOutput.print(Belfry.fullMessage(for: error))
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

    /// The parser calls an unknown command an unexpected argument; a person wants to know which was meant.
    private static func unknownCommand(_ word: String?) -> APIError? {
        guard let word, !word.hasPrefix("-"), word != "help" else { return nil }
        let groups = Belfry.configuration.groupedSubcommands.flatMap(\.subcommands)
        let names = (Belfry.configuration.subcommands + groups).compactMap { $0.configuration.commandName }
        guard !names.contains(word) else { return nil }
        return APIError(
            .badRequest, "no command \"\(word)\"",
            hint: NearestName.hint(word, among: names) ?? "See: belfry --help")
    }

    private static func fail(_ error: APIError, asJSON: Bool) -> Never {
        if asJSON, let text = try? WireCoding.text(error) {
            StandardError.print(text)
        } else {
            StandardError.print("belfry: \(error.sentence)")
        }
        exit(error.code.row.exitCode)
    }

    private static func help(_ error: any Error) -> String? {
        let usage = Belfry.fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Usage: ") }
        guard let usage else { return nil }
        let words = usage.dropFirst("Usage: ".count).split(separator: " ")
            .prefix { $0.first.map { $0.isLetter || $0 == "-" } == true && !$0.hasPrefix("-") }
        return "See: \(words.joined(separator: " ")) --help"
    }
}
