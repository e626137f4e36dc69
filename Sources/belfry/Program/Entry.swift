import API
import ArgumentParser
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
