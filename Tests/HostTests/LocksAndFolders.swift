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

    @Test func `knows where anybody may have put a file`() throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("own"))
        #expect(!SmallFile.isInPublicFolder(folder.file("own/x")))
        #expect(SmallFile.isInPublicFolder(folder.file("missing/x")))
        #expect(unsafe chmod(folder.file("own"), 0o1777) == 0)
        #expect(SmallFile.isInPublicFolder(folder.file("own/x")))
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

@Suite struct `paths` {
    @Test func `follow the XDG folders`() {
        let environment = [
            "HOME": "/home/ann", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r",
        ]
        let paths = Paths(.user, environment: environment, userID: 1234)
        #expect(paths.config == "/c/belfry/belfry.yaml")
        #expect(paths.state == "/s/belfry")
        #expect(paths.socket == "/r/belfry/belfry.sock")
    }

    @Test func `fall back to home and to a private folder in tmp`() {
        let paths = Paths(.user, environment: ["HOME": "/home/ann"], userID: 987_654)
        #expect(paths.config == "/home/ann/.config/belfry/belfry.yaml")
        #expect(paths.state == "/home/ann/.local/state/belfry")
        #expect(paths.socket == "/tmp/belfry-987654/belfry/belfry.sock")
    }

    @Test func `ignore a relative XDG folder, as its specification asks`() {
        let environment = ["HOME": "/home/ann", "XDG_STATE_HOME": "state"]
        #expect(Paths(.user, environment: environment, userID: 1).state == "/home/ann/.local/state/belfry")
    }

    @Test func `of the machine are fixed`() {
        let paths = Paths(
            .system, environment: ["HOME": "/root", "XDG_RUNTIME_DIR": "/run/user/0"], userID: 0)
        #expect(paths.config == "/etc/belfry/belfry.yaml")
        #expect(paths.state == "/var/lib/belfry")
        #expect(paths.socket == "/run/belfry/belfry.sock")
    }

    @Test func `on the command line win over the environment, which wins over defaults`() {
        let environment = ["HOME": "/h", "BELFRY_STATE": "/env/state", "BELFRY_SOCKET": "/env/sock"]
        let paths = Paths(
            .user, overrides: Paths.Overrides(state: "/flag/state"), environment: environment, userID: 1)
        #expect(paths.state == "/flag/state")
        #expect(paths.socket == "/env/sock")
    }

    @Test func `that are relative are meant from the folder the process started in`() {
        let environment = ["HOME": "/h", "BELFRY_SOCKET": "./s.sock", "BELFRY_CONFIG": "c.yaml"]
        let paths = Paths(
            .user, overrides: .init(state: "state"), environment: environment, userID: 1, folder: "/work")
        #expect(paths.state == "/work/state")
        #expect(paths.socket == "/work/s.sock")
        #expect(paths.config == "/work/c.yaml")
        #expect(Paths.absolute("x", in: "/") == "/x")
        #expect(Paths.absolute("/x", in: "/work") == "/x")
    }

    @Test func `know whether the configuration was named`() {
        let environment = ["HOME": "/h"]
        #expect(!Paths(.user, environment: environment, userID: 1).isConfigNamed)
        #expect(Paths(.user, overrides: .init(config: "/c"), environment: environment).isConfigNamed)
        #expect(Paths(.user, environment: ["HOME": "/h", "BELFRY_CONFIG": "/c"]).isConfigNamed)
    }

    @Test func `give each state its own warden`() {
        let environment = ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"]
        let one = Paths(.user, overrides: .init(state: "/a"), environment: environment, userID: 1).warden
        let two = Paths(.user, overrides: .init(state: "/b"), environment: environment, userID: 1).warden
        #expect(one != two)
        #expect(one.hasPrefix("/r/belfry/"))
        #expect(one.split(separator: "/").last?.count == 16)
    }

    @Test func `name one warden before and after the state exists, and through a link`() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe symlink(folder.path, folder.file("link")) == 0)
        func warden(_ state: String) -> String {
            Paths(.user, overrides: .init(state: state), environment: ["HOME": "/h"], userID: 1).warden
        }
        let before = warden(folder.file("a/state"))
        #expect(warden(folder.file("link/a/state")) == before)
        try PrivateFolder.make(folder.file("a/state"))
        #expect(warden(folder.file("a/state")) == before)
        #expect(warden(folder.file("link/a/state")) == before)
    }

    @Test func `refuse a socket path the kernel cannot bind`() throws {
        let long = "/tmp/" + String(repeating: "x", count: 110)
        let paths = Paths(.user, overrides: .init(socket: long), environment: ["HOME": "/h"], userID: 1)
        #expect(throws: HostError.socketPathTooLong(path: long)) { try paths.makeFolders() }
    }

    @Test func `are tried by a client from the nearest to the machine's`() {
        #expect(
            Paths.socketsToTry(environment: ["XDG_RUNTIME_DIR": "/r"], userID: 1)
                == ["/r/belfry/belfry.sock", "/run/belfry/belfry.sock"])
        #expect(Paths.socketsToTry(environment: ["BELFRY_SOCKET": "/x"], userID: 1) == ["/x"])
    }
}
