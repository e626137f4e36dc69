import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct `completion` {
    @Test(arguments: ["bash", "zsh", "fish"])
    func `comes as a script for each shell`(shell: String) async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("--generate-completion-script", shell)
        #expect(answer.code == 0)
        #expect(answer.errors.isEmpty)
        #expect(answer.lines.count > 100)
        for word in ["outbox", "history", "--follow"] where shell != "fish" || !word.hasPrefix("--") {
            #expect(answer.text.contains(word))
        }
        #expect(!answer.text.contains("widget"))
        if shell == "bash" {
            try belfry.write(answer.text, to: "completion")
            #expect(try await Shell.run("bash -n completion", in: belfry.folder.path) == 0)
        }
    }

    @Test func `offers the names the daemon knows`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              backup: { schedule: manual, command: ["true"] }
            """)
        let script = try await belfry.run("--generate-completion-script", "bash")
        try belfry.write(script.text, to: "completion")
        // As bash itself asks it when the tabulator is pressed behind `belfry job show ba`.
        let code = try await belfry.run(
            "exec", "--", "bash", "-c",
            """
            PATH="$(dirname "\(BuiltProgram.path("belfry"))"):$PATH"; . ~/completion
            COMP_WORDS=(belfry job show ba) COMP_CWORD=3 COMP_LINE="belfry job show ba" COMP_POINT=18
            _belfry; printf '%s\\n' "${COMPREPLY[@]}" | sed 's/ *$//'
            """)
        #expect(code.lines == ["backup"])
    }
}
