import Settings
import TestSupport
import Testing

@Suite struct `a hostile text` {
    private static let good = """
        zone: Europe/Berlin
        bots:
          ops: { backend: { kind: command }, notifications: { sound: dialog-warning } }
        jobs:
          home-backup: &job
            bot: ops
            schedule: { cron: "30 2 * * *", zone: Europe/Berlin, gap: run-after, fold: first }
            command: [restic, backup, --json, /home]
            env: { RESTIC_REPOSITORY: /mnt/backup, TEXT: "e\\u0301 \\n" }
            catchUp: { mode: latest, within: 12h }
            timeout: 2h
          again: *job
          shell: { schedule: '@daily', shell: >- 
              one
              two }
        channels:
          desk: { kind: desktop }
          hook: { kind: webhook, url: "https://example.org/hook", secret: { file: /etc/belfry/hook.secret } }
        routes:
          - { when: [failed, lost], to: [hook, desk] }
        """

    /// Every problem is drawn, so that no place can lead out of its line.
    private func survives(_ text: String, seed: UInt64) {
        do throws(SettingsError) {
            _ = try read(text)
        } catch {
            #expect(!error.problems.isEmpty, "seed \(seed)")
            for problem in error.problems {
                #expect(problem.line >= 1 && problem.column >= 1 && problem.width >= 1, "seed \(seed)")
                #expect(problem.description.hasPrefix("belfry.yaml:"), "seed \(seed)")
            }
        }
    }

    @Test func `of random bytes is refused or read, never more`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            survives(String(decoding: bytes, as: UTF8.self), seed: seed)
        }
    }

    @Test func `of random marks of YAML is refused or read, never more`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let parts = [
            "jobs", "a", ": ", "- ", "? ", "{", "}", "[", "]", ",", "&x ", "*x", "!!int ", "\"", "'", "|\n",
            ">-\n",
            "\n", "  ", "#", "---", "...", "%YAML 1.1\n", "\t", "é", "\u{2028}", "~", "<<", "\\", "schedule",
            "0 0 * *",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 1...25, using: &random)).map { _ in
                parts[Int.random(in: 0..<parts.count, using: &random)]
            }
            survives(text.joined(), seed: seed)
        }
    }

    @Test func `made of a good one by damage is refused or read, never more`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let original = Array(Self.good.utf8)
        for _ in 0..<1000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(UInt8.random(in: 1...255, using: &random), at: place)
                case 2: bytes[place] = Array("{}[]:,&*'\"|>- \n#?!".utf8).randomElement(using: &random) ?? 0
                default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
                }
                if bytes.isEmpty { break }
            }
            survives(String(decoding: bytes, as: UTF8.self), seed: seed)
        }
    }

    @Test func `nested a thousand deep is refused`() {
        #expect(refusal("jobs: " + String(repeating: "[", count: 100_000)).hasPrefix("belfry.yaml:1:"))
        #expect(!refusal("jobs: " + String(repeating: "{a: ", count: 900)).isEmpty)
        #expect(refusal(String(repeating: "- ", count: 100_000)).hasPrefix("belfry.yaml:1:"))
    }

    /// Each level names the one above nine times: a billion elements in nine lines.
    private func bomb(_ line: (Int, String) -> String) -> String {
        var text = "x0: &x0 [a, b, c, d, e, f, g, h, i]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*x\(level - 1)", count: 9).joined(separator: ", ")
            text += line(level, aliases) + "\n"
        }
        return text
    }

    @Test func `that names a billion elements as values is refused without reading them`() {
        let values = bomb { "x\($0): &x\($0) [\($1)]" }
        #expect(refusal(values + "routes: *x9\n").contains("unknown key \"x0\""))
        #expect(
            refusal("jobs:\n  a: { schedule: manual, command: *x9 }\n" + values).contains("undefined alias"))
    }

    @Test func `that names a billion elements as a key is refused before it is parsed`() {
        for key in ["? *x9\n: 1", "*x9 : 1", "[*x9]: 1", "{ [*x9] }", "z: {?[*x9] }"] {
            let text = bomb { "x\($0): &x\($0) [\($1)]" } + key
            #expect(refusal(text).contains("aliases and a key that is not plain text"), "\(key)")
        }
    }

    @Test func `is not seen in a shell text with stars and ampersands`() throws {
        let shell = (0..<20).map { _ in "      [ $(( $# < 3 ? $# : 3 )) ] && ls *.txt && echo ${x}: &\n" }
            .joined()
        let configuration = try read("jobs:\n  a:\n    schedule: manual\n    shell: |\n" + shell)
        #expect(configuration.jobs.count == 1)
    }

    @Test func `with very many elements or faults has bounds`() {
        let list = "[" + Array(repeating: "x", count: 5000).joined(separator: ",") + "]"
        let routes = (0..<1000).map { _ in "  - { when: [failed], to: *many }\n" }.joined()
        let text = "zone: &many \(list)\nroutes:\n\(routes)"
        let shown = refusal(text)
        #expect(shown.contains("the file has more than 2000000 elements"))
        let faults = refusal((0..<3000).map { "key\($0): 1\n" }.joined())
        #expect(faults.hasPrefix("belfry.yaml:1:1: unknown key \"key0\""))
        #expect(faults.hasSuffix("\nand 980 more"))
    }
}
