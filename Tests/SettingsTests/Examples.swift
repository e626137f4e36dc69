import Delivery
import Host
import Ledger
import Settings
import Testing

/// The files of `config/`, which are what a new user reads first.
@Suite struct `an example of the tree` {
    private static let folder =
        String(#filePath.dropLast("Tests/SettingsTests/Examples.swift".count)) + "config"

    private func example(_ name: String) throws -> Configuration {
        let text = try SmallFile.text("\(Self.folder)/\(name)")
        let zones = ZoneFiles()
        let reader = ConfigurationReader(
            hostZone: "UTC", zone: { try? zones.rules(of: $0) }, readSecret: { _ in "whsec_c2VjcmV0" })
        return try reader.read(SourceText(name: name, text: text))
    }

    @Test func `is the manual, good as it stands`() throws {
        let configuration = try example("belfry.yaml")
        #expect(configuration.warnings.isEmpty)
    }

    /// What stands behind "#" without a blank is meant to be uncommented.
    @Test func `is the manual, good with everything switched on`() throws {
        let text = try SmallFile.text("\(Self.folder)/belfry.yaml")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let depth = line.prefix { $0 == " " }
            let rest = line.dropFirst(depth.count)
            return rest.hasPrefix("#") && !rest.hasPrefix("# ") && rest != "#"
                ? depth + rest.dropFirst() : line
        }
        let zones = ZoneFiles()
        let reader = ConfigurationReader(
            hostZone: "UTC", zone: { try? zones.rules(of: $0) }, readSecret: { _ in "whsec_c2VjcmV0" })
        let configuration = try reader.read(
            SourceText(name: "belfry.yaml", text: lines.joined(separator: "\n")))
        #expect(configuration.jobs.count >= 3)
        #expect(configuration.channels.count == 2)
        #expect(!configuration.bots.isEmpty)
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `is the manual, which names every form with every key of its settings`() throws {
        let text = try SmallFile.text("\(Self.folder)/belfry.yaml")
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
