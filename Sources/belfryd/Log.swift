import Host
import Logging
import Timeline

/// The daemon's log: lines on standard error, as a service manager collects them.
enum Log {
    /// A logger of at least `level`; an unknown level is refused.
    static func make(level: String) throws(Failure) -> Logger {
        guard let level = Logger.Level(rawValue: level) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure("belfryd: \"\(level)\" is no log level; use one of \(levels)", code: 2)
        }
        var logger = Logger(label: "belfryd") { _ in LogLines() }
        logger.logLevel = level
        return logger
    }
}

/// Writes `TIME LEVEL MESSAGE KEY=VALUE ...` to standard error, the keys in order.
struct LogLines: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var details = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { details["error"] = "\(error)" }
        let pairs = details.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.word(of: $0.value))" }
        let time = Moment(seconds: Moment.now.seconds).iso8601
        StandardError.print("\(time) \(event.level) \(event.message)\(pairs.joined())")
    }

    /// The value, in quotation marks where it would not be one word.
    private static func word(of value: Logger.Metadata.Value) -> String {
        let text = "\(value)"
        let isWord = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" }
        guard !isWord else { return text }
        return "\"" + text.unicodeScalars.map { $0 == "'" ? "'" : $0.escaped(asASCII: false) }.joined() + "\""
    }
}
