/// What a program may reach: the system's programs, the folders named here, and nothing else of its user's.
///
/// Bubblewrap makes it: new namespaces, an empty home and an empty `/tmp`, no capabilities, no terminal. What the program
/// opens is looked up inside of it, so that its symbolic links and `..` lead nowhere that is not named. The named paths
/// themselves are looked up outside, where a link leads anywhere: none of them may be where the program can put one.
///
/// - Source: bwrap(1), 0.8.
package struct Sandbox: Hashable, Sendable {
    /// Absolute paths that it may read.
    package var read: [String]
    /// Absolute paths that it may also write.
    package var write: [String]
    /// Whether it has the machine's network; else it has none, not even this machine.
    package var hasNetwork: Bool

    /// The program that makes it.
    package static let program = "bwrap"

    /// A sandbox with these paths.
    package init(read: [String] = [], write: [String] = [], hasNetwork: Bool = false) {
        self.read = read
        self.write = write
        self.hasNetwork = hasNetwork
    }

    /// Why a path can't be one of these; nil: it can.
    package static func fault(in path: String) -> String? {
        if !path.hasPrefix("/") { return "is not an absolute path" }
        let parts = path.split(separator: "/")
        return parts.contains("..") || parts.contains(".") ? "must be written without . and .." : nil
    }

    /// The first path inside of another one that may be written; nil: there is none.
    ///
    /// The program could rename a folder on the way to it and put a link there, which the next run would follow.
    package var nested: (path: String, inside: String)? {
        func parts(_ path: String) -> [Substring] { path.split(separator: "/") }
        for path in read + write {
            let inner = parts(path)
            for outer in write where inner.count > parts(outer).count && inner.starts(with: parts(outer)) {
                return (path, outer)
            }
        }
        return nil
    }

    /// The command that runs `words` inside, in `folder` (nil: in `home`); `home` is empty there.
    package func words(of words: [String], home: String?, folder: String? = nil) -> [String] {
        var all = [Self.program, "--unshare-all"]
        if hasNetwork { all.append("--share-net") }
        all += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        for path in Self.system { all += ["--ro-bind-try", path, path] }
        all += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        if let home, home.hasPrefix("/"), home != "/" { all += ["--tmpfs", home] }
        // A folder before those inside of it, which would be hidden by it else.
        let paths = read.map { ($0, false) } + write.map { ($0, true) }
        for (path, mayWrite) in paths.sorted(by: { $0.0 == $1.0 ? !$0.1 : $0.0 < $1.0 }) {
            all += [mayWrite ? "--bind" : "--ro-bind", path, path]
        }
        // What is left of the root is in memory, and need not be written.
        all += ["--remount-ro", "/"]
        if let folder = folder ?? home { all += ["--chdir", folder] }
        return all + ["--"] + words
    }

    /// What every program needs of the system, and holds no secret.
    private static let system =
        ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"]
        + [
            "alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
            "localtime", "nsswitch.conf", "passwd", "pki", "resolv.conf", "ssl/certs", "ssl/openssl.cnf",
        ].map { "/etc/" + $0 }
}
