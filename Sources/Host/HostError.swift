import Glibc

/// What the machine refused.
package enum HostError: Error, Hashable {
    /// A system call failed; `code` is its errno, `path` what it was about, when there was a path.
    case system(call: String, code: Int32, path: String?)
    /// Another process holds the lock of this folder. `pid` is nil when the holder is not known.
    case held(path: String, pid: Int32?)
    /// The folder belongs to another user, or others may write to it.
    case notOurs(path: String)
    /// A folder that must be there and is not; nothing is made in its place.
    case missing(path: String)
    /// A file system that does not keep the promises a lock or a ledger needs, such as NFS.
    case remoteFolder(path: String)
    /// A path of a unix socket that is longer than the kernel's 107 bytes.
    case socketPathTooLong(path: String)
    /// No time zone of this name in the system's database, or a name that could leave its folder.
    case noSuchZone(name: String)
    /// A file that exists but is not what it should be.
    case malformed(path: String, problem: String)

    /// The failed `call` with the errno it left behind; use it in the very next statement.
    package static func last(_ call: String, _ path: String? = nil) -> HostError {
        .system(call: call, code: errno, path: path)
    }

    /// The errno of a failed system call, else nil.
    package var code: Int32? {
        if case .system(_, let code, _) = self { code } else { nil }
    }

    /// Whether it is about a path at which there is nothing.
    package var isMissing: Bool { code == ENOENT }

    /// The system's text for the errno alone, such as "No space left on device"; else the whole sentence.
    package var reason: String { code.map(errorText) ?? "\(self)" }
}

extension HostError: CustomStringConvertible {
    /// One sentence for a person, without a full stop.
    package var description: String {
        switch self {
        case .system(let call, let code, let path?): "\(path): \(errorText(code)) (\(call))"
        case .system(let call, let code, nil): "\(call): \(errorText(code))"
        case .held(let path, let pid?): "\(path) is in use by process \(pid)"
        case .held(let path, nil): "\(path) is in use by another process"
        case .notOurs(let path): PrivateFolder.fault(of: path)
        case .missing(let path): "the folder \(path) does not exist"
        case .remoteFolder(let path): "\(path) is on a network file system, where locks cannot be trusted"
        case .socketPathTooLong(let path): "\(path) is longer than the 107 bytes a socket's path may have"
        case .noSuchZone(let name): "no time zone \"\(name)\" on this machine"
        case .malformed(let path, let problem): "\(path): \(problem)"
        }
    }
}

/// The system's text for an errno, such as "No such file or directory".
package func errorText(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
