import Testing
import Tracking

/// What a job printed, lines separated by `/` and slashes written `#`, and the line that explains why it failed.
private let outputs: [(output: String, line: String)] = [
    // Plain lines.
    ("no tape in the drive", "no tape in the drive"),
    ("copying a/copying b/no tape in the drive", "no tape in the drive"),
    ("no tape in the drive//   /", "no tape in the drive"),
    ("no tape in the drive/------/}", "no tape in the drive"),
    ("no tape in the drive/hint: insert one", "no tape in the drive"),
    ("warning: the tape is old/no tape in the drive", "no tape in the drive"),
    ("note: verbose", "note: verbose"),
    ("----", "----"),
    // Marks.
    ("error: disk full/cleaning up", "error: disk full"),
    ("Error: disk full/cleaning up/bye", "Error: disk full"),
    (
        "fatal: not a git repository (or any of the parent directories): .git/bye",
        "fatal: not a git repository (or any of the parent directories): .git"
    ),
    ("E: Unable to locate package nothing/W: later", "E: Unable to locate package nothing"),
    (
        "2026-11-23 03:00:01 ERROR db: no connection/2026-11-23 03:00:02 INFO stopping",
        "2026-11-23 03:00:01 ERROR db: no connection"
    ),
    ("[ERROR] plugin is missing/done", "[ERROR] plugin is missing"),
    ("level=error msg=\"no route\"/level=info msg=bye", "level=error msg=\"no route\""),
    ("{\"level\":\"error\",\"msg\":\"x\"}/{\"level\":\"info\"}", "{\"level\":\"error\",\"msg\":\"x\"}"),
    ("CRITICAL raid degraded/checked 3 arrays", "CRITICAL raid degraded"),
    (
        "FAILED tests#test_a.py::test_one - assert 1 == 2/1 failed, 2 passed in 0.1s",
        "FAILED tests#test_a.py::test_one - assert 1 == 2"
    ),
    (
        "error[E0382]: borrow of moved value: `a`/error: could not compile `x` due to previous error",
        "error[E0382]: borrow of moved value: `a`"
    ),
    (
        "main.c:3:5: error: expected ';'/make: *** [Makefile:2: main.o] Error 1",
        "main.c:3:5: error: expected ';'"
    ),
    ("psql: error: connection to server failed/bye", "psql: error: connection to server failed"),
    (
        "docker: Error response from daemon: no such image./See 'docker run --help'.",
        "docker: Error response from daemon: no such image."
    ),
    (
        "npm ERR! code E404/npm ERR! 404 Not Found - GET x/npm ERR! A complete log of this run can be found in: y",
        "npm ERR! 404 Not Found - GET x"
    ),
    ("not ok 3 - adds/# 1 of 3", "not ok 3 - adds"),
    // What usually is one.
    ("cat: #etc#none: No such file or directory/2 files read", "cat: #etc#none: No such file or directory"),
    ("#run.sh: line 3: foo: command not found/bye", "#run.sh: line 3: foo: command not found"),
    ("sh: 1: foo: not found/bye", "sh: 1: foo: not found"),
    ("bash: #root#x: Permission denied/bye", "bash: #root#x: Permission denied"),
    (
        "curl: (6) Could not resolve host: example.invalid/bye",
        "curl: (6) Could not resolve host: example.invalid"
    ),
    (
        "ssh: connect to host h port 22: Connection refused/lost connection",
        "ssh: connect to host h port 22: Connection refused"
    ),
    (
        "cp: error writing 'x': No space left on device/0 done",
        "cp: error writing 'x': No space left on device"
    ),
    ("cannot open the drive/ejecting", "cannot open the drive"),
    ("unable to lock the repository/bye", "unable to lock the repository"),
    ("backup timed out/bye", "backup timed out"),
    (
        "rsync: [sender] link_stat \"#x\" failed: No such file or directory (2)/"
            + "rsync error: some files were not transferred (code 23) at main.c(1338)",
        "rsync: [sender] link_stat \"#x\" failed: No such file or directory (2)"
    ),
    (
        "tar: #x: Cannot open: No such file or directory/tar: Exiting with failure status due to previous errors",
        "tar: #x: Cannot open: No such file or directory"
    ),
    // Only a summary.
    ("building/make: *** [all] Error 2", "make: *** [all] Error 2"),
    ("building/script returned exit code 2/bye", "script returned exit code 2"),
    // Exceptions, panics, crashes.
    (
        "Traceback (most recent call last):/  File \"a.py\", line 1, in <module>/    f()/ValueError: no such column",
        "ValueError: no such column"
    ),
    (
        "Traceback (most recent call last):/  File \"a.py\", line 1/    f()/app.Boom: it broke/exit",
        "app.Boom: it broke"
    ),
    (
        "Traceback (most recent call last):/  File \"a.py\", line 1/KeyError: 'a'/"
            + "During handling of the above exception, another exception occurred:/"
            + "Traceback (most recent call last):/  File \"a.py\", line 2/RuntimeError: no config",
        "RuntimeError: no config"
    ),
    ("Traceback (most recent call last):/  File \"a.py\", line 1/KeyboardInterrupt", "KeyboardInterrupt"),
    (
        "#app.js:3/    throw x/    ^/TypeError: x is not a function/    at f (#app.js:3:1)/Node.js v18.19.0",
        "TypeError: x is not a function"
    ),
    (
        "Exception in thread \"main\" java.lang.IllegalStateException: no pool/\tat a.B.c(B.java:3)/"
            + "Caused by: java.net.ConnectException: refused/\tat d.E.f(E.java:4)",
        "Caused by: java.net.ConnectException: refused"
    ),
    (
        "panic: runtime error: index out of range/goroutine 1 [running]:/\tmain.go:5 +0x1d/exit status 2",
        "panic: runtime error: index out of range"
    ),
    (
        "thread 'main' panicked at 'boom', src#main.rs:2:5/note: run with `RUST_BACKTRACE=1`",
        "thread 'main' panicked at 'boom', src#main.rs:2:5"
    ),
    ("thread 'main' panicked at src#main.rs:2:5:/boom/note: run with `RUST_BACKTRACE=1`", "boom"),
    (
        "#x.sh: line 2: 4242 Segmentation fault (core dumped) .#boom/bye",
        "#x.sh: line 2: 4242 Segmentation fault (core dumped) .#boom"
    ),
    // What sounds like one and is none.
    ("12 checks, 0 errors/no tape in the drive", "no tape in the drive"),
    ("no errors found/no tape in the drive", "no tape in the drive"),
    ("3 passed, 0 failed/no tape in the drive", "no tape in the drive"),
    ("10 errors in total/cannot continue/bye", "cannot continue"),
]

private func lines(_ text: String) -> LastLines {
    LastLines(text.replacing("/", with: "\n").replacing("#", with: "/").utf8)
}

@Suite struct `the line that explains a failure` {
    @Test(arguments: outputs)
    func `is the clearest error, else the last line`(_ output: String, _ line: String) {
        #expect(FailureLine.find(in: lines(output)) == line.replacing("#", with: "/"))
    }

    @Test func `is found for more than forty kinds of output`() { #expect(outputs.count > 40) }

    @Test func `is the last line of standard error, where that is known, and no line is an error`() {
        #expect(FailureLine.find(in: lines("tape 3/bye"), errors: lines("no tape")) == "no tape")
        #expect(
            FailureLine.find(in: lines("error: disk full/bye"), errors: lines("no tape"))
                == "error: disk full")
        #expect(FailureLine.find(in: lines("error: a/bye"), errors: lines("fatal: b/no tape")) == "fatal: b")
    }

    @Test func `is none where nothing was printed`() {
        #expect(FailureLine.find(in: LastLines([])) == nil)
        #expect(FailureLine.find(in: lines("/ / ")) == nil)
    }
}

@Suite struct `the last lines of a run` {
    @Test func `are clean, and hold what a carriage return leaves on the screen`() {
        let lines = LastLines("10%\r50%\r100%\r\n\u{1B}[31mred\u{1B}[0m\u{7}\n\n \tb\u{202E}c \n".utf8)
        #expect(lines.lines.map(\.text) == ["100%", "red", "bc"])
        #expect(lines.text() == "100%\nred\nbc")
        #expect(lines.text(most: 1) == "bc")
        #expect(lines.lines.map(\.isIndented) == [false, false, true])
    }

    @Test func `are at most 2,048 bytes, whole lines, the newest`() throws {
        let text = try #require(LastLines((0..<400).map { "line \($0)" }.joined(separator: "\n").utf8).text())
        #expect(text.utf8.count <= LastLines.textLimit && text.utf8.count > 1900)
        #expect(text.hasSuffix("line 399") && text.hasPrefix("line "))
        let long = try #require(LastLines(String(repeating: "é", count: 3000).utf8).text())
        #expect(long.utf8.count <= LastLines.textLimit)
    }

    @Test func `leave out the first line where it may be the rest of one`() {
        let bytes = Array(repeating: UInt8(ascii: "x"), count: LastLines.byteLimit - 4) + Array("\nend".utf8)
        #expect(LastLines(bytes).lines.map(\.text) == ["end"])
    }

    @Test func `do not show what is hidden, also where it is cut in two`() {
        let hidden = HiddenTexts(["hunter2", "hunter22", "ab", "-----BEGIN\nabcdefghij\n}\n"])
        #expect(
            LastLines("a hunter2 b hunter22\nabcdefghij ab }".utf8, hiding: hidden).text()
                == "a *** b ***\n*** ab }")
        let cut = Array("ter2".utf8) + Array(repeating: UInt8(ascii: "x"), count: LastLines.byteLimit - 4)
        #expect(
            LastLines(cut, hiding: HiddenTexts(["hunter2"])).lines.allSatisfy { !$0.text.contains("ter2") })
    }

    @Test(arguments: ["\u{1B}[1m", "\0", "\r", "\u{8}", "\u{1B}]0;x\u{7}", "\u{200B}", "\u{85}", "\u{202E}"])
    func `do not show what is hidden with something invisible inside it`(inside: String) {
        let hidden = HiddenTexts(["SEKRET-hunter2"])
        let printed = "error: SEKRET-\(inside)hunter2 bad"
        #expect(LastLines(printed.utf8, hiding: hidden).text() == "error: *** bad")
        #expect(hidden.clean(printed) == "error: *** bad")
    }

    @Test(arguments: ["", "\u{1B}[1m", "\0", "\r", "\u{8}\u{8}", "\u{1B}]0;x\u{7}", "\r\u{1B}[2K"])
    func `do not show what is hidden where the tail begins inside it`(inside: String) {
        let secret = Array("SEKRET-\(inside)hunter2".utf8)
        for cut in 1..<secret.count {
            let rest = secret[cut...] + Array(repeating: UInt8(ascii: "x"), count: LastLines.byteLimit)
            let lines = LastLines(rest.prefix(LastLines.byteLimit), hiding: HiddenTexts(["SEKRET-hunter2"]))
            #expect(lines.lines.allSatisfy { $0.text.allSatisfy { $0 == "x" || $0 == "…" } }, "\(cut)")
        }
    }
}

@Suite struct `what a job prints in pieces` {
    private static let hidden = HiddenTexts(["SEKRET-hunter2", "SEKRET", "ab\ncd"])

    private func shown(_ pieces: [[UInt8]]) -> String {
        var stream = HidingStream(Self.hidden)
        let bytes = pieces.flatMap { stream.hide($0) } + stream.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: ["", "\u{1B}[1m", "\0", "\r", "\u{8}", "\u{1B}]0;x\u{7}", "\u{1B}(B", "\r\0\u{1B}[2K"])
    func `shows no secret, wherever it is cut`(inside: String) {
        for text in [
            "is SEKRET-hun\(inside)ter2!\n", "is SE\(inside)KRET!\n", "is a\(inside)b\nc\(inside)d!\n",
        ] {
            let bytes = Array(text.utf8)
            for first in 0...bytes.count {
                for second in first...bytes.count {
                    let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]].map { Array($0) }
                    #expect(shown(pieces) == "is ***!\n", "\(first) \(second)")
                }
            }
        }
    }

    @Test func `is passed on at once where it can be no secret, and never held for long`() {
        var stream = HidingStream(Self.hidden)
        #expect(stream.hide(Array("10%\n".utf8)) == Array("10%\n".utf8))
        #expect(stream.hide(Array("20% SEK".utf8)) == Array("20% ".utf8))
        #expect(stream.hide(Array("T\n".utf8)) == Array("SEKT\n".utf8))
        #expect(stream.hide(Array("SEK".utf8)).isEmpty)
        #expect(stream.hide(Array(repeating: 0, count: 9000)) == Array("***".utf8))
        #expect(stream.finish().isEmpty)
        #expect(stream.hide(Array("SEKRE".utf8)).isEmpty && stream.finish() == Array("SEKRE".utf8))
    }
}

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
