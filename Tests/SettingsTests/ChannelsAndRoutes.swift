import Delivery
import Settings
import TestSupport
import Testing

@Suite struct `a channel of a file` {
    @Test func `is read with its secret and exceptions`() throws {
        let configuration = try read(
            """
            channels:
              hook:
                kind: webhook
                url: http://127.0.0.1:8080/belfry
                secret: { file: /etc/belfry/hook.secret }
                allow: [127.0.0.1/32]
                timeout: 5s
            """)
        let channel = try #require(configuration.channels.first)
        #expect(channel.name == "hook")
        #expect(channel.secrets["secret"] == ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        let form = try #require(channel.form as? WebhookForm)
        #expect(form.reach.url.shown == "http://127.0.0.1:8080")
        #expect(form.reach.timeout == .seconds(5))
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `may have a fallback and a heartbeat`() throws {
        let configuration = try read(
            """
            channels:
              desk: { kind: desktop }
              mail: { kind: mail, to: me@example.org }
              hook:
                kind: webhook
                url: https://example.org/hook
                secret: { file: /etc/belfry/hook.secret }
                fallback: mail
                fallbackAfter: 30m
                heartbeat: 1d
            routes:
              - { when: [failed], to: [hook, desk] }
            """)
        #expect(
            configuration.channels.map(\.safety) == [
                ChannelSafety(), ChannelSafety(),
                ChannelSafety(
                    fallback: "mail", fallbackAfter: .seconds(1800), heartbeat: .seconds(86_400)),
            ])
        // What is a fallback needs no route.
        #expect(configuration.warnings.isEmpty)
    }

    @Test(arguments: [
        ("fallback: hook", "a channel can't be its own fallback"),
        ("fallback: mial", #"the fallback "mial" of this channel does not exist; did you mean "mail"?"#),
        ("fallbackAfter: 5m", "there is no fallback to wait with"),
        ("{fallback: mail, fallbackAfter: 5s}", "it may be 1m to 7d"),
        ("heartbeat: 10s", "it may be 1m to 31d"),
    ])
    func `is refused with a fallback that can't be one`(_ text: String, _ fault: String) {
        let lines = text.filter { !"{}".contains($0) }.split(separator: ",").map {
            "    " + $0.drop { $0 == " " }
        }
        let refusal = refusal(
            """
            channels:
              mail: { kind: mail, to: me@example.org }
              hook:
                kind: webhook
                url: https://example.org/hook
                secret: { file: /etc/belfry/hook.secret }
            \(lines.joined(separator: "\n"))
            """)
        #expect(refusal.contains(fault), "\(refusal)")
    }

    @Test func `that is edited in place has neither`() {
        #expect(
            refusal("channels:\n  desk: { kind: desktop, heartbeat: 1d }").contains(
                "unknown key \"heartbeat\""))
    }

    @Test func `is the desktop when none is described`() throws {
        let configuration = try read("zone: UTC")
        #expect(configuration.channels.map(\.name) == ["desk"])
        #expect(configuration.routing.channels(for: "run.failed") == ["desk"])
    }

    @Test func `without a secret is allowed with a warning that points at it`() throws {
        let configuration = try read("channels:\n  hook: { kind: webhook, url: https://example.org }")
        #expect(
            configuration.warnings.map(\.description) == [
                """
                belfry.yaml:2:31: channels.hook.url: nothing is signed: a receiver can't distinguish these \
                webhooks from forged ones; write secret: { file: /path } with a line whsec_...
                    hook: { kind: webhook, url: https://example.org }
                                                ^^^^^^^^^^^^^^^^^^^
                """
            ])
    }

    @Test func `is refused when its secret can't be read`() {
        #expect(
            refusal(
                """
                channels:
                  hook:
                    kind: webhook
                    url: https://example.org/hook
                    secret: { file: /nowhere/hook.secret }
                """) == """
                    belfry.yaml:5:21: channels.hook.secret.file: the secret can't be read from \
                    file /nowhere/hook.secret: no such file
                          secret: { file: /nowhere/hook.secret }
                                          ^^^^^^^^^^^^^^^^^^^^
                    """)
    }

    @Test func `is left out at a start when its secret can't be read, and routes to it stay good`() throws {
        let configuration = try read(
            """
            channels:
              hook: { kind: webhook, url: https://example.org/hook, secret: { file: /nowhere/hook.secret } }
              desk: { kind: desktop }
            routes:
              - { when: [failed], to: [hook, desk] }
            """
        ) { $0.leavesOutChannel = { _, _ in true } }
        #expect(configuration.channels.map(\.name) == ["desk"])
        #expect(configuration.leftOut.map(\.name) == ["hook"])
        #expect(
            configuration.leftOut.first?.fault
                == "the secret can't be read from file /nowhere/hook.secret: no such file")
        #expect(configuration.routing.channels(for: "run.failed") == ["hook", "desk"])
        #expect(throws: SettingsError.self) {
            try read("chanels:") { $0.leavesOutChannel = { _, _ in true } }
        }
    }

    @Test func `is refused with a secret in the text, which is not repeated`() {
        let shown = refusal("channels:\n  hook: { kind: webhook, url: https://e.org/, secret: whsec_abc }")
        #expect(shown.contains("channels.hook.secret: do not write a secret in this file"))
        #expect(!shown.contains("whsec_abc"))
        #expect(marked(shown) == "*********")
        let open = refusal("channels:\n  hook: { kind: webhook, url: https://me:pass@e.org/, knid: 1 }")
        #expect(open.contains("a name or password in the address would be readable here"))
        #expect(open.contains("unknown key \"knid\""))
        #expect(!open.contains("pass@"))
    }

    @Test func `is shown without the path of its address, which may be a token`() {
        let shown = refusal("channels:\n  hook: { kind: webhook, url: https://e.org/hooks/T0K3N, knid: 1 }")
        #expect(shown.contains("url: https://e.org************, knid: 1 }"))
    }

    @Test(arguments: [
        ("{ url: https://e.org/ }", "this channel has no kind"),
        ("{ kind: webhook }", "this webhook has no url"),
        ("{ kind: webook }", "did you mean \"webhook\"?"),
        ("{ kind: script, command: [x] }", "\"script\" is not known here; write kind: command"),
        ("{ kind: template }", "this template has no url"),
        ("{ kind: mail }", "this mail has no to"),
        ("{ kind: mail, to: [] }", "can't be empty"),
        ("{ kind: mail, to: [a@e.org, 'b c@e.org'] }", "\"b c@e.org\" is not a mail address"),
        ("{ kind: mail, to: a@e.org, from: \"b@e.org\\nBcc: c@e.org\" }", "is not a mail address"),
        ("{ kind: mail, to: a@e.org, url: smtp://e.org }", "this mail has no from"),
        ("{ kind: mail, to: a@e.org, cc: b@e.org }", "\"cc\" is not in this version"),
        (
            "{ kind: mail, to: root, from: b@e.org, url: smtp://e.org }",
            "needs the whole address, as root@example.org"
        ),
        ("{ kind: mail, to: ü@e.org, from: b@e.org, url: smtp://e.org }", "write its ASCII form"),
        ("{ kind: mail, to: a@e.org, url: 'https://e.org' }", "begins with smtps:// or smtp://"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://me:pw@e.org' }", "use `user:` and `password:`"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://e.org:0' }", "the port must be a number from 1 to 65535"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://0x7f000001' }", "this is not a host"),
        ("{ kind: mail, to: a@e.org, url: 'smtps://e.org/x' }", "this is not a host"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://10.0.0.1' }", "10.0.0.1 is no public address"),
        (
            "{ kind: mail, to: a@e.org, url: 'smtp://e.org', tls: none }",
            "unencrypted mail goes only to hosts"
        ),
        (
            "{ kind: mail, to: a@e.org, url: 'smtp://e.org', tls: ssl }",
            "tls is starttls, which is the default, or none"
        ),
        ("{ kind: mail, to: a@e.org, url: 'smtps://e.org', tls: none }", "smtps is always encrypted"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://e.org', user: u }", "this mail has no password"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://e.org', ca: mail.pem }", "needs an absolute path"),
        ("{ kind: mail, to: a@e.org, url: 'smtp://e.org', sendmail: true }", "not to both"),
        ("{ kind: mail, to: a@e.org, user: u }", "user is for a mail server; add url: smtp://host:587"),
        ("{ kind: mail, to: a@e.org, sendmail: false }", "write sendmail: true, the path of a program"),
        ("{ kind: telegram }", "this telegram has no token"),
        ("{ kind: command }", "this command has no command"),
        (
            "{ kind: command, command: notify me }",
            "expected a list, found text; write command: [notify, me]\n"
        ),
        (
            "{ kind: command, command: 'cat | wall' }",
            "expected a list, found text; write command: [sh, -c, cat | wall]\n"
        ),
        ("{ kind: command, command: [] }", "a command has at least one word"),
        ("{ kind: command, command: [x], timeout: 1h }", "the timeout must be above 0s and at most 10m"),
        ("{ kind: command, command: [x], env: { A: b } }", "\"env\" is not in this version"),
        ("{ kind: webhook, url: ftp://e.org/ }", "the address must begin with https://"),
        ("{ kind: webhook, url: http://e.org/ }", "plain http goes only to hosts under `allow:`"),
        ("{ kind: webhook, url: https://e.org/, timeout: 1h }", "the timeout must be above 0s and at most"),
        ("{ kind: webhook, url: https://e.org/, allow: [a/b] }", "\"a/b\" is not a host"),
        ("{ kind: webhook, url: https://e.org/, secret: {} }", "a secret comes from one place"),
        ("{ kind: desktop, url: https://e.org/ }", "unknown key \"url\""),
        ("desktop", "expected a map, found text"),
    ])
    func `is refused when it makes no sense`(form: String, reason: String) {
        let shown = refusal("channels:\n  hook: \(form)")
        #expect(shown.hasPrefix("belfry.yaml:2:"))
        #expect(shown.contains(reason))
        #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
    }

    @Test func `has the wrong part of its address marked`() {
        #expect(
            marked(refusal("channels:\n  hook: { kind: webhook, url: 'https://e.org:99999/x' }")) == ":99999")
    }
}

@Suite struct `a form that was added` {
    private func read(_ text: String) throws(SettingsError) -> Configuration {
        try SettingsTests.read(text) { $0.forms.append(LineForm.self) }
    }

    private func refusal(_ form: String) -> String {
        do throws(SettingsError) {
            _ = try read("channels:\n  lines: \(form)")
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `is read by its own keys`() throws {
        let setting = try #require(
            try read(
                """
                channels:
                  lines:
                    kind: line
                    url: https://lines.example
                    topic: alerts
                    token: { file: /etc/belfry/hook.secret }
                    timeout: 5s
                """
            ).channels.first)
        #expect(setting.form.kind == ChannelKind("line", isLevel: false))
        #expect(try #require(setting.form as? LineForm).reach.timeout == .seconds(5))
        #expect(setting.secrets["token"].count == 1)
        #expect(setting.sources == ["token": [.file("/etc/belfry/hook.secret")]])
        #expect(!"\(setting)".contains("whsec_"))
    }

    @Test(arguments: [
        (
            "{ kind: line, url: https://e.org }", "channels.lines: ",
            "this line has no topic; write topic: alerts"
        ),
        ("{ kind: line, topic: a }", "channels.lines: ", "this line has no url"),
        (
            "{ kind: line, url: https://e.org, topic: A }", "channels.lines.topic",
            "a topic has small letters only"
        ),
        ("{ kind: line, url: https://e.org, topic: a, timeout: 1h }", "channels.lines.timeout", "at most"),
        (
            "{ kind: line, url: https://e.org, topic: a }", "channels.lines: ",
            "this line has no token; write token: { file: /path }"
        ),
        ("{ kind: lime, url: https://e.org, topic: a }", "channels.lines.kind", "did you mean \"line\"?"),
    ])
    func `is refused by its own rules`(form: String, path: String, reason: String) {
        let shown = refusal(form)
        #expect(shown.contains(reason), "\(shown)")
        #expect(shown.contains(path), "\(shown)")
        #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
    }
}

@Suite struct `the routes of a file` {
    private let channels = "channels: { desk: { kind: desktop } }\n"

    @Test func `name the channels that are notified`() throws {
        let routing = try read(
            channels
                + "routes:\n  - { when: [failed, message], to: [desk] }\n  - { when: [test], to: [desk] }"
        ).routing
        #expect(routing.channels(for: "run.failed") == ["desk"])
        #expect(routing.channels(for: "run.completed").isEmpty)
    }

    @Test func `left out, send everything everywhere`() throws {
        let routing = try read(channels).routing
        #expect(
            RouteWord.allCases.filter { routing.channels(for: "run.\($0)").isEmpty }.allSatisfy { word in
                [.message, .question, .channel, .config, .ledger, .clock, .bot, .gateway, .expect, .test]
                    .contains(
                        word)
            })
        #expect(try read(channels + "routes:\n").routing == routing)
        #expect(routing.isDefault && routing == .standard(to: ["desk"]))
    }

    @Test func `are refused when a failure has none`() {
        #expect(
            refusal(channels + "routes:\n  - { when: [completed], to: [desk] }") == """
                belfry.yaml:3:5: routes[0]: no route covers failures, so a job could fail without \
                notifying anyone; add one with `when: [failed]`
                    - { when: [completed], to: [desk] }
                      ^
                """)
    }

    @Test func `are refused when they lead to no channel`() {
        #expect(
            refusal(channels + "routes:\n  - when: [failed]\n    to: [desk, dsek]") == """
                belfry.yaml:4:16: routes[0].to[1]: there is no channel "dsek"; did you mean "desk"?
                      to: [desk, dsek]
                                 ^^^^
                """)
    }

    @Test func `are refused with all their faults at once`() {
        let shown = refusal(
            channels
                + """
                routes:
                  - { when: [faild], to: [dsek] }
                  - { when: [mesage], to: [] }
                """)
        for part in ["\"failed\"?", "no channel \"dsek\"", "\"message\"?", "the route names no channel"] {
            #expect(shown.contains(part), "\(part) in \(shown)")
        }
        #expect(shown.split(separator: "\n").count == 12, "four faults: \(shown)")
    }

    @Test(arguments: [
        ("{ when: [faild], to: [desk] }", "did you mean \"failed\"?"),
        ("{ when: [failed] }", "a route needs when: and to:"),
        ("{ when: failed, to: [desk] }", "expected a list, found text"),
        ("{ when: [failed], to: [] }", "the route names no channel"),
        ("failed", "expected a map, found text"),
    ])
    func `are refused when one makes no sense`(route: String, reason: String) {
        let shown = refusal(channels + "routes:\n  - { when: [failed], to: [desk] }\n  - \(route)")
        #expect(shown.hasPrefix("belfry.yaml:4:"))
        #expect(shown.contains(reason))
        #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
    }
}
