import Glibc
import Host
import TestSupport
import Testing

@Suite struct `a state folder` {
    @Test func `is held by one owner, and a second one learns which`() throws {
        let folder = try TemporaryFolder()
        let lock = try StateLock(folder: folder.path)
        #expect(throws: HostError.held(path: folder.path, pid: getpid())) {
            try StateLock(folder: folder.path)
        }
        _ = consume lock
        _ = try StateLock(folder: folder.path)
    }

    @Test func `is held by a lock that still has its file`() throws {
        let folder = try TemporaryFolder()
        let first = try StateLock(folder: folder.path)
        #expect(unsafe unlink(folder.file("lock")) == 0)
        // Another file is another lock: the first owner has given the folder up by that.
        _ = try StateLock(folder: folder.path)
        _ = consume first
        #expect(StateLock.holder(folder.file("lock")) == getpid())
    }

    @Test func `is free when its owner has ended, also where a child is about to exec`() throws {
        let folder = try TemporaryFolder()
        let lock = try StateLock(folder: folder.path)
        let child = try ForkGap(sharing: folder.file("lock"))
        #expect(child.count == 1)
        _ = consume lock
        _ = try StateLock(folder: folder.path)
        _ = consume child
    }

    @Test func `names its present holder, and not an earlier one`() throws {
        let folder = try TemporaryFolder()
        #expect(try StateLock.liveHolder(folder: folder.path) == nil)
        let lock = try StateLock(folder: folder.path)
        #expect(try StateLock.liveHolder(folder: folder.path) == getpid())
        _ = consume lock
        #expect(try StateLock.liveHolder(folder: folder.path) == nil)
    }

    @Test(arguments: [
        // NFS, SMB, SMB2, CIFS, AFS, Ceph, 9p
        (0x6969, true), (0x517B, true), (0xFE53_4D42, true), (0xFF53_4D42, true), (0x5346_414F, true),
        (0x00C3_6400, true), (0x0102_1997, true),
        // ext4, xfs, btrfs, tmpfs, overlay, zfs
        (0xEF53, false), (0x5846_5342, false), (0x9123_683E, false), (0x0102_1994, false),
        (0x794C_7630, false), (0x2FC1_2FC1, false),
    ])
    func `is refused on a network's file system`(_ magic: Int, isRemote: Bool) throws {
        #expect(FileSystemKind(magic: UInt32(magic)).isRemote == isRemote)
        let folder = try TemporaryFolder()
        #expect(try FileSystemKind(of: folder.path).isRemote == false)
    }

    @Test func `is refused when others may write to it`() throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("a/b/c"))
        #expect(try PrivateFolder.isOurs(folder.file("a/b/c")))
        #expect(unsafe chmod(folder.file("a/b/c"), 0o777) == 0)
        #expect(throws: HostError.notOurs(path: folder.file("a/b/c"))) {
            try PrivateFolder.make(folder.file("a/b/c"))
        }
    }

    @Test func `is never made again with what is made in it`() throws {
        let folder = try TemporaryFolder()
        let state = folder.file("state")
        for path in [state, state + "/output", state + "/output/job"] {
            #expect(throws: HostError.missing(path: state)) { try PrivateFolder.make(path, within: state) }
        }
        #expect(try Folder.names(in: folder.path).isEmpty)
        try PrivateFolder.make(state)
        try PrivateFolder.make(state + "/output/job", within: state)
        #expect(try PrivateFolder.isOurs(state + "/output/job"))
        try PrivateFolder.make(state + "/output/job", within: state)
    }

    @Test(.enabled(if: geteuid() == 0)) func `is refused when it belongs to another user, with both names`()
        throws
    {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("theirs"))
        #expect(unsafe chown(folder.file("theirs"), 65_534, 65_534) == 0)
        let refused = #expect(throws: HostError.self) { try PrivateFolder.make(folder.file("theirs")) }
        #expect(
            refused.map { "\($0)" } == "\(folder.file("theirs")) belongs to user nobody, and not to root")
    }

    @Test func `is refused when it is a link`() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe symlink("/tmp", folder.file("link")) == 0)
        #expect(throws: HostError.notOurs(path: folder.file("link"))) {
            try PrivateFolder.make(folder.file("link"))
        }
    }

    @Test func `replaces a file whole`() throws {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("x"), with: Array("first, longer".utf8))
        try SmallFile.replace(folder.file("x"), with: Array("second".utf8), isDurable: true)
        #expect(try SmallFile.text(folder.file("x")) == "second")
    }

    @Test func `refuses to read a file above the limit`() throws {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("x"), with: [UInt8](repeating: 7, count: 100_000))
        #expect(try SmallFile.read(folder.file("x"), limit: 100_000).count == 100_000)
        #expect(throws: HostError.malformed(path: folder.file("x"), problem: "longer than 99999 bytes")) {
            try SmallFile.read(folder.file("x"), limit: 99_999)
        }
    }

    @Test func `knows the links that its user could replace`() throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("a/b"))
        #expect(unsafe symlink("a", folder.file("link")) == 0)
        #expect(ReplaceableLink.first(in: folder.file("a/b")) == nil)
        #expect(ReplaceableLink.first(in: folder.file("a/missing/c")) == nil)
        #expect(ReplaceableLink.first(in: folder.file("link/b")) == folder.file("link"))
        #expect(ReplaceableLink.first(in: folder.file("a/../link")) == folder.file("link"))
    }

    @Test func `follows no link to a file that must not be one`() throws {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("key"), with: Array("secret".utf8))
        #expect(unsafe symlink("key", folder.file("link")) == 0)
        #expect(try SmallFile.text(folder.file("link")) == "secret")
        #expect(try SmallFile.text(folder.file("key"), mayBeLink: false) == "secret")
        let problem = "is a symbolic link; name the file that is meant"
        #expect(throws: HostError.malformed(path: folder.file("link"), problem: problem)) {
            try SmallFile.text(folder.file("link"), mayBeLink: false)
        }
    }

    @Test func `waits for nobody who could write into a file`() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        for path in [folder.file("pipe"), "/dev/zero", "/dev/null"] {
            #expect(throws: HostError.malformed(path: path, problem: "is not a regular file")) {
                try SmallFile.read(path)
            }
        }
        let error = #expect(throws: HostError.self) { try SmallFile.read(folder.path) }
        #expect(error?.code == EISDIR)
        #expect(try SmallFile.text("/proc/self/comm").isEmpty == false)
        // What a person names to a command may be a pipe.
        #expect(try SmallFile.readWaiting("/dev/null").isEmpty)
    }
}
