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
            StandardError.write(json + "\n")
            exit(code)
        }
        var text = message.hasSuffix("\n") ? message : message + "\n"
        if let hint { text += "  hint: \(hint)\n" }
        StandardError.write(text)
        exit(code)
    }
}

/// Standard output, unbuffered.
enum StandardOutput {
    /// Writes `text` and a line end; ends the program with 1 and the reason where that can't be done.
    static func print(_ text: String) {
        do throws(HostError) {
            try Descriptor.writeAll(Array((text + "\n").utf8)[...], to: STDOUT_FILENO)
        } catch {
            // As the signal would, where it is ignored.
            if error.code == EPIPE { exit(128 + SIGPIPE) }
            Failure("belfryd: standard output can't be written: \(error.reason)").end()
        }
    }
}

/// Standard error, unbuffered; what can't be written there can't be reported anywhere.
enum StandardError {
    static func write(_ text: String) {
        try? Descriptor.writeAll(Array(text.utf8)[...], to: STDERR_FILENO)
    }
}
