import ArgumentParser
import Foundation
import Testing

@testable import belfry

@Suite struct `an example of a command line` {
    @Test func `in a command's help is accepted as it is written`() async {
        let texts = Self.commands(of: Belfry.self).map { $0.configuration.discussion }
        let examples = texts.flatMap { text in
            Self.lines(of: text).filter { $0.hasPrefix("  ") }.flatMap { Self.calls(in: $0) }
        }
        #expect(examples.count > 150)
        await Self.expectAccepted(examples)
    }

    @Test func `in the readme is accepted as it is written`() async throws {
        let root = String(#filePath.dropLast("Tests/APITests/CommandExamples.swift".count))
        let readme = try String(contentsOfFile: root + "README.md", encoding: .utf8)
        // Every second part stands between fences; one that begins with a word is of another language.
        let blocks = readme.components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.hasPrefix("\n") }
        let examples = blocks.flatMap { Self.lines(of: $0.element).flatMap { Self.calls(in: $0) } }
        #expect(examples.count > 40)
        await Self.expectAccepted(examples)
    }

    private static func expectAccepted(_ examples: [[String]]) async {
        for words in examples {
            expectAccepted(words)
            // There are hundreds, and other tests wait for this thread.
            await Task.yield()
        }
    }

    private static func expectAccepted(_ words: [String]) {
        #expect(UnknownCommand.refusal(of: words) == nil, "\(words)")
        #expect(LaterVersion.refusal(of: words) == nil, "\(words)")
        do {
            // The command alone: the parser of debug builds looks at each below the one it begins with.
            let (command, rest) = Self.command(of: words)
            _ = try command.parseAsRoot(rest)
        } catch {
            // Scripts for completion come as errors, too.
            #expect(Belfry.exitCode(for: error) == .success, "\(words): \(Belfry.message(for: error))")
        }
    }

    /// The command that words name, and what follows its name.
    private static func command(of words: [String]) -> (any ParsableCommand.Type, [String]) {
        var command: any ParsableCommand.Type = Belfry.self
        var rest = words[...]
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: {
                UnknownCommand.names(of: $0).contains(word)
            })
        {
            command = next
            rest.removeFirst()
        }
        return (command.configuration.defaultSubcommand ?? command, Array(rest))
    }

    private static func commands(of command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(of: $0) }
    }

    /// The lines of a text, those that end in a backslash joined with the next one.
    private static func lines(of text: String) -> [String] {
        text.replacing("\\\n", with: " ").split(separator: "\n").map { String($0) }
    }

    /// The words behind each `belfry` that a line of shell calls, also in pipes and substitutions.
    ///
    /// Two blanks between words begin a remark, as does a number sign.
    static func calls(in line: String) -> [[String]] {
        var reader = ShellReader(rest: line.drop { $0 == " " })
        return reader.read()
    }
}

/// Reads as much of shell as examples are written in.
private struct ShellReader {
    var rest: Substring
    private var calls: [[String]] = []
    private var words: [String] = []
    private var word: String?

    init(rest: Substring) { self.rest = rest }

    mutating func read() -> [[String]] {
        while let character = rest.popFirst() {
            switch character {
            case " ":
                endWord()
                if rest.first == " " { rest = "" }
            case "#" where word == nil: rest = ""
            case "'": word = (word ?? "") + take { $0 != "'" }
            case "\"": readQuoted()
            case "\\": if let next = rest.popFirst() { word = (word ?? "") + String(next) }
            case "$" where rest.first == "(": word = (word ?? "") + substitution()
            case ">", "<":
                // A number before it is a descriptor; what follows is a file.
                if word?.allSatisfy(\.isNumber) == true { word = nil }
                endWord()
                rest = rest.drop { ">& ".contains($0) }.drop { !" |;)".contains($0) }
            case "|", ";", "&", "(", ")": endCall()
            default: word = (word ?? "") + String(character)
            }
        }
        endCall()
        return calls
    }

    private mutating func readQuoted() {
        var text = word ?? ""
        while let character = rest.popFirst(), character != "\"" {
            switch character {
            case "\\": if let next = rest.popFirst() { text.append(next) }
            case "$" where rest.first == "(": text += substitution()
            default: text.append(character)
            }
        }
        word = text
    }

    /// Notes what a substitution calls; a word stands for its output.
    private mutating func substitution() -> String {
        rest.removeFirst()
        var inner = ShellReader(rest: Substring(take { $0 != ")" }))
        calls += inner.read()
        return "word"
    }

    /// What comes before the first character that is none of these, which is dropped.
    private mutating func take(while isPart: (Character) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest.dropFirst(part.count + 1)
        return String(part)
    }

    private mutating func endWord() {
        if let word { words.append(word) }
        word = nil
    }

    private mutating func endCall() {
        endWord()
        if words.first == "belfry" { calls.append(Array(words.dropFirst())) }
        words = []
    }
}
