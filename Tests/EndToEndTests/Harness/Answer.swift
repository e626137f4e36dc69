import Foundation

/// What a command answered.
struct Answer: CustomStringConvertible {
    /// The exit code.
    let code: Int32
    /// Standard output, byte for byte.
    let bytes: [UInt8]
    /// Standard error.
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The lines of standard output.
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Standard output as JSON.
    ///
    /// - Throws: ``Refused`` with everything that was said when it is none.
    func json() throws -> JSON {
        do {
            return try JSON(text)
        } catch {
            throw Refused(answer: self)
        }
    }

    var description: String { "code \(code), output \"\(text)\", errors \"\(errors)\"" }
}

/// A command did not do what the test needed of it.
struct Refused: Error, CustomStringConvertible {
    var answer: Answer

    var description: String { answer.description }
}
