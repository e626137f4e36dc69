import Logging

/// The daemon's log: lines on standard error, as a service manager collects them.
enum Log {
    /// A logger of at least `level`; an unknown level is refused.
    static func make(level: String) throws(Failure) -> Logger {
        guard let level = Logger.Level(rawValue: level) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure("belfryd: \"\(level)\" is no log level; use one of \(levels)", code: 2)
        }
        var logger = Logger(label: "belfryd") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = level
        return logger
    }
}
