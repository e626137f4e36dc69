import Testing
import Tracking

@Suite struct `a program that is nowhere` {
    @Test(arguments: [("foo", "/usr/bin:/bin"), ("a\"b", "/bin"), ("foo", ""), ("in", "/a \" in /b")])
    func `is named on a line without the folders it was looked for in`(name: String, path: String) {
        let missing = MissingProgram(name, in: path)
        #expect(missing.sentence == "no program \"\(name)\" in \(path)")
        #expect(missing.headline == "no program \"\(name)\"")
        #expect(MissingProgram.headline(of: missing.sentence) == missing.headline)
    }

    @Test(arguments: ["", "no program", "no program \"", "no program \"foo\"", "/x does not exist"])
    func `is not seen in another text`(text: String) {
        #expect(MissingProgram(text) == nil)
        #expect(MissingProgram.headline(of: text) == text)
    }
}
