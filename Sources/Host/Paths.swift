import CLinux
import Glibc

/// Where the daemon's files are: one set for a user, one for the machine.
///
/// The user's set follows the XDG base directories; see each property for its default.
package struct Paths: Hashable, Sendable {
    /// Whose daemon it is.
    package enum Owner: Hashable, Sendable {
        /// The user's own: everything below home and the user's runtime folder.
        case user
        /// The machine's, `--system`.
        case system
    }

    /// Paths given on the command line, which win over environment and defaults.
    package struct Overrides: Hashable, Sendable {
        /// `--config`.
        package var config: String?
        /// `--state`.
        package var state: String?
        /// `--socket`.
        package var socket: String?

        /// Nothing is overridden unless named.
        package init(config: String? = nil, state: String? = nil, socket: String? = nil) {
            self.config = config
            self.state = state
            self.socket = socket
        }
    }

    /// Whose paths they are.
    package let owner: Owner
    /// The configuration file.
    ///
    /// `$BELFRY_CONFIG`, else `$XDG_CONFIG_HOME/belfry/belfry.yaml`; `/etc/belfry/belfry.yaml`.
    package let config: String
    /// Whether ``config`` was named, so that it must exist.
    package let isConfigNamed: Bool
    /// The folder of the ledger and of outputs.
    ///
    /// `$BELFRY_STATE`, else `$XDG_STATE_HOME/belfry`; `/var/lib/belfry`.
    package let state: String
    /// The control socket.
    ///
    /// `$BELFRY_SOCKET`, else `belfry.sock` in ``runtime``.
    package let socket: String
    /// The folder of sockets.
    ///
    /// `$XDG_RUNTIME_DIR/belfry`, else `/run/user/UID/belfry` when that is ours,
    /// else `/tmp/belfry-UID/belfry`; `/run/belfry`.
    package let runtime: String

    /// Finds the paths; touches nothing.
    ///
    /// For `.system` the environment's `BELFRY_` names still count, the XDG ones do not. A relative path is
    /// meant from `folder` on, and made absolute here once: the warden and the jobs work elsewhere.
    package init(
        _ owner: Owner, overrides: Overrides = Overrides(),
        environment: [String: String] = Machine.environment, userID: UInt32 = geteuid(),
        folder: String = Machine.currentFolder
    ) {
        let base = Self.base(owner, environment, userID)
        func path(_ given: String?, _ name: String, _ standard: String) -> String {
            (given ?? environment.named(name)).map { Self.absolute($0, in: folder) } ?? standard
        }
        self.owner = owner
        config = path(overrides.config, "BELFRY_CONFIG", base.config + "/belfry/belfry.yaml")
        state = path(overrides.state, "BELFRY_STATE", base.state + "/belfry")
        runtime = base.runtime + "/belfry"
        socket = path(overrides.socket, "BELFRY_SOCKET", base.runtime + "/belfry/belfry.sock")
        isConfigNamed = (overrides.config ?? environment.named("BELFRY_CONFIG")) != nil
    }

    /// `path` from the root on, one that is relative being meant from `folder` on.
    package static func absolute(_ path: String, in folder: String = Machine.currentFolder) -> String {
        if path.hasPrefix("/") { return path }
        var rest = path[...]
        while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
        return (folder == "/" ? "" : folder) + "/" + rest
    }

    /// The folder of the one warden of this state: named by a hash of the state's path, so that two
    /// states of one user never meet.
    package var warden: String {
        runtime + "/" + Self.hash(Self.resolved(state))
    }

    /// The sockets a client tries, in order: `$BELFRY_SOCKET` alone, else the user's, then the machine's.
    package static func socketsToTry(
        environment: [String: String] = Machine.environment, userID: UInt32 = geteuid()
    ) -> [String] {
        if let named = environment.named("BELFRY_SOCKET") { return [absolute(named)] }
        return [Owner.user, .system].map { Paths($0, environment: environment, userID: userID).socket }
    }

    /// Makes the state and runtime folders, owner only, and makes sure that they are ours.
    ///
    /// With `.system` the runtime folder may be entered by others: its socket has its own mode.
    package func makeFolders() throws(HostError) {
        guard socket.utf8.count <= 107 else { throw .socketPathTooLong(path: socket) }
        if owner == .user { try PrivateFolder.make(SmallFile.parent(of: runtime)) }
        try PrivateFolder.make(runtime, mode: owner == .user ? 0o700 : 0o755)
        try PrivateFolder.make(state)
    }

    private static func base(
        _ owner: Owner, _ environment: [String: String], _ userID: UInt32
    ) -> (config: String, state: String, runtime: String) {
        if owner == .system { return ("/etc", "/var/lib", "/run") }
        let home = environment.path("HOME") ?? "/"
        let runtime = environment.path("XDG_RUNTIME_DIR") ?? defaultRuntime(userID)
        return (
            environment.path("XDG_CONFIG_HOME") ?? home + "/.config",
            environment.path("XDG_STATE_HOME") ?? home + "/.local/state", runtime
        )
    }

    private static func defaultRuntime(_ userID: UInt32) -> String {
        let session = "/run/user/\(userID)"
        return (try? PrivateFolder.isOurs(session)) == true ? session : "/tmp/belfry-\(userID)"
    }

    /// `path` without links, as far as it exists: it is the same before and after its folder is made.
    private static func resolved(_ path: String) -> String {
        if let real = unsafe realpath(path, nil) {
            defer { unsafe free(real) }
            return unsafe String(cString: real)
        }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return path }
        return resolved(SmallFile.parent(of: path)) + path[slash...]
    }

    /// FNV-1a, 64 bits, as 16 hexadecimal digits: short, for a socket's path, and the same everywhere.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension [String: String] {
    /// The value of one of our own variables, which a person may give as a relative path.
    fileprivate func named(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of an XDG variable that names a path; a relative or empty one counts as not set.
    ///
    /// - Source: XDG Base Directory Specification: "If an implementation encounters a relative path ...
    ///   it should consider the path invalid and ignore it."
    fileprivate func path(_ name: String) -> String? {
        self[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}

/// The right to be the only daemon of a state folder, held until this object goes.
///
/// Taken before anything in the folder is opened or removed. The lock ends with the process, however it
/// ends; the descriptor is close-on-exec, so that no job keeps it.
package final class StateLock: Sendable {
    private let file: Descriptor

    /// Takes the lock of `folder`, which must exist.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` with the holder, ``HostError/remoteFolder(path:)`` on NFS
    ///   and its like.
    package init(folder: String, name: String = "lock") throws(HostError) {
        guard try !FileSystemKind(of: folder).isRemote else { throw .remoteFolder(path: folder) }
        let path = folder + "/" + name
        var held = try Self.lock(path, of: folder)
        // Its holder may remove the file and the folder when it ends: then what was locked here has no name.
        while try FileIdentity(of: held) != (try? FileIdentity(at: path)) {
            held = try Self.lock(path, of: folder)
        }
        file = held
        guard ftruncate(file.raw, 0) == 0 else { throw .last("ftruncate", path) }
        try file.writeAll(Array("\(getpid())\n".utf8)[...])
    }

    /// A child that is about to exec may still share the descriptor: closing it alone would leave it locked.
    deinit { flock(file.raw, LOCK_UN) }

    private static func lock(_ path: String, of folder: String) throws(HostError) -> Descriptor {
        let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard flock(file.raw, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw .system(call: "flock", code: code, path: path) }
            throw .held(path: folder, pid: holder(path))
        }
        return file
    }

    /// The process that wrote itself into the lock file last, nil when nothing readable is there.
    package static func holder(_ path: String) -> Int32? {
        (try? SmallFile.text(path)).flatMap { Int32($0) }
    }

    /// The process that holds the lock of `folder` now; nil: nobody does.
    ///
    /// Takes nothing, so that a daemon that starts meanwhile is not in its way.
    package static func liveHolder(folder: String, name: String = "lock") throws(HostError) -> Int32? {
        guard let pid = holder(folder + "/" + name) else { return nil }
        var status = stat()
        guard unsafe stat(folder + "/" + name, &status) == 0 else { throw .last("stat", folder) }
        // A line of it ends as `FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF`.
        let locks = try SmallFile.text("/proc/locks", limit: 1 << 22).split(separator: "\n")
        let isHeld = locks.contains { line in
            let fields = line.split(separator: " ")
            return fields.contains("FLOCK") && fields.contains("\(pid)")
                && fields.contains { $0.hasSuffix(":\(status.st_ino)") }
        }
        return isHeld ? pid : nil
    }
}
