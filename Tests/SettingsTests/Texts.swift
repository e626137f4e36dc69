import Ledger
import Settings
import Testing

@Suite struct `a text of a file` {
    @Test(arguments: [
        "22:30", "on", "1e3", "0x10", "~", "null", "no", "1_000", "2026-11-21", ".inf", "0o7", "=",
    ])
    func `stays the text it is`(text: String) throws {
        let configuration = try read(
            "jobs: { a: { schedule: manual, command: [\(text)], env: { A: \(text) } } }")
        #expect(configuration.jobs.first?.spec.action == .command([text]))
        #expect(configuration.jobs.first?.spec.environment == ["A": text])
    }

    @Test func `may be a name that YAML would take for something else`() throws {
        let names = try read(
            "jobs: { on: { schedule: manual, shell: date }, 7: { schedule: manual, shell: date } }"
        )
        .jobs.map(\.spec.name)
        #expect(names == ["on", "7"])
    }

    @Test func `may be a block of lines`() throws {
        let configuration = try read(
            "jobs:\n  a:\n    schedule: manual\n    shell: |\n      one\n      two\n")
        #expect(configuration.jobs.first?.spec.action == .shell("one\ntwo\n"))
    }

    @Test func `may be shared by an alias`() throws {
        let configuration = try read(
            """
            jobs:
              a: { schedule: manual, shell: date, env: &both { A: "1" } }
              b: { schedule: manual, shell: date, env: *both }
            """)
        #expect(configuration.jobs.map(\.spec.environment) == [["A": "1"], ["A": "1"]])
    }

    @Test func `may be missing where a section is empty`() throws {
        let configuration = try read("zone: UTC\nbots:\njobs:\nchannels:\nroutes:\n")
        #expect(configuration.jobs.isEmpty)
        #expect(try read("").channels.map(\.name) == ["desk"])
        #expect(try read("# nothing\n---\n").channels.map(\.name) == ["desk"])
    }
}
