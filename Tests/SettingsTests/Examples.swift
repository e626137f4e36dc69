import Delivery
import Host
import Ledger
import Settings
import Testing

/// The files of `config/`, which are what a new user reads first.
enum Examples {
    private static let folder =
        String(#filePath.dropLast("Tests/SettingsTests/Examples.swift".count)) + "config"

    /// The tools that the manual names.
    static let tools = ["send_message", "schedule_task", "list_tasks", "memory", "run_job"]

    static func text(_ name: String) throws -> String { try SmallFile.text("\(folder)/\(name)") }

    /// What stands behind "#" without a blank is meant to be uncommented.
    static func switchedOn(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let depth = line.prefix { $0 == " " }
            let rest = line.dropFirst(depth.count)
            return rest.hasPrefix("#") && !rest.hasPrefix("# ") && rest != "#"
                ? depth + rest.dropFirst() : line
        }.joined(separator: "\n")
    }

    /// What stands in the files that the examples name.
    static func secret(_ source: SecretSource) -> String {
        switch source {
        case .file("/etc/belfry/slack.url"): "https://mattermost.example.org/hooks/x"
        case .file("/etc/belfry/discord.url"): "https://discord.com/api/webhooks/1/x"
        case .file("/etc/belfry/chat.url"): "https://chat.googleapis.com/v1/spaces/1/messages?key=1"
        case .file("/etc/belfry/teams.url"): "https://prod-00.westeurope.logic.azure.com/workflows/1"
        case .file("/etc/belfry/telegram.token"): "1:abc"
        default: "whsec_c2VjcmV0"
        }
    }

    /// The first lines of the manual that begin with "#   ", without that.
    static func tenLines(_ text: String) -> String {
        let mark = "#   "
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix(mark) }.prefix { $0.hasPrefix(mark) }
        return lines.map { $0.dropFirst(mark.count) }.joined(separator: "\n") + "\n"
    }
}

@Suite struct `an example of the tree` {
    private func example(_ name: String) throws -> Configuration {
        let text = try Examples.text(name)
        let zones = ZoneFiles()
        var reader = ConfigurationReader(
            hostZone: "UTC", zone: { try? zones.rules(of: $0) }, readSecret: Examples.secret)
        reader.tools = Examples.tools
        return try reader.read(SourceText(name: name, text: text))
    }

    @Test func `is the manual, good as it stands`() throws {
        let configuration = try example("belfry.yaml")
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `is the manual, good with everything switched on`() throws {
        let text = Examples.switchedOn(try Examples.text("belfry.yaml"))
        let zones = ZoneFiles()
        var reader = ConfigurationReader(
            hostZone: "UTC", zone: { try? zones.rules(of: $0) }, readSecret: Examples.secret)
        reader.tools = Examples.tools
        let configuration = try reader.read(
            SourceText(name: "belfry.yaml", text: text))
        #expect(configuration.jobs.count >= 3)
        #expect(Set(configuration.channels.map(\.form.kind)).count == ChannelForms.all.count)
        #expect(!configuration.bots.isEmpty)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `is the beginning of the manual: ten lines with a job, a channel and a route`() throws {
        let manual = try Examples.text("belfry.yaml")
        #expect(manual.hasPrefix("# yaml-language-server: $schema=belfry.schema.json\n"))
        let lines = Examples.tenLines(manual)
        #expect(lines.split(separator: "\n").count == 10)
        let configuration = try read(lines)
        #expect(configuration.jobs.count == 1 && configuration.channels.count == 1)
        #expect(configuration.routing.routes.count == 1 && configuration.warnings.isEmpty)
    }

    @Test func `is the manual, which names every form with every key of its settings`() throws {
        let text = try Examples.text("belfry.yaml")
        for form in ChannelForms.all {
            #expect(text.contains("kind: \(form.kind.rawValue)"))
            for field in form.fields {
                #expect(text.contains("#\(field.name):"), "\(form.kind.rawValue): \(field.name)")
            }
        }
    }

    @Test func `is the demo, good as it stands`() throws {
        let configuration = try example("demo.yaml")
        #expect(configuration.jobs.count >= 4)
        #expect(Set(configuration.jobs.map(\.spec.bot)).count >= 2)
        #expect(configuration.channels.map(\.name).sorted() == ["desk", "hook"])
        #expect(configuration.warnings.isEmpty)
    }
}
