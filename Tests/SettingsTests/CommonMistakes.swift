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
        ("jobs: { a: { schedule: manual, shell: date, urgency: low } }", "write notify: { urgency: low }"),
        ("bots: { sage: { icon: face-smile } }", "write notifications: { icon: face-smile }"),
    ])
    func `is a key of notifications one level too high`(text: String, hint: String) {
        #expect(refusal(text).contains(hint))
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
        ("hooks.slack.com/services/T0/B0/x", "Slack", "slack"),
        ("discord.com/api/webhooks/1/x", "Discord", "discord"),
        ("example.webhook.office.com/webhookb2", "Microsoft Teams", "teams"),
        ("ntfy.sh/alerts", "ntfy", "ntfy"),
    ])
    func `is the address of a service for a generic webhook, which names the kind that fits`(
        path: String, service: String, kind: String
    ) {
        let text =
            "channels: { s: { kind: webhook, url: https://\(path), secret: { file: /etc/belfry/hook.secret } } }"
        let shown = refusal(text)
        #expect(
            shown.contains(
                "channels.s.url: \(service) does not accept the JSON of kind: webhook; write kind: \(kind)"))
        #expect(!shown.contains(path.split(separator: "/", maxSplits: 1).last ?? ""), "\(shown)")
        #expect(!refusal(text.replacing(path, with: "e.org/x")).contains("does not accept"))
    }

    @Test func `is a generic webhook to a service without a form, which is warned of`() throws {
        let secret = "secret: { file: /etc/belfry/hook.secret }"
        let text = "channels: { s: { kind: webhook, url: https://chat.googleapis.com/x, \(secret) } }"
        let warning = try #require(try read(text).warnings.first)
        #expect(
            warning.message
                == "channels.s.url: Google Chat does not accept the JSON of kind: webhook, so nothing will appear there"
        )
        #expect(warning.hint == "post to a receiver of your own that passes it on")
    }

    @Test func `is an address that is a secret, in the place of its host`() {
        let shown = refusal(
            """
            channels:
              team:
                kind: slack
                url: https://hooks.slack.com/services/T0/B0/s3cr3t
                webhook: { file: /etc/belfry/slack.url }
            """)
        #expect(
            shown.contains("belfry.yaml:4:10: channels.team.url: whoever knows this address can post there"))
        #expect(!shown.contains("s3cr3t"))
    }

    @Test func `is a secret that is not what its service gave out`() throws {
        let text = "channels: { t: { kind: telegram, chat: 1, token: { file: /etc/belfry/hook.secret } } }"
        #expect(refusal(text).contains("channels.t.token: what token: leads to is not a bot's token"))
        let started = try read(text) { $0.leavesOutChannel = { _, _ in true } }
        #expect(started.leftOut.map(\.name) == ["t"])
        #expect(started.leftOut.first?.fault?.contains("is not a bot's token") == true)
    }
}

extension Mistake {
    static let all = notYAML + words + keys
}
