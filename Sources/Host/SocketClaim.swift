import CLinux
import Glibc

/// The right to be the only one who listens at a path, held until this object goes.
///
/// A socket's file says nothing about whether somebody listens, so it must not be replaced without this. The lock
/// file beside it, `PATH.lock`, stays: whoever removed it could take it from under another's hands.
package final class SocketClaim: Sendable {
    private let lock: StateLock

    /// Claims `path`; touches nothing there.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` with the process that claims it or answers there already.
    package init(_ path: String) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        do throws(HostError) {
            lock = try StateLock(folder: folder, name: name + ".lock")
        } catch .held(_, let pid) {
            throw .held(path: path, pid: pid)
        }
        // Somebody who takes no lock, such as a program of another kind.
        if let answering = try? LocalSocket.connect(path) {
            throw .held(path: path, pid: (try? LocalSocket.peer(of: answering))?.pid)
        }
    }
}
