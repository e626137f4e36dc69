import Glibc
import Synchronization
import Tracking

/// A provider of bots on this machine, in OpenAI's dialect: writes each reply word by word, and remembers when.
///
/// A reply begins with a name of its own, such as `reply-7`: whoever sees a part of it knows which one it is.
final class BareProvider: Sendable {
    /// How a reply is written.
    struct Pace: Sendable {
        /// Words after the first.
        var words: Int
        /// Before each of them, in milliseconds.
        var pause: Int
    }

    /// A reply that was asked for.
    struct Reply: Sendable {
        /// The model that was asked, which is the bot's name here.
        var model: String
        /// What was asked last.
        var prompt: String
        /// Just before its first word was written.
        var first: ContinuousClock.Instant?
        /// Just after its last byte was; nil: the client left before.
        var last: ContinuousClock.Instant?
    }

    /// The replies, shared with the threads that write them.
    private final class Book: Sendable {
        let replies = Mutex<[Reply]>([])
    }

    private let book: Book
    private let receiver: BareReceiver

    /// Listens; `pace` is how such a question is replied to.
    init(_ pace: @escaping @Sendable (Reply) -> Pace) throws {
        let book = Book()
        self.book = book
        receiver = try BareReceiver { request in
            guard let (model, prompt) = Self.question(in: request) else { return .status("400 Bad Request") }
            let reply = Reply(model: model, prompt: prompt)
            let number = book.replies.withLock { replies in
                replies.append(reply)
                return replies.count - 1
            }
            let pace = pace(reply)
            return .stream { write in Self.write(number, pace, book, write) }
        }
    }

    /// The port it listens on.
    var port: UInt16 { receiver.port }

    /// All that was asked for, in that order; `reply-0` is the first.
    var replies: [Reply] { book.replies.withLock { $0 } }

    /// A bot that it answers for, as a line of a configuration.
    func bot(_ name: String) -> String {
        """
        \(name): { backend: { kind: openai, url: "http://127.0.0.1:\(port)/v1", allow: [127.0.0.1/32] }, model: \(name) }
        """
    }

    /// The numbers that follow each `word` in a text, such as those of the replies after `reply-`.
    static func numbers(after word: String, in text: String) -> [Int] {
        text.split(separator: word, omittingEmptySubsequences: false).dropFirst()
            .compactMap { Int($0.prefix { $0.isNumber }) }
    }

    private static func question(in request: ArraySlice<UInt8>) -> (model: String, prompt: String)? {
        guard let end = request.firstRange(of: Array("\r\n\r\n".utf8)),
            let body = JSON(parsing: request[end.upperBound...], repairing: true),
            let model = body["model"]?.text
        else { return nil }
        return (model, body["messages"]?.elements.last?["content"]?.text ?? "")
    }

    private static func write(
        _ number: Int, _ pace: Pace, _ book: Book, _ write: (String) -> Bool
    ) {
        book.replies.withLock { $0[number].first = .now }
        guard write(chunk("{\"content\":\"reply-\(number)\"}", "null")) else { return }
        for word in 1...max(1, pace.words) {
            usleep(UInt32(pace.pause * 1000))
            guard write(chunk("{\"content\":\" word-\(word)\"}", "null")) else { return }
        }
        guard write(chunk("{}", "\"stop\"") + "data: [DONE]\n\n") else { return }
        book.replies.withLock { $0[number].last = .now }
    }

    private static func chunk(_ delta: String, _ reason: String) -> String {
        "data: {\"choices\":[{\"index\":0,\"delta\":\(delta),\"finish_reason\":\(reason)}]}\n\n"
    }
}
