import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `the hook of a shell` {
    /// How each shell is started without anybody's settings, with the prompt `ready `, and how it reads the hook.
    private static let shells: [(name: String, start: String, reading: String)] = [
        ("bash", "PS1='ready ' bash --norc --noprofile -i", ". ./hook"),
        ("zsh", "PS1='ready ' zsh -f -i", ". ./hook"),
        (
            "fish", "fish --no-config -i --init-command 'function fish_prompt; echo -n \"ready \"; end'",
            "source hook"
        ),
    ]

    @Test(arguments: shells)
    func `notifies of a command that took long enough, and how it ended`(
        _ shell: (name: String, start: String, reading: String)
    ) async throws {
        // One that is not installed is not asked.
        guard try await Shell.run("command -v \(shell.name)", in: "/") == 0 else { return }
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        try belfry.write(
            (#"[["wait","ready"],["type","READ\r"],["wait","ready"],["type","false --long\r"],"#
                + #"["run","until belfry messages | grep -q -- --long; do sleep 0.1; done"],"#
                + #"["type","exit 0\r"]]"#).replacing("READ", with: shell.reading),
            to: "steps")
        let answer = try await belfry.shell(
            """
            belfry shell-hook \(shell.name) --after 0s >hook
            export TERM=dumb HISTFILE= XDG_DATA_HOME=$PWD
            exec '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" env \(shell.start)
            """)
        #expect(try answer.json()["failed"] == nil)
        var said: [String] = []
        while !said.contains(where: { $0.contains("false --long") }) {
            let event = try await events.event("message.posted")
            let message = try await belfry.json("messages", "show", event["subject"].text ?? "")
            said.append(message["text"].text ?? "")
        }
        #expect(said.last?.hasPrefix("false --long\nfailed after") == true)
        #expect(said.last?.hasSuffix("exit code 1") == true)
    }

    /// Without a daemon: the terminal is the user's own, over ssh too.
    @Test(arguments: [
        ("osc9", #"\u001b]9;false: failed after "#), ("osc777", #"\u001b]777;notify;false;failed after "#),
        ("osc99", #"\u001b]99;i=belfry:d=0;false\u001b\\\u001b]99;i=belfry:p=body;failed after "#),
    ])
    func `has the terminal itself notify, by choice`(way: String, notice: String) async throws {
        let belfry = try Belfry()
        try belfry.write(
            #"[["wait","ready"],["type",". ./hook\r"],["wait","ready"],["type","false --long\r"],"#
                + #"["wait","\#(notice)"],["type","exit 0\r"]]"#, to: "steps")
        let answer = try await belfry.shell(
            """
            belfry shell-hook bash --after 0s --notify \(way) >hook
            export TERM=dumb HISTFILE=
            unset TMUX
            exec '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" env PS1='ready ' bash --norc --noprofile -i
            """)
        #expect(try answer.json()["failed"] == nil, "\(answer)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `is a script that the shell accepts`(shell: String) async throws {
        let belfry = try Belfry()
        let script = try await belfry.run("shell-hook", shell, "--after", "90s")
        #expect(script.code == 0 && script.text.contains("90") && !script.text.contains("SECONDS_LIMIT"))
        let own = try await belfry.run("shell-hook", shell, "--notify", "osc9")
        #expect(own.text.contains("belfry shell-report --notify osc9 --code"))
        #expect(try await belfry.run("shell-hook", shell, "--notify", "loud").code == 2)
        try belfry.write(script.text, to: "hook")
        // A shell that is not installed is not asked.
        #expect(
            try await Shell.run(
                "if command -v \(shell) >/dev/null; then \(shell) -n hook; fi", in: belfry.folder.path) == 0)
    }

    @Test func `says nothing of programs one sits in, nor of what was interrupted`() async throws {
        let belfry = try await Belfry.start()
        for (line, code) in [
            ("vim notes", "0"), ("sudo /usr/bin/less x", "0"), ("make", "130"), ("python3 -i", "0"),
            ("bash", "1"),
        ] {
            let answer = try await belfry.run("shell-report", "--code", code, "--seconds", "60", "--", line)
            #expect(answer.code == 0)
        }
        try await belfry.run("shell-report", "--code", "0", "--seconds", "72", "--", "FOO=1 make -j4 all")
        let messages = try await belfry.json("messages").list
        #expect(messages.map { $0["text"].text } == ["FOO=1 make -j4 all\ndone in 1 min 12 s"])
        // What works is notified of, by whatever it is interpreted.
        try await belfry.run("shell-report", "--code", "0", "--seconds", "61", "--", "python3 -u train.py")
        #expect(try await belfry.json("messages").list.count == 2)
        #expect(messages.first?["thread"].text == "shell")
    }
}
