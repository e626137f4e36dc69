import Glibc
import Host
import TestSupport
import Testing

@Suite struct `a socket` {
    @Test func `is claimed by one listener, and a second one learns which`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        let claim = try SocketClaim(path)
        #expect(throws: HostError.held(path: path, pid: getpid())) { try SocketClaim(path) }
        _ = consume claim
        _ = try SocketClaim(path)
    }

    @Test func `is not claimed from one who listens without a claim`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        let listener = try LocalSocket.listen(path)
        #expect(throws: HostError.held(path: path, pid: getpid())) { try SocketClaim(path) }
        _ = consume listener
        // What a listener that has ended left behind.
        _ = try SocketClaim(path)
    }

    @Test func `is removed by its own listener only`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        _ = try LocalSocket.listen(path)
        let mine = try FileIdentity(at: path)
        #expect(unsafe rename(path, folder.file("kept")) == 0)
        _ = try LocalSocket.listen(path)
        #expect(!mine.remove(path))
        #expect(unsafe access(path, F_OK) == 0)
        #expect(try FileIdentity(at: path).remove(path))
        #expect(unsafe access(path, F_OK) != 0)
    }
}
