import Glibc
import Host
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a local socket` {
    @Test func `carries bytes and an open file to the other side`() throws {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("x"), with: Array("inside".utf8))
        let listener = try LocalSocket.listen(folder.file("s"))
        #expect(try LocalSocket.accept(listener) == nil)
        let here = try LocalSocket.connect(folder.file("s"))
        let there = try #require(try LocalSocket.accept(listener))
        let peer = try LocalSocket.peer(of: there)
        #expect(peer.pid == getpid())
        #expect(peer.userID == geteuid())

        let file = try Descriptor.open(folder.file("x"), O_RDONLY)
        #expect(try LocalSocket.send(Array("first".utf8)[...], over: here) == 5)
        #expect(try LocalSocket.send(Array("with".utf8)[...], over: here, passing: file) == 4)
        var buffer = [UInt8](repeating: 0, count: 64)
        var received: [Descriptor] = []
        var bytes: [UInt8] = []
        while case .bytes(let count) = try LocalSocket.receive(
            from: there, into: &buffer, received: &received)
        {
            bytes += buffer[..<count]
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "firstwith")
        #expect(try received.first?.read(into: &buffer) == .bytes(6))
        #expect(String(decoding: buffer[..<6], as: UTF8.self) == "inside")
    }

    @Test func `reports when the other side is full, and when it closed`() throws {
        let folder = try TemporaryFolder()
        let listener = try LocalSocket.listen(folder.file("s"))
        let here = try LocalSocket.connect(folder.file("s"))
        var there = try LocalSocket.accept(listener)
        let block = [UInt8](repeating: 1, count: 1 << 16)
        var sent = 0
        while case let count = try LocalSocket.send(block[...], over: here), count > 0 { sent += count }
        #expect(sent > 0)
        #expect(there != nil)
        there = nil
        #expect(throws: HostError.system(call: "send", code: EPIPE, path: nil)) {
            try LocalSocket.send(block[...], over: here)
        }
    }

    @Test func `is refused where nobody listens, and where its path is too long`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("s")
        #expect(throws: HostError.system(call: "connect", code: ENOENT, path: path)) {
            try LocalSocket.connect(path)
        }
        let long = folder.file(String(repeating: "x", count: 100))
        #expect(throws: HostError.socketPathTooLong(path: long)) { try LocalSocket.listen(long) }
    }

    @Test func `wakes a poll, as does a bell`() throws {
        let folder = try TemporaryFolder()
        let listener = try LocalSocket.listen(folder.file("s"))
        let poll = try EventPoll()
        let bell = try WakeUp()
        try poll.add(listener.raw, 1)
        try poll.add(bell.raw, 2)
        #expect(try poll.wait(milliseconds: 0).isEmpty)
        let here = try LocalSocket.connect(folder.file("s"))
        bell.ring()
        bell.ring()
        #expect(try Set(poll.wait().map(\.token)) == [1, 2])
        bell.clear()
        #expect(try poll.wait().map(\.token) == [1])
        poll.remove(listener.raw)
        #expect(try poll.wait(milliseconds: 0).isEmpty)
        _ = consume here
    }
}

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
