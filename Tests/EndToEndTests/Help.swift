import Testing

@Suite(.timeLimit(.minutes(5))) struct `the help` {
    /// A command that does something: its words, the text above its usage, and its options in their order.
    private typealias Command = (name: String, text: String, options: [String])

    private func commands() async throws -> [Command] {
        let dump = try await Belfry().run("--experimental-dump-help").json()
        return Self.leaves(of: try #require(dump["command"]), named: [])
    }

    private static func leaves(of command: JSON, named above: [String]) -> [Command] {
        let words = above + [command["commandName"].text ?? ""]
        // Nobody reads of a command that is started by another.
        let below = command["subcommands"].list.filter {
            $0["commandName"].text != "help" && $0["shouldDisplay"] != .bool(false)
        }
        if below.isEmpty {
            let options = command["arguments"].list.compactMap { $0["preferredName"]["name"].text }
            return [(words.joined(separator: " "), command["discussion"].text ?? "", options)]
        }
        return below.flatMap { leaves(of: $0, named: words) }
    }

    @Test func `of every command has an example of it`() async throws {
        let commands = try await commands()
        #expect(commands.count > 30)
        for (name, text, _) in commands {
            let words = name == "belfry run JOB" ? "belfry run backup" : name
            #expect(text.contains(words + " ") || text.hasSuffix(words), "\(name)")
        }
    }

    @Test func `lists many options under titles, below two examples`() async throws {
        let belfry = try Belfry()
        for (words, titles) in [
            (["job", "add"], ["SCHEDULE:", "COMMAND:", "MISSED AND OVERLAPPING SLOTS:", "PROCESS:"]),
            (["job", "edit"], ["SCHEDULE:", "NOTIFICATIONS:"]), (["exec"], ["RUN:", "NOTIFICATIONS:"]),
        ] {
            let help = try await belfry.run("belfry", words + ["--help"]).lines
            let places = titles.compactMap { help.firstIndex(of: $0) }
            #expect(places.count == titles.count && places == places.sorted(), "\(words)")
            let example = "  belfry \(words.joined(separator: " ")) "
            #expect(help.dropFirst().prefix(2).allSatisfy { $0.hasPrefix(example) }, "\(words)")
            let last = try #require(places.last)
            #expect(try #require(help.firstIndex(of: "OPTIONS:")) > last, "what all commands take comes last")
        }
    }

    @Test func `lists what all commands take after what only this one takes`() async throws {
        let common = ["json", "socket", "system", "config", "color"]
        for (name, _, options) in try await commands() where options.contains("socket") {
            let own = options.filter { !["help", "version"].contains($0) }
            #expect(Array(own.suffix(common.count)) == common, "\(name): \(own)")
        }
    }

    @Test func `is not torn apart on a terminal of eighty columns`() async throws {
        for (name, text, _) in try await commands() {
            let lines =
                [""] + text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + [""]
            // A long line is wrapped where it stands alone; beside others it tears a paragraph or an example.
            for index in lines.indices where lines[index].count > 80 {
                #expect(lines[index - 1].isEmpty && lines[index + 1].isEmpty, "\(name): \(lines[index])")
                #expect(!lines[index].hasPrefix(" "), "\(name): \(lines[index])")
            }
        }
    }
}
