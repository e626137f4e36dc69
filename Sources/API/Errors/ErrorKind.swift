/// What sort of error it is; what a script branches on.
package enum ErrorKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The request can't be understood, or a value in it is refused.
    case badRequest
    /// The behaviour belongs to a later version.
    case notInThisVersion
    /// The configuration is refused.
    case badConfig
    /// The named thing does not exist.
    case notFound
    /// A policy, or the state of things, refuses it.
    case refused
    /// It took too long, or its time is over.
    case expired
    /// The daemon can't do it now.
    case unavailable
    /// No daemon answers.
    case noDaemon
    /// What was to be printed could not be written.
    case outputLost
    /// A fault of Belfry itself.
    case internalFault
}
