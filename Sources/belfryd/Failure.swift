import Glibc
import Host

/// The end of the program: a sentence, perhaps a hint, and the exit code.
struct Failure: Error {
    var message: String
    var hint: String?
    /// 1: something failed; 2: usage, or a refused configuration.
    var code: Int32
    /// What is printed instead for programs.
    var json: String?

    init(_ message: String, hint: String? = nil, code: Int32 = 1) {
        self.message = message
        self.hint = hint
        self.code = code
    }

    func end() -> Never {
        if let json {
            StandardError.print(json)
            exit(code)
        }
        let text = message.hasSuffix("\n") ? message : message + "\n"
        StandardError.write(text + (hint.map { "  hint: \($0)\n" } ?? ""))
        exit(code)
    }
}

extension StandardOutput {
    /// Writes `text` and a line end; ends the program with 1 and the reason where that can't be done.
    static func print(_ text: String) {
        do throws(HostError) {
            try send(Array((text + "\n").utf8))
        } catch {
            // As the signal would, where it is ignored.
            if error.code == EPIPE { exit(128 + SIGPIPE) }
            Failure("belfryd: standard output can't be written: \(error.reason)").end()
        }
    }
}
