import Delivery
import Ledger
import Settings
import Testing
import Tracking

@Suite struct `what a job of a file says` {
    private func spec(_ line: String) throws -> JobSpec? {
        try read("jobs:\n  a:\n    schedule: manual\n    shell: date\n    \(line)\n").jobs.first?.spec
    }

    @Test(arguments: [
        ("notify: { message: output }", OutputMessage.lastLine),
        ("notify: { message: output, output: last-line }", .lastLine),
        ("notify: { message: output, output: tail }", .tail),
        ("notify: { output: all, message: output }", .all),
    ])
    func `is its output, as much as it wants`(line: String, part: OutputMessage) throws {
        #expect(try spec(line)?.outputMessage == part)
    }

    @Test(arguments: [
        ("notify: { when: [failed, completed] }", NotifyWish.only([.completed, .failed])),
        ("notify: { when: recovered }", .only([.recovered])), ("notify: { when: none }", .never),
        ("notify: { when: [] }", .never), ("notify: { after: 1m }", nil),
    ])
    func `is the outcomes that it names alone`(line: String, wish: NotifyWish?) throws {
        let spec = try #require(try spec(line))
        #expect(spec.notify == wish)
        let again: JobSpec = try JSON.decode(from: try JSON.encode(spec))
        #expect(again == spec)
    }

    @Test(arguments: [
        ("notify: { when: [failed, started] }", "\"started\" is not known here"),
        ("notify: { when: [done] }", "notify.when"),
        ("notify: { output: tail }", "applies only to message: output"),
        ("notify: { message: none }", "\"none\" is not known here"),
        ("notify: { message: output, output: head }", "\"head\" is not known here"),
        ("env: { A: { file: relative } }", "must be an absolute path"),
        ("env: { A: { path: /x } }", "path"), ("env: { A: [x] }", "text"),
    ])
    func `is refused with the reason`(line: String, fault: String) {
        let refusal = refusal("jobs:\n  a:\n    schedule: manual\n    shell: date\n    \(line)\n")
        #expect(refusal.contains(fault))
    }

    @Test func `holds secrets of files by their paths alone`() throws {
        let spec = try spec("env: { A: x, TOKEN: { file: /etc/token } }")
        #expect(spec?.environment == ["A": "x"] && spec?.secretFiles == ["TOKEN": "/etc/token"])
    }
}
