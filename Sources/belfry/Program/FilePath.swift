import Glibc

/// Paths as the kernel sees them.
enum FilePath {
    /// `path` made absolute, links followed; as it is when there is no such file.
    static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The folder the process is in; `/` when it no longer exists.
    static var current: String { resolved(".") == "." ? "/" : resolved(".") }
}
