import Glibc

/// The end of the program: a sentence, perhaps a mend, and the exit code.
struct Failure: Error {
    var message: String
    var mend: String?
    /// 1: something failed; 2: usage, or a refused configuration.
    var code: Int32
    /// What is printed instead for programs.
    var json: String?

    init(_ message: String, mend: String? = nil, code: Int32 = 1) {
        self.message = message
        self.mend = mend
        self.code = code
    }

    func end() -> Never {
        if let json {
            StandardError.write(json + "\n")
            exit(code)
        }
        var text = message.hasSuffix("\n") ? message : message + "\n"
        if let mend { text += "  mend: \(mend)\n" }
        StandardError.write(text)
        exit(code)
    }
}

/// Standard error, unbuffered.
enum StandardError {
    static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            // SAFE: the pointer is used within the call, for as many bytes as there are.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
