import CLinux
import Glibc

/// Facts of the machine that do not change while this process lives.
package enum Machine {
    /// The kernel's random id of this boot, such as `6a1f...`; differs after every restart of the machine.
    ///
    /// - Source: `/proc/sys/kernel/random/boot_id`.
    package static func bootID() throws(HostError) -> String {
        try SmallFile.text("/proc/sys/kernel/random/boot_id")
    }

    /// What this process was called with, the program's name first.
    ///
    /// As the kernel keeps it: the standard library looks for it beside the environment, and finds nothing when a
    /// library that was put in front of the program (`LD_PRELOAD`) has set a variable before.
    ///
    /// - Source: `/proc/self/cmdline`; without a `/proc`, the standard library's.
    package static var arguments: [String] {
        guard let bytes = try? SmallFile.read("/proc/self/cmdline", limit: 1 << 24), bytes.last == 0 else {
            return CommandLine.arguments
        }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The environment of this process.
    package static var environment: [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let equals = pair.firstIndex(of: "=") {
                variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return variables
    }

    /// The path of the program that runs, links resolved.
    package static func executablePath() throws(HostError) -> String {
        try linkTarget("/proc/self/exe")
    }

    /// The folder this process works in; `/` when it was removed meanwhile.
    ///
    /// The corresponding C function is `getcwd`.
    package static var currentFolder: String {
        guard let found = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// What the symbolic link at `path` points to, as written in it.
    package static func linkTarget(_ path: String) throws(HostError) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count >= 0 else { throw .last("readlink", path) }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Which build of a program the file at `path` is: its length and when it was written; nil when there
    /// is none.
    package static func build(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return "\(status.st_size).\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// The largest resident size of this process so far, KiB; nil where `/proc` does not report it.
    ///
    /// - Source: proc(5), `VmHWM` of `/proc/self/status`.
    package static var largestSizeKiB: Int? {
        guard let text = try? SmallFile.text("/proc/self/status") else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.dropFirst(6).filter(\.isWholeNumber)) }
    }

    /// How many ticks a second has in which the kernel counts when processes started.
    ///
    /// The corresponding C function is `sysconf(_SC_CLK_TCK)`.
    package static var ticksPerSecond: Int { max(1, sysconf(Int32(_SC_CLK_TCK))) }

    /// Whether the kernel believes the wall clock to be in step with a time source.
    ///
    /// The corresponding C function is `adjtimex`.
    package static var isClockSynchronised: Bool {
        var state = timex()
        return unsafe adjtimex(&state) != TIME_ERROR
    }
}
