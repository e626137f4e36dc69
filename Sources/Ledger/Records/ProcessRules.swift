/// What the system gives a job's processes, beside their environment: who they are, and how much they may use.
///
/// A nil or empty field leaves what the warden itself has.
package struct ProcessRules: Hashable, Sendable, Codable {
    /// A user's name or number.
    package var user: String?
    /// The file mode mask, 0...0o777; nil: 022.
    package var umask: Int?
    /// The scheduling priority, -20 (first) to 19 (last).
    package var nice: Int?
    /// What they read; nil: nothing.
    package var input: JobInput?
    /// The most of each resource, in the unit that ``JobLimit`` names.
    package var limits: [JobLimit: Int]?

    /// Rules that change nothing.
    package init() {}

    /// Whether they change nothing.
    package var areNone: Bool { self == ProcessRules() }
}

/// What a job reads on its standard input.
package enum JobInput: Hashable, Sendable, Codable {
    /// This text, and then the end.
    case text(String)
    /// The file of this absolute path.
    case file(String)
}

/// What a job's processes may be kept from using too much of.
///
/// - Source: getrlimit(2).
package enum JobLimit: String, Hashable, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    /// Address space of one process, bytes.
    case memory
    /// Processor time of one process, seconds.
    case cpu
    /// Descriptors open in one process.
    case files
    /// Processes and threads of the same user.
    case processes
    /// The length of a file that is written, bytes.
    case fileSize
    /// The stack of a process's first thread, bytes.
    case stack
    /// A core dump, bytes.
    case core

    /// What a number of it counts.
    package enum Unit: Hashable, Sendable { case bytes, seconds, pieces }

    package var unit: Unit {
        switch self {
        case .memory, .fileSize, .stack, .core: .bytes
        case .cpu: .seconds
        case .files, .processes: .pieces
        }
    }
}
