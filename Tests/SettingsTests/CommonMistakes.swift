import Ledger
import Settings
import Testing

/// A mistake that people make, and what they are shown of it.
struct Mistake: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    /// Every line that `config check` prints of it.
    var shown: String

    var testDescription: String { name }

    init(_ name: String, _ text: String, _ shown: String) {
        (self.name, self.text, self.shown) = (name, text, shown)
    }
}

@Suite struct `a mistake that people make` {
    @Test(arguments: Mistake.all)
    func `is shown with its place and what to write instead`(mistake: Mistake) {
        #expect(refusal(mistake.text) == mistake.shown)
    }

    @Test(arguments: [
        "\u{FEFF}zone: UTC\njobs: { a: { schedule: manual, shell: date } }\n",
        "zone: UTC\r\njobs:\r\n  a:\r\n    schedule: \"@daily\"\r\n    shell: date\r\n",
    ])
    func `is none where an editor adds a byte order mark or other line ends`(text: String) throws {
        let configuration = try read(text)
        #expect(configuration.zone == "UTC" && configuration.jobs.map(\.spec.action) == [.shell("date")])
    }

    @Test(arguments: [
        ("hooks.slack.com/services/T0/B0/x", "Slack"), ("discord.com/api/webhooks/1/x", "Discord"),
        ("example.webhook.office.com/x", "Microsoft Teams"), ("ntfy.sh/alerts", "ntfy"),
    ])
    func `is the address of a chat service for a webhook, which is warned of`(path: String, service: String)
        throws
    {
        let text =
            "channels: { s: { kind: webhook, url: https://\(path), secret: { file: /etc/belfry/hook.secret } } }"
        let warning = try #require(try read(text).warnings.first)
        #expect(
            warning.message
                == "channels.s.url: \(service) does not accept the JSON of kind: webhook, so nothing will appear there"
        )
        #expect(warning.hint == "post to a receiver of your own that passes it on")
        #expect(try read(text.replacing(path, with: "e.org/x")).warnings.isEmpty)
    }
}

extension Mistake {
    static let all = notYAML + otherwise
}
