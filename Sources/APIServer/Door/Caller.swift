/// Who makes the request that is answered by this task.
///
/// On the control socket nobody is asked who they are; over TCP it is the token.
enum Caller {
    /// The token's name; nil: there is none, or the request came over the control socket.
    @TaskLocal static var token: String?

    /// How an answer, or a reading, of this caller is signed: a token never speaks in another's name.
    static func place(named claimed: String?, else usual: String) -> String {
        token.map { "token \($0)" } ?? claimed ?? usual
    }
}
