import Glibc
import Host
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a socket` {
    /// Claims it as soon as a child of another test, which holds all that is open until it runs its program, lets go.
    private func claim(_ path: String) throws {
        while true {
            do throws(HostError) {
                _ = try SocketClaim(path)
                return
            } catch {
                guard case .held = error else { throw error }
                sched_yield()
            }
        }
    }

    @Test func `is claimed by one listener, and a second one learns which`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        let claim = try SocketClaim(path)
        #expect(throws: HostError.held(path: path, pid: getpid())) { try SocketClaim(path) }
        _ = consume claim
        try self.claim(path)
    }

    @Test func `is not claimed from one who listens without a claim`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        let listener = try LocalSocket.listen(path)
        #expect(throws: HostError.held(path: path, pid: getpid())) { try SocketClaim(path) }
        _ = consume listener
        // What a listener that has ended left behind.
        try claim(path)
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
