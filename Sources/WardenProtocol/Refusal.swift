/// Why an attempt was not started.
///
/// Nothing ran and no record of it is kept.
package enum Refusal: Int, Hashable, Sendable, CaseIterable {
    /// No such program, or a script whose interpreter is missing.
    case notFound = 1
    /// The file is there but may not be run, or is not a program.
    case notExecutable = 2
    /// The folder to start in is missing or closed to us.
    case badFolder = 3
    /// Where the output should go cannot be written.
    case badOutput = 4
    /// The order contradicts itself: no command, a NUL in a text, a key that cannot name a file.
    case badOrder = 5
    /// The arguments and the environment together are longer than the kernel takes.
    case tooLong = 6
    /// Out of processes, descriptors, memory or space for the record. May pass.
    case exhausted = 7
    /// The file it should read from cannot be opened.
    case badInput = 8
    /// This machine has no such user.
    case noSuchUser = 9
    /// The warden may not do it: another user, a better priority, a higher limit.
    case notPermitted = 10
    /// A process of an earlier attempt of the run still lives; it may go.
    case stillAlive = 11
    /// Something else; the text says what. Also what an unknown reason of a newer warden reads as.
    case other = 0
}
