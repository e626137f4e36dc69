/// What a process may be kept from using too much of.
///
/// The raw values are the protocol; they are Linux's numbers of the same limits.
/// - Source: getrlimit(2).
package enum ResourceLimit: Int, Hashable, Sendable, CaseIterable {
    /// Processor time of one process, in seconds.
    case cpuSeconds = 0
    /// The length of a file it writes, in bytes.
    case fileBytes = 1
    /// The stack of its first thread, in bytes.
    case stackBytes = 3
    /// A core dump, in bytes.
    case coreBytes = 4
    /// Processes and threads of the same user, also those outside the run.
    case processes = 6
    /// Descriptors open at a time.
    case descriptors = 7
    /// Address space of one process, in bytes.
    case memoryBytes = 9
}
