/// One line of the table of errors.
package struct ErrorRow: Hashable, Sendable {
    /// The HTTP status it is answered with.
    package var status: Int
    /// What a script branches on.
    package var kind: ErrorKind
    /// What `belfry` exits with: 1 failed, 2 usage, 3 no daemon, 4 not found, 5 refused, 6 timed out.
    package var exitCode: Int32
    /// What is said when nothing better is known; begins small, ends without a full stop.
    package var sentence: String
    /// The command that helps, where one does.
    package var command: String?

    init(_ status: Int, _ kind: ErrorKind, exit: Int32, _ sentence: String, _ command: String? = nil) {
        self.status = status
        self.kind = kind
        self.exitCode = exit
        self.sentence = sentence
        self.command = command
    }
}
