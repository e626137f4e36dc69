import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `completion` {
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
        #expect(!answer.text.contains("shell-report") && !answer.text.contains("terminal-guard"))
        if shell == "bash" {
            try belfry.write(answer.text, to: "completion")
            #expect(try await Shell.run("bash -n completion", in: belfry.folder.path) == 0)
        }
    }

    @Test(arguments: [("bash", "JOB|"), ("zsh", "'JOB:"), ("fish", "-fa 'JOB'")])
    func `offers no word that stands for a job's name`(shell: String, word: String) async throws {
        let script = try await Belfry().run("--generate-completion-script", shell).text
        #expect(!script.contains(word) && !script.contains("'JOB "))
        #expect(script.contains("---completion run JOB"))
    }

    @Test(arguments: [
        ("job show ba", ["backup"]), ("run show bac", ["backup", "backup#1"]),
        ("job add x --umas", ["--umask"]), ("job exp", ["export"]), ("job export ba", ["backup"]),
        ("channel test ", ["bell"]),
        ("job add x --catch-up a", ["all"]), ("runs ba", ["backup"]), ("run ba", ["backup"]),
        ("run backup --fol", ["--follow"]), ("run show backup#1 --js", ["--json"]),
        (
            "run ",
            ["--help", "--version", "-h", "backup", "cancel", "logs", "pause", "resume", "retry", "show"]
        ),
    ])
    func `offers the names the daemon knows`(typed: String, offered: [String]) async throws {
        let belfry = try Belfry()
        try belfry.write(
            """
            channels: { bell: { kind: desktop } }
            jobs: { backup: { schedule: manual, command: ["true"] } }
            """, to: "belfry.yaml")
        try await belfry.start()
        try await belfry.run("run", "backup", "--follow")
        let script = try await belfry.run("--generate-completion-script", "bash")
        try belfry.write(script.text, to: "completion")
        // As bash itself asks it when the tabulator is pressed behind what was typed.
        let words =
            ["belfry"] + typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let code = try await belfry.run(
            "exec", "--", "bash", "-c",
            """
            PATH="$(dirname "\(BuiltProgram.path("belfry"))"):$PATH"; . ~/completion
            COMP_WORDS=(\(words.map { $0.isEmpty ? "''" : $0 }.joined(separator: " ")))
            COMP_CWORD=\(words.count - 1) COMP_LINE="belfry \(typed)" COMP_POINT=\(typed.utf8.count + 7)
            n=$COMP_CWORD; _belfry belfry "${COMP_WORDS[n]}" "${COMP_WORDS[n-1]}"; printf '%s\\n' "${COMPREPLY[@]}" | sed 's/ *$//'
            """)
        #expect(code.lines.sorted() == offered)
    }
}
