import Delivery
import Host
import Settings
import Testing

@Suite struct `the place of a fault` {
    @Test func `is under the unknown key, with what was meant`() {
        #expect(
            refusal("zone: UTC\njbos:\n  a: { shell: date }") == """
                belfry.yaml:2:1: unknown key "jbos"; did you mean "jobs"?
                  jbos:
                  ^^^^
                """)
        #expect(
            refusal("jobs:\n  a:\n    schedule: manual\n    comand: [x]\n    shell: date").contains(
                "belfry.yaml:4:5: jobs.a: unknown key \"comand\"; did you mean \"command\"?"))
        #expect(refusal("telephone: 1").contains("known here: zone, bots, jobs, channels, routes"))
        #expect(refusal("zone: UTC", jobs: ["jobs.d/x.yaml": "bots: {}"]).contains("known here: jobs"))
    }

    @Test func `is shown for all faults at once, in the order of the lines`() {
        let shown = refusal(
            """
            zone: Nowhere/Else
            jobs:
              a: { schedule: "0 0 * *", shell: date }
              B: { schedule: manual, shell: date }
            channels:
              hook: { kind: webhook, url: nonsense }
            routes:
              - { when: [failed], to: [hok] }
            """, jobs: ["jobs.d/x.yaml": "jobs:\n  c: { schedule: manual }"])
        let heads = shown.split(separator: "\n").filter { $0.contains(".yaml:") }.map { line in
            line.prefix { $0 != " " }
        }
        #expect(
            heads == [
                "belfry.yaml:1:7:", "belfry.yaml:3:19:", "belfry.yaml:4:3:", "belfry.yaml:6:31:",
                "belfry.yaml:8:28:", "jobs.d/x.yaml:2:3:",
            ])
    }

    @Test func `is shown also of what stands beside another fault`() {
        func places(_ text: String) -> [String] {
            refusal(text).split(separator: "\n").filter { $0.hasPrefix("belfry.yaml:") }.map { line in
                String(line.dropFirst("belfry.yaml:".count).prefix { $0 != " " })
            }
        }
        #expect(
            places("jobs:\n  a: { schedule: [1,2], timeout: { a: b }, grace: zz, nope: 1 }")
                == ["2:3:", "2:19:", "2:21:", "2:34:", "2:51:", "2:55:"])
        #expect(
            places("jobs:\n  a: { schedule: { zone: Mars/X, gap: no, fold: no }, shell: date }").count == 4)
        #expect(
            places("channels:\n  h: { kind: webhook, secret: plain, allow: [\"?\"], timeout: soon }").count
                == 4)
        #expect(places("routes:\n  - { when: [odd], nope: 1 }").count == 3)
    }

    @Test(arguments: ["\r\n", "\r", "\u{85}", "\u{2028}"])
    func `is right whatever ends the lines`(end: String) {
        let shown = refusal(["# one", "zone: UTC", "jbos: 1", ""].joined(separator: end))
        #expect(shown.hasPrefix("belfry.yaml:3:1: "))
        #expect(marked(shown) == "jbos")
    }

    @Test func `counts characters as a person does`() {
        let shown = refusal("jobs: { a: { shell: 'e\u{301}👩‍👩‍👧', schedule: '0 25 * * *' } }")
        #expect(shown.hasPrefix("belfry.yaml:1:40: "))
        #expect(marked(shown) == "25")
    }

    @Test func `keeps a leading tab under a tab`() {
        let shown = refusal("jobs: {\t\ta: {\tschedule: '0 25 * * *', shell: date } }")
        #expect(marked(shown) == "25")
        #expect(shown.contains("\n         \t\t    \t "))
    }

    @Test func `is where the value begins when the text is written otherwise`() {
        let block = refusal("jobs:\n  a:\n    shell: date\n    schedule: >-\n      0 25\n      * * *\n")
        #expect(block.hasPrefix("belfry.yaml:4:15: "))
        let escaped = refusal("jobs: { a: { shell: date, schedule: \"0\\u002025 * * *\" } }")
        #expect(escaped.hasPrefix("belfry.yaml:1:37: "))
        let anchored = refusal("jobs: { a: { shell: date, schedule: &x 0 25 * * * } }")
        #expect(anchored.hasPrefix("belfry.yaml:1:37: "))
    }

    @Test func `is shown with its surroundings when the line is long`() {
        let words = (1...200).map { "w\($0)" }.joined(separator: ", ")
        let shown = refusal("jobs: { a: { command: [\(words)], schedule: '0 25 * * *' } }")
        #expect(marked(shown) == "25")
        #expect(shown.split(separator: "\n").allSatisfy { $0.count < 110 })
    }

    @Test func `is shown for a text that is not YAML`() {
        #expect(
            refusal("jobs:\n  a: [1, 2\nzone: UTC\n").hasPrefix("belfry.yaml:3:"))
        #expect(refusal("zone: \"UTC\n").contains("belfry.yaml:1:7: the quote that begins here has no end"))
        #expect(refusal("zone: *nothing").contains("belfry.yaml:1:7: not YAML: found undefined alias"))
        #expect(refusal("zone: UTC\n---\nzone: UTC\n").contains("belfry.yaml:3:1: a file holds one document"))
    }

    @Test func `can't command the terminal it is shown on`() {
        let shown = refusal("zone: UTC\nbots: \u{1B}[31m\n")
        #expect(shown.hasPrefix("belfry.yaml:2:7: not YAML: control characters are not allowed"))
        #expect(!shown.contains("\u{1B}"))
        #expect(
            !refusal("jobs: { a: { shell: date, schedule: manual, timeout: \"\\e[31m\" } }").contains(
                "\u{1B}"))
        #expect(
            !refusal("jobs: { a: { shell: date, schedule: manual, timeout: \"1\\n2\" } }").contains("1\n2"))
    }
}

/// Why a secret of these tests can't be read.
struct Unreadable: Error, CustomStringConvertible {
    let description: String
}

/// Reads `text` as `belfry.yaml`, with the zones of this machine and one secret, at `/etc/belfry/hook.secret`.
func read(
    _ text: String, jobs others: [String: String] = [:],
    _ adjust: (inout ConfigurationReader) -> Void = { _ in }
) throws(SettingsError) -> Configuration {
    let zones = ZoneFiles()
    var reader = ConfigurationReader(
        hostZone: "Europe/Vienna", zone: { try? zones.rules(of: $0) },
        readSecret: { source in
            guard source == .file("/etc/belfry/hook.secret") else {
                throw Unreadable(description: "no such file")
            }
            return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        })
    adjust(&reader)
    let files = others.sorted { $0.key < $1.key }.map { SourceText(name: $0.key, text: $0.value) }
    return try reader.read(SourceText(name: "belfry.yaml", text: text), jobs: files)
}

/// What a person is shown of a text that is refused; empty when it is good.
func refusal(_ text: String, jobs others: [String: String] = [:]) -> String {
    do throws(SettingsError) {
        _ = try read(text, jobs: others)
        return ""
    } catch {
        return error.description
    }
}
