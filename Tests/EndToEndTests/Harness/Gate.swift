import Glibc
import Host
import TestSupport

/// Where a job waits until the test lets it go on: `read line < $GATE` returns once for every ``open()``;
/// or the other way round.
///
/// All waiting ends when this is let go.
final class Gate: Sendable {
    /// The path of the named pipe.
    let path: String
    private let pipe: Descriptor

    /// Makes a gate called `name` in `folder`.
    init(_ name: String = "gate", in folder: TemporaryFolder) throws {
        path = folder.file(name)
        guard unsafe mkfifo(path, 0o600) == 0 else { throw HostError.last("mkfifo", path) }
        // Both ends, so that neither side waits for the other to open it.
        pipe = try Descriptor.open(path, O_RDWR)
    }

    /// Lets one job pass.
    func open() throws {
        try pipe.writeAll([0x0A])
    }

    /// Waits until a job says `echo > $GATE`.
    func passed() async throws {
        let reader = try ChildProcess("sh", ["-c", "read line < '\(path)'"])
        guard await reader.status() == 0 else { throw Feed.Ended() }
    }
}
