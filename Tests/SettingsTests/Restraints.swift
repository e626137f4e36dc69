import Delivery
import Grouping
import Settings
import Testing
import Timeline

@testable import Settings

@Suite struct `what holds notifications back` {
    private func read(_ text: String) throws -> Configuration {
        let reader = ConfigurationReader(hostZone: "UTC", zone: { $0 == "UTC" ? .utc : nil }) { _ in "" }
        return try reader.read(SourceText(name: "belfry.yaml", text: text))
    }

    private func fault(_ text: String) -> String {
        do {
            _ = try read(text)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func `is described for a bot`() throws {
        let bot = try #require(
            try read(
                """
                bots:
                  ops:
                    notifications:
                      quiet: ["22:00-07:00", "Sat,Sun 00:00-10:00"]
                      budget: 6
                      alertAfter: 2
                      shown: no
                      preview: hidden
                      sounds: { failed: dialog-error, sent: bell }
                """
            ).bots.first)
        #expect(bot.restraint.quiet?.texts == ["22:00-07:00", "Sat,Sun 00:00-10:00"])
        #expect(bot.restraint.budget == 6 && bot.restraint.alertAfter == 2 && !bot.restraint.isShown)
        #expect(bot.hidesText && bot.policy.previewCharacters == 100)
        #expect(bot.sounds == [.failed: "dialog-error", .sent: "bell"])
        let plain = try read("bots: { ops: { notifications: { quiet: 22:00-07:00, preview: 50 } } }").bots
            .first
        #expect(plain?.restraint.quiet?.texts == ["22:00-07:00"] && plain?.policy.previewCharacters == 50)
    }

    @Test(arguments: [
        ("quiet: 09:00-09:00", "ends when it begins"), ("quiet: 00:00-24:00", "never end"),
        ("quiet: at night", "names no hours"), ("quiet: []", "no hours are named"),
        ("quiet: Mo 22:00-07:00", "names no days of the week"), ("budget: 0", "1"),
        ("preview: 5", "10"), ("sounds: { loud: x }", "unknown key \"loud\""), ("alertAfter: 0", "1"),
        ("wait: 25h", "\"25h\" would hold it back for too long"),
    ])
    func `is refused where it means nothing, or for ever`(text: String, sentence: String) {
        let shown = fault("bots: { ops: { notifications: { \(text) } } }\n")
        #expect(shown.contains(sentence), "\(shown)")
    }

    @Test func `is described for routes, and for what explains failures`() throws {
        let configuration = try read(
            """
            channels: { desk: { kind: desktop } }
            routes:
              - { when: [failed], to: [desk] }
              - { when: [failed], match: [host=db1, "job=~web-.*"], during: "Mon-Fri 18:00-08:00", to: [desk] }
            inhibit:
              - { failing: [job=ping], silences: [event=failed], equal: [host] }
            """)
        let route = try #require(configuration.routing.routes.last)
        #expect(route.about.map(\.text) == ["host=db1", "job=~web-.*"])
        #expect(route.during?.texts == ["Mon-Fri 18:00-08:00"] && route.isConditional)
        let rule = try #require(configuration.inhibitions.first)
        #expect(rule.failing.map(\.text) == ["job=ping"] && rule.silences.map(\.text) == ["event=failed"])
        #expect(rule.equal == ["host"])
    }

    @Test(arguments: [
        ("routes: [{ when: [failed], match: [job=a], to: [desk] }]", "for failures has conditions"),
        ("routes: [{ when: [failed], match: [job], to: [desk] }]", "is no matcher"),
        ("routes: [{ when: [failed], match: [urgency=high], to: [desk] }]", "no urgency is called \"high\""),
        ("routes: [{ when: [failed], jobs: [a], to: [desk] }]", "write match: [job=a]"),
        ("routes: [{ when: [failed], after: 8d, to: [desk] }]", "\"8d\" would hold it back for too long"),
        ("inhibit: [{ failing: [job=a] }]", "a rule needs failing: and silences:"),
        ("inhibit: [{ failing: [], silences: [job=b] }]", "there is no matcher"),
    ])
    func `is refused with its place`(text: String, sentence: String) {
        let shown = fault("channels: { desk: { kind: desktop } }\n\(text)\n")
        #expect(shown.contains(sentence) && shown.contains("belfry.yaml:2:"), "\(shown)")
    }
}
